"""Fails where a source file is not as clang-format 14 writes it with the .clang-format of the project.

  check_format.py --root FOLDER [--clang-format PROGRAM]

Looks at the C++ and HIP files that git tracks, or, outside a clone, at those of the source folders. Other
versions of clang-format format differently: without version 14 nothing is checked, and the exit code is 77.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

VERSION = 14
SKIPPED = 77
ENDINGS = (".hpp", ".cpp", ".hip", ".h")
FOLDERS = ("include", "tests", "bench", "examples")


def has_version(program):
    found = program and shutil.which(program)
    if not found:
        return False
    text = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    return f"version {VERSION}." in text


def source_files(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *FOLDERS], capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        files = [pathlib.Path(root, name) for name in listing.stdout.split("\0")]
    else:
        files = [file for folder in FOLDERS for file in pathlib.Path(root, folder).rglob("*")]
    return sorted(str(file) for file in files if file.suffix in ENDINGS and file.is_file())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--clang-format")
    options = parser.parse_args()
    names = [options.clang_format] if options.clang_format else [f"clang-format-{VERSION}", "clang-format"]
    program = next((name for name in names if has_version(name)), None)
    if program is None:
        print(f"skipped: no clang-format {VERSION} (looked for {', '.join(names)})")
        sys.exit(SKIPPED)
    files = source_files(options.root)
    if not files:
        sys.exit(f"no source files under {options.root}")
    result = subprocess.run([program, "--dry-run", "-Werror", *files], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr)
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error: " in line})
        sys.exit(f"{len(wrong)} of {len(files)} files differ; to mend: {program} -i {' '.join(wrong)}")
    print(f"{len(files)} files are as {program} writes them")


if __name__ == "__main__":
    main()
