"""report.py on files that are none of benchmarks: one line, an exit code that is not 0, and nothing written."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = pathlib.Path(__file__).resolve().parent / "report.py"
GOOD = {"benchmarks": [{"name": "softmax/1/manual_time", "real_time": 5.0, "time_unit": "us", "median_us": 5.0,
                        "TB/s": 1.0, "flops": 0, "bytes": 0}]}


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, name, content):
        path = self.path / name
        path.write_bytes(content if isinstance(content, bytes) else
                         (content if isinstance(content, str) else json.dumps(content)).encode())
        return path

    def run_report(self, *arguments):
        return subprocess.run([sys.executable, REPORT, *map(str, arguments)], text=True, capture_output=True)

    def refused(self, expected, *arguments):
        before = sorted(self.path.rglob("*"))
        done = self.run_report(*arguments)
        self.assertNotEqual(done.returncode, 0, arguments)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(sorted(self.path.rglob("*")), before)

    def test_files_of_something_else(self):
        row = lambda **more: {"benchmarks": [{**GOOD["benchmarks"][0], **more}]}
        good = self.write("good.json", GOOD)
        for content, expected in (
                ("", "no JSON"), ("{", "no JSON"), (b"\x7fELF\xff\xfe\x00", "no JSON"), ("[" * 100000, "no JSON"),
                ("null", "no list 'benchmarks'"), ("5", "no list 'benchmarks'"), ("[5]", "no list 'benchmarks'"),
                ("[{}]", "no list 'benchmarks'"), ("{}", "no list 'benchmarks'"),
                ({"benchmarks": 5}, "'benchmarks' is 5; allowed: a list"),
                ({"benchmarks": []}, "'benchmarks' is []; allowed: a list of benchmarks, one or more"),
                ({"benchmarks": [5]}, "benchmark 1 is 5; allowed: an object"),
                ({"benchmarks": [{}]}, "benchmark 1 has no 'name'"),
                (row(name=5), "'name' of benchmark 1 is 5; allowed: text"),
                (row(real_time="5"), "'real_time' of benchmark 1 is \"5\"; allowed: a number"),
                (row(time_unit=5), "'time_unit' of benchmark 1 is 5; allowed: ns"),
                (row(error_message=5), "'error_message' of benchmark 1 is 5; allowed: text"),
                ({**GOOD, "context": 5}, "'context' is 5; allowed: an object"),
                ({**GOOD, "context": {"peak_tflops": "fast"}}, "'peak_tflops' of the context is \"fast\"; allowed: a number")):
            bad = self.write("bad.json", content)
            self.refused(f"{bad}: {expected}", bad, "--output", self.path / "page.html")
        for arguments in ([good, bad], ["--compare", good, bad], ["--beside", bad, good],
                          [bad, "--roofline", self.path / "roof.svg"]):
            self.refused(f"{bad}: {expected}", *arguments, "--output", self.path / "page.html")
        self.refused("none.json: cannot be read", self.path / "none.json", "--output", self.path / "page.html")

    def test_places_that_are_not_there(self):
        good = self.write("good.json", GOOD)
        self.refused("there is no folder", good, "--output", self.path / "no" / "page.html")
        self.refused("it is a folder", good, "--output", self.path)
        self.refused("--picture", "--beside", good, good, "--picture", self.path / "no" / "bars.svg",
                     "--output", self.path / "page.html")

    def test_good_ones(self):
        good = self.write("good.json", GOOD)
        page = self.path / "page.html"
        done = self.run_report(good, "--compare", good, good, "--output", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("softmax/1", page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
