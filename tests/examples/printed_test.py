"""Runs a program and fails where a table that it prints is not, row for row, in the texts that show it.

  printed_test.py TEXT.md... -- COMMAND...

A table begins with the line whose first word is "step", "operator" or "compared" and ends with the output or an empty
line. Its rows must be neighbours in the text, too; how far they are indented does not matter.
"""

import pathlib
import subprocess
import sys


HEADS = ("step ", "operator ", "compared ")


def main():
    end = sys.argv.index("--")
    texts, command = sys.argv[1:end], sys.argv[end + 1:]
    done = subprocess.run(command, text=True, capture_output=True)
    print(done.stdout + done.stderr)
    lines = [line.strip() for line in done.stdout.splitlines()]
    begin = next((at for at, line in enumerate(lines) if line.startswith(HEADS)), None)
    if done.returncode != 0 or begin is None:
        sys.exit(f"exit code {done.returncode}, and " + ("no table" if begin is None else "a table"))
    table = lines[begin:lines.index("", begin)] if "" in lines[begin:] else lines[begin:]
    failed = False
    for text in texts:
        shown = [line.strip() for line in pathlib.Path(text).read_text(encoding="utf-8").splitlines()]
        found = [shown[at:at + len(table)] for at, line in enumerate(shown) if line == table[0]]
        if table not in found:
            failed = True
            print(f"{text} does not show the table printed above; it has\n"
                  + ("\n\n".join("\n".join(one) for one in found) or "none with these columns"))
    sys.exit(failed)


if __name__ == "__main__":
    main()
