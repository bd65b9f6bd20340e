"""cuda_sanitize.sh with a stand-in for compute-sanitizer: what counts as clean, and what each tool is given."""

import fnmatch
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "cuda_sanitize.sh"
TESTS = SCRIPT.parent.parent / "tests"
# Called as: compute-sanitizer --tool <tool> ... <suite>
STAND_IN = """#!/bin/bash
echo "$2 ${@: -1} $GTEST_FILTER" >> "$CALLS"
echo "========= COMPUTE-SANITIZER"
tests="3 tests from 2 test suites ran. (5 ms total)" errors=0 code=0
case "$BEHAVIOUR $2 ${@: -1}" in
  "hang memcheck "*/lds_device) sleep 30 ;;
  "break memcheck "*/lds_device) echo "no such device"; exit 3 ;;
  "hang synccheck "*/lds_device) echo "========= Invalid read"; sleep 30 ;;
  "spoil racecheck "*/lds_device) errors=2 code=1 ;;
  "spoil memcheck "*/lds_device) tests="0 tests from 0 test suites ran. (0 ms total)" ;;
  "spoil initcheck "*/lds_device) skipped=1 ;;
  "spoil synccheck "*/lds_device) failed=1 code=1 ;;
  slow*) sleep 1 ;;
esac
echo "[==========] $tests"
[ -z "$skipped" ] || echo "[  SKIPPED ] 3 tests, listed below:"
[ -z "$failed" ] || echo "[  FAILED  ] 1 test, listed below:"
echo "========= ERROR SUMMARY: $errors errors"
exit $code
"""


def runs(name, chosen):
    """Whether GoogleTest runs a test with a filter."""
    wanted, _, unwanted = chosen.partition("-")
    return (any(fnmatch.fnmatchcase(name, one) for one in (wanted or "*").split(":"))
            and not any(fnmatch.fnmatchcase(name, one) for one in unwanted.split(":") if one))


def cluster_tests(source):
    """Names of tests; those of types once for each of the three."""
    for typed, suite, name in re.findall(r"^(TYPED_)?TEST\((\w+),\s*(\w+)\)", source, re.M):
        yield from ([f"{suite}/{i}.{name}" for i in range(3)] if typed else [f"{suite}.{name}"])


