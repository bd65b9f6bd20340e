"""Compiles the C++ of a README as its readers would.

  check_readme.py --readme FILE --include FOLDER -- COMPILER FLAGS...
  check_readme.py --readme FILE --write HEADER WORD...

Blocks that start with #include begin a program: their headers come first and what follows is the body of a
function, where names of the text (logits, weights, rows, columns, stream) are parameters. Blocks without
one continue the program before. A block with `using namespace` stays at file scope.

With --write nothing is compiled: the header gets, in namespaces that the words name, for each word the one program
that has it, and `shown`, the blocks of the text that have no language: what programs print.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTION = "void use(float* logits, wavetile::fp16* weights, int64_t rows, int64_t columns, hipStream_t stream)"


def programs_of(text):
    """(headers, at file scope, body) of every program."""
    programs = []
    for block in re.findall(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = block.splitlines()
        headers = [line for line in lines if line.startswith("#include")]
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        if headers:
            programs.append((headers, "using namespace" in body, body))
        elif programs:
            programs[-1] = (*programs[-1][:2], programs[-1][2] + "\n" + body)
        else:
            sys.exit("the first block of C++ includes nothing")
    return programs


def source_of(at_file_scope, body):
    return f"\n{body}\n" if at_file_scope else f"\n{FUNCTION} {{\n{body}\n}}\n"


def header_of(text, words):
    """A header with the programs that have these words."""
    programs = programs_of(text)
    lines, spaces = ["#pragma once", "#include <cstdint>", "#include <cstdio>", "#include <string_view>"], []
    for word in words:
        found = [program for program in programs if word in program[2]]
        if len(found) != 1:
            sys.exit(f"{len(found)} programs of the README have '{word}'")
        headers, at_file_scope, body = found[0]
        lines += headers
        spaces.append(f"namespace readme_{word} {{\n{source_of(at_file_scope, body)}\n}}")
    shown = re.findall(r"^```\n(.*?)^```", re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL),
                       re.MULTILINE | re.DOTALL)
    spaces.append("namespace readme {\ninline constexpr std::string_view shown[] = {" + ",\n".join(f'R"~({one})~"' for one in shown) + "};\n}")
    return "\n".join(lines + spaces) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readme", required=True)
    parser.add_argument("--include")
    parser.add_argument("--write", nargs="+")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if options.write:
        header, *words = options.write
        pathlib.Path(header).write_text(header_of(pathlib.Path(options.readme).read_text(), words))
        return
    programs = programs_of(pathlib.Path(options.readme).read_text())
    if not programs:
        sys.exit("no C++ in the README")
    for headers, at_file_scope, body in programs:
        source = "\n".join(["#include <cstdint>", "#include <cstdio>", *headers])
        source += source_of(at_file_scope, body)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "readme.hip")
            file.write_text(source)
            result = subprocess.run([*command, "-std=c++20", "-I", options.include, "-fsyntax-only", file],
                                    capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{source}\n{result.stderr}")
    print(f"{len(programs)} programs compile")


if __name__ == "__main__":
    main()
