"""The table of hardware counters, on figures made by hand in the formats of both tools."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER / "table.py"
# Writes what rocprofv3 documents: for each row of the input a folder with a file named after the process.
PROFILER = r"""#!/usr/bin/env bash
while [ "$1" != -- ]; do case $1 in -i) input=$2 ;; -d) folder=$2 ;; --output-format) [ "$2" = csv ] || exit 9 ;; esac; shift 2; done
shift; "$@" || exit
row=0; while read -r first names; do [ "$first" = pmc: ] || exit 8; row=$((row + 1)); mkdir -p "$folder/pmc_$row/host"
  { echo '"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"'
    for name in $names; do echo "1,\"k(float*)\",\"$name\",20.0"; done; } > "$folder/pmc_$row/host/7_counter_collection.csv"
done < "$input"
"""
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


class Run(unittest.TestCase):
    def run_in(self, folder, profiler, *arguments):
        """run.sh where rocprofv3 is what is given, or is not there."""
        folder, path = pathlib.Path(folder), os.environ["PATH"]
        if profiler is not None:
            (folder / "bin").mkdir(exist_ok=True)
            (folder / "bin" / "rocprofv3").write_text(profiler)
            (folder / "bin" / "rocprofv3").chmod(0o755)
            path = f"{folder / 'bin'}:{path}"
        environment = {**os.environ, "PATH": path}
        return subprocess.run(["bash", str(FOLDER / "run.sh"), *arguments], text=True, capture_output=True, cwd=folder,
                              env=environment)

    def test_every_counter_of_the_table_is_asked_for_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_in(folder, PROFILER, "out", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = [line.split()[0] for line in done.stdout.splitlines() if line.endswith("20")]
        names = [name for line in (FOLDER / "counters.txt").read_text().splitlines() for name in line.split()[1:]]
        self.assertEqual(asked, names)
        self.assertEqual(len(set(names)), len(names))

    def test_errors_say_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_in(folder, PROFILER).returncode, 2)
            done = self.run_in(folder, "#!/bin/sh\n", "out", "true")
            self.assertEqual((done.returncode, done.stderr), (1, "rocprofv3 wrote no counters below out\n"))
            self.run_in(folder, PROFILER, "out", "true")
            done = self.run_in(folder, PROFILER, "out", "true")
            self.assertEqual(done.returncode, 1)
            self.assertIn("earlier run", done.stderr)

    @unittest.skipIf(shutil.which("rocprofv3"), "this machine has rocprofv3")
    def test_without_the_profiler(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_in(folder, None, "out", "true")
            self.assertEqual(done.returncode, 1)
            self.assertIn("rocprofv3 is not on PATH", done.stderr)
            self.assertFalse((pathlib.Path(folder) / "out").exists())


if __name__ == "__main__":
    unittest.main()