class Sanitize(unittest.TestCase):
    def run_script(self, behaviour="", **environment):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        tool = path / "compute-sanitizer"
        tool.write_text(STAND_IN)
        tool.chmod(0o755)
        calls = path / "calls"
        suites = path / "suites"
        suites.mkdir()
        done = subprocess.run(["bash", SCRIPT, suites, path / "report"], text=True, capture_output=True,
                              env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "CALLS": str(calls),
                                   "BEHAVIOUR": behaviour, "JOBS": "8", **environment})
        lines = done.stdout.splitlines()
        self.assertEqual((path / "report/sanitizers.log").read_text(), done.stdout)
        self.assertEqual(done.stderr, "")
        calls = [line.replace(f"{path}/", "/").split() for line in calls.read_text().splitlines()] if calls.exists() else []
        return done.returncode, lines[:-1], lines[-1], calls

    def only(self, lines, run):
        found = [line for line in lines if line.startswith(f"[cuda] {run}: ")]
        self.assertEqual(len(found), 1, lines)
        return found[0].removeprefix(f"[cuda] {run}: ")

    def test_all_are_clean(self):
        code, lines, last, calls = self.run_script()
        self.assertEqual(code, 0, lines)
        self.assertRegex(last, rf"^\[cuda\] compute-sanitizer: {len(lines)} of {len(lines)} runs clean in \d+ s$")
        self.assertRegex(self.only(lines, "memcheck lds"), r"^clean, \d+ s, 3 tests, ERROR SUMMARY: 0 errors$")
        self.assertEqual(len(calls), len(lines))
        suites = {tool: {tuple(rest) for name, *rest in calls if name == tool}
                  for tool in ("memcheck", "racecheck", "initcheck", "synccheck")}
        self.assertEqual(suites["memcheck"], suites["initcheck"])
        # all but clusters of more than eight workgroups
        self.assertEqual(suites["memcheck"] - suites["synccheck"],
                         {("/suites/softmax_test", "softmax_clusters/0.rows_have*"),
                          ("/suites/norm_test", "norm_clusters.infinities*")})
        # all but clusters, of which there is the agreement with the reference
        for suite, chosen in suites["memcheck"] - suites["racecheck"]:
            self.assertIn("_cluster", chosen.split("-")[0])
        for suite, chosen in suites["racecheck"]:
            if "_cluster" in chosen.split("-")[0]:
                self.assertRegex(chosen, r"^[^:*]*agree\*$")
            if suite in ("/suites/softmax_test", "/suites/norm_test") and chosen.startswith("-"):
                self.assertIn("_cluster*", chosen)
        self.assertEqual(sum("_cluster" in chosen for suite, chosen in suites["racecheck"]
                             if not chosen.startswith("-")), 5)

    def test_every_test_of_clusters_runs_under_each_tool_but_for_those_named(self):
        calls = self.run_script()[3]
        halves = {"softmax_clusters/1.strides_addresses_and_place_change_no_bit"}
        over_8 = {"norm_clusters.infinities_and_nans_are_as_in_other_rows",
                  "softmax_clusters/0.rows_have_the_same_bits_alone_among_many_and_in_place"}
        left_out = {"memcheck": halves, "initcheck": halves, "synccheck": halves | over_8}
        for suite in ("norm", "softmax"):
            names = [name for file in (TESTS / f"{suite}{'s' if suite == 'norm' else ''}").glob("clusters*_test.hip")
                     for name in cluster_tests(file.read_text())]
            self.assertGreater(len(names), 10)
            for tool, exceptions in left_out.items():
                filters = [chosen for name, program, chosen in calls
                           if name == tool and program == f"/suites/{suite}_test"]
                missed = {name for name in names if not any(runs(name, chosen) for chosen in filters)}
                self.assertEqual(missed, {name for name in exceptions if name.startswith(suite)}, tool)

    def not_clean(self, expected, behaviour, **environment):
        code, lines, last, _ = self.run_script(behaviour, **environment)
        self.assertEqual(code, 1)
        self.assertIn(f": {len(lines) - len(expected)} of {len(lines)} runs clean in ", last)
        for tool, text in expected.items():
            self.assertRegex(self.only(lines, f"{tool} lds"), text)

    def test_findings_failures_and_no_tests(self):
        self.not_clean({"racecheck": r"^FAILED, \d+ s, 3 tests, ERROR SUMMARY: 2 errors$",
                        "memcheck": r"^FAILED, no test ran, \d+ s, 0 tests, ",
                        "initcheck": r"^FAILED, no test ran, \d+ s, 0 tests, ",
                        "synccheck": r"^FAILED, \d+ s, 3 tests, \[  FAILED  \] 1 test, listed below: ERROR SUMMARY: 0 "},
                       "spoil")

    def test_some_of_the_runs(self):
        code, lines, last, calls = self.run_script(ONLY="^(race|mem)check lds$")
        self.assertEqual(code, 0)
        self.assertIn(": 2 of 2 runs clean in ", last)
        self.assertEqual({tool for tool, *_ in calls}, {"racecheck", "memcheck"})

    def test_the_last_line_of_a_run_that_says_nothing_else(self):
        self.not_clean({"memcheck": r"^FAILED, \d+ s, 0 tests, no such device$"}, "break")

    def test_bad_arguments(self):
        for arguments, environment, text in (
                (["/no/such/folder", "report"], {}, "there is no folder /no/such/folder"),
                (["/tmp"], {}, "usage: "),
                (["/tmp", "report"], {"JOBS": "-3"}, "JOBS is '-3', allowed: whole numbers from 1 on"),
                (["/tmp", "report"], {"LIMIT_ALL": "abc"}, "LIMIT_ALL is 'abc', allowed: "),
                (["/tmp", "report"], {"ONLY": "nothing"}, "ONLY is 'nothing', which no run matches"),
                (["/tmp", "report"], {"ONLY": "("}, "ONLY is '(', which no run matches")):
            done = subprocess.run(["bash", SCRIPT, *arguments], text=True, capture_output=True,
                                  env={**os.environ, **environment})
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)

    def test_out_of_time(self):
        self.not_clean({"memcheck": r"^TIMED OUT, [5-7] s, 0 tests, nothing found until then$",
                        "synccheck": r"^TIMED OUT, [5-7] s, 0 tests, findings are in its log$"},
                       "hang", LIMIT_EACH="5")

    def test_all_out_of_time(self):
        begin = time.monotonic()
        code, lines, last, calls = self.run_script("slow", LIMIT_ALL="3", JOBS="4")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(code, 1)
        self.assertTrue(lines[-1].endswith("NOT STARTED, 3 s are over"), lines[-1])
        self.assertLess(len(calls), len(lines))


if __name__ == "__main__":
    unittest.main()
