"""The table of hardware counters, on figures made by hand in the formats of both tools."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).resolve().parent / "table.py"
KERNEL = {"name": "k(float*)", "waves": 4, "instructions": {"valu": 10, "trans": 2, "mfma": 8, "lds": 6, "smem": 3,
                                                            "branch": 1, "vmem": 5, "flat": 1},
          "mfma": {"clocks": 256}, "lds": {"clocks": 64, "conflicts": 0}, "global": {"tcp_accesses": 80}}
CSV = ('"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"\n1,"k(float*)","SQ_INSTS_VALU",15.0\n'
       '2,"k(float*)","SQ_INSTS_VALU",15.0\n1,"k(float*)","SQ_LDS_BANK_CONFLICT",0\n1,"other","SQ_WAVES",1\n')


def table(simulated=None, measured=None):
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        if simulated is not None:
            path = pathlib.Path(folder) / "simulated.json"
            path.write_text(json.dumps({"kernels": simulated}))
            arguments += ["--simulated", str(path)]
        if measured is not None:
            path = pathlib.Path(folder) / "measured.csv"
            path.write_text(measured)
            arguments += ["--measured", str(path)]
        done = subprocess.run([sys.executable, str(TABLE), *arguments], text=True, capture_output=True)
        rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ")}
        return done.returncode, rows, done.stdout


class Table(unittest.TestCase):
    def test_simulated(self):
        code, rows, _ = table([KERNEL])
        self.assertEqual(code, 0)
        self.assertEqual({name: rows[name][0] for name in ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_VMEM", "SQ_INSTS_MFMA")},
                         {"SQ_WAVES": "4", "SQ_INSTS_VALU": "20", "SQ_INSTS_VMEM": "6", "SQ_INSTS_MFMA": "8"})

    def test_both(self):
        code, rows, text = table([KERNEL], CSV)
        self.assertEqual(code, 0)
        self.assertEqual(rows["SQ_INSTS_VALU"], ["20", "30", "1.5000"])
        self.assertEqual(rows["SQ_LDS_BANK_CONFLICT"], ["0", "0", "="])
        self.assertEqual(rows["SQ_WAVES"], ["4", "-"])
        self.assertIn("only on one side: other", text)

    def test_nothing_in_common(self):
        self.assertEqual(table([{**KERNEL, "name": "else"}], CSV)[0], 1)
        self.assertEqual(table()[0], 2)


if __name__ == "__main__":
    unittest.main()
