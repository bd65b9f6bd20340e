"""Reads the kernels inside HIP programs: their metadata and their instructions."""

import dataclasses
import pathlib
import re
import struct
import subprocess
import tempfile

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


@dataclasses.dataclass
class Kernel:
    """One kernel of one code object. Sizes in bytes, registers per lane."""

    symbol: str
    name: str  # demangled, without parameters
    metadata: dict
    opcodes: dict  # opcode -> static count

    def number(self, key):
        return int(self.metadata.get(key, 0))


@dataclasses.dataclass
class Tools:
    """The LLVM tools that belong to the compiler."""

    readelf: str
    objdump: str
    cxxfilt: str

    @staticmethod
    def of(compiler):
        """The tools that the compiler says are its own; those of another LLVM may not know gfx942."""
        return Tools(*(run(compiler, f"-print-prog-name=llvm-{name}").strip()
                       for name in ("readelf", "objdump", "cxxfilt")))


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def fat_binary(tools, program):
    """Contents of a program's (or object's) .hip_fatbin section."""
    text = run(tools.readelf, "--sections", "--wide", program)
    match = re.search(r"\.hip_fatbin\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", text)
    if not match:
        return b""
    offset, size = (int(field, 16) for field in match.groups())
    with open(program, "rb") as file:
        file.seek(offset)
        return file.read(size)


def unbundle(data, arch):
    """Code objects for an architecture, in the bundles that lie one after another in a fat binary. The
    magic may also occur inside a code object, so bundles are walked by the sizes in their headers."""
    at = 0
    while (at := data.find(BUNDLE_MAGIC, at)) != -1:
        end = at
        (count,) = struct.unpack_from("<Q", data, at + len(BUNDLE_MAGIC))
        entry = at + len(BUNDLE_MAGIC) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, entry)
            triple = data[entry + 24 : entry + 24 + length].decode()
            entry += 24 + length
            end = max(end, at + offset + size)
            if triple.startswith("hip") and triple.split("--")[-1].split(":")[0] == arch:
                yield data[at + offset : at + offset + size]
        at = max(end, entry)


def metadata_of(tools, path):
    """The .key: value pairs of each kernel, in the notes of a code object."""
    kernels, current = [], None
    inside = False
    for line in run(tools.readelf, "--notes", path).splitlines():
        if line.startswith("amdhsa.kernels:"):
            inside = True
        elif inside and re.match(r"\S", line):
            inside = False
        elif inside:
            if line.startswith("  - "):
                current = {}
                kernels.append(current)
            match = re.match(r"(?:  - |    )(\.\w+):\s+(\S.*)$", line)
            if match:
                current[match[1]] = match[2].strip("'")
    return kernels


def opcodes_of(tools, path, arch):
    """Static count of each opcode, per symbol."""
    counts, current = {}, None
    for line in run(tools.objdump, "--disassemble", f"--mcpu={arch}", "--no-show-raw-insn", path).splitlines():
        symbol = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if symbol:
            current = counts.setdefault(symbol[1], {})
        elif current is not None and (opcode := re.match(r"\s+([a-z]\w+)", line)):
            current[opcode[1]] = current.get(opcode[1], 0) + 1
    return counts


def demangle(tools, symbols):
    text = subprocess.run([tools.cxxfilt], input="\n".join(symbols), text=True, capture_output=True,
                          check=True).stdout
    return dict(zip(symbols, text.splitlines()))


def without_parameters(name):
    """Cuts the return type and the parameter list off a demangled function name."""
    depth, end = 0, len(name)
    for position, character in enumerate(name):
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif character == "(" and depth == 0 and not name.startswith("(anonymous namespace)", position):
            end = position
            break
    return name[:end].removeprefix("void ")


def short(name):
    """The name as a person would write it, without namespaces."""
    return re.sub(r"wavetile::(kernels::|detail::)?", "", name)


def kernels_of(tools, program, arch="gfx942"):
    """All kernels a program has for an architecture."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for index, code in enumerate(unbundle(fat_binary(tools, program), arch)):
            path = f"{folder}/{index}.co"
            pathlib.Path(path).write_bytes(code)
            notes = metadata_of(tools, path)
            opcodes = opcodes_of(tools, path, arch)
            names = demangle(tools, [note[".name"] for note in notes]) if notes else {}
            for note in notes:
                symbol = note[".name"]
                result.append(Kernel(symbol, without_parameters(names[symbol]), note, opcodes.get(symbol, {})))
    return result
