"""Runs programs that take no arguments with some: they refuse them before anything else, and --help says what they do.

  arguments_test.py [launcher...] -- PROGRAM...
"""

import pathlib
import subprocess
import sys


def main():
    end = len(sys.argv) - 1 - sys.argv[::-1].index("--")
    launcher, programs = sys.argv[1:end], sys.argv[end + 1:]
    failed = False
    for program in programs:
        name = pathlib.Path(program).name
        command = ["bash", program] if name.endswith(".sh") else [*launcher, program]
        for arguments, code, said in ((["--nonsense"], 2, "'--nonsense'"), (["3"], 2, "'3'"), (["--help"], 0, ""),
                                      (["--help", "--more"], 2, "'--more'"), (["--more", "--help"], 2, "'--more'"),
                                      (["-h"], 0, ""), ([""], 2, "''")):
            done = subprocess.run([*command, *arguments], capture_output=True, text=True)
            shown, other = (done.stderr, done.stdout) if code else (done.stdout, done.stderr)
            if (done.returncode != code or other or shown.count("\n") != 1 or not shown.startswith(name + ": ")
                    or said not in shown or "--help" not in shown):
                failed = True
                print(f"{name} {arguments}: exit code {done.returncode}, {done.stdout!r}, {done.stderr!r}")
    print(f"{len(programs)} programs")
    sys.exit(failed)


if __name__ == "__main__":
    main()
