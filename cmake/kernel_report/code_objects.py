"""Reads the kernels inside HIP programs, objects, libraries, bundles and code objects: their metadata and their
instructions, by the LLVM tools of the compiler."""

import collections
import dataclasses
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
EM_AMDGPU = 224
LINE = re.compile(r"\s+([a-z]\w*)\s*(.*?)\s*// ([0-9A-F]+): ")


class Unreadable(Exception):
    """A file that kernels cannot be read from, or a compiler whose tools cannot read them."""


@dataclasses.dataclass
class Instruction:
    address: int
    opcode: str
    operands: str


@dataclasses.dataclass
class Kernel:
    """One kernel of one code object. Sizes in bytes, registers per lane."""

    symbol: str
    name: str  # demangled, without parameters
    metadata: dict
    code: list  # of Instruction, those of the symbol, without the padding behind it

    @property
    def opcodes(self):
        """opcode -> static count"""
        return dict(collections.Counter(one.opcode for one in self.code))

    def number(self, key):
        return int(self.metadata.get(key, 0))


@dataclasses.dataclass
class Tools:
    """The LLVM tools that belong to the compiler."""

    compiler: str
    readelf: str
    objdump: str
    cxxfilt: str
    bundler: str

    @staticmethod
    def of(compiler):
        """The tools that the compiler says are its own; those of another LLVM may not know gfx942."""
        names = ("llvm-readelf", "llvm-objdump", "llvm-cxxfilt", "clang-offload-bundler")
        try:
            tools = [run(compiler, f"-print-prog-name={name}").strip() for name in names]
        except subprocess.CalledProcessError as error:
            raise Unreadable(f"--compiler '{compiler}' does not say where its LLVM tools are; expected: a clang++, "
                             "amdclang++ or hipcc") from error
        for name, tool in list(zip(names, tools))[:3]:
            # A compiler that does not have the program says its bare name back, which PATH may know from another LLVM.
            if tool == name or shutil.which(tool) is None:
                raise Unreadable(f"--compiler '{compiler}' has no {name} beside it; expected: a clang++, amdclang++ or "
                                 "hipcc with its llvm package")
        return Tools(compiler, *tools)


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def fat_binary(tools, program):
    """What holds the device code of a program, object or library: its .hip_fatbin section; other files as they are."""
    data = pathlib.Path(program).read_bytes()
    if not data.startswith(b"\x7fELF") or struct.unpack_from("<H", data, 18)[0] == EM_AMDGPU:
        return data
    text = run(tools.readelf, "--sections", "--wide", program)
    match = re.search(r"\.hip_fatbin\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", text)
    if not match:
        return b""
    offset, size = (int(field, 16) for field in match.groups())
    return data[offset : offset + size]


def decompress(tools, data, arch):
    """The code object of a compressed bundle (clang's --offload-compress); one bundle only."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, code = f"{folder}/bundle", f"{folder}/code"
        pathlib.Path(bundle).write_bytes(data)
        targets = run(tools.bundler, "--list", "--type=o", f"--input={bundle}").split()
        for target in targets:
            if target.startswith("hip") and target.split("--")[-1].split(":")[0] == arch:
                run(tools.bundler, "--unbundle", "--type=o", f"--targets={target}", f"--input={bundle}",
                    f"--output={code}")
                yield pathlib.Path(code).read_bytes()


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


def ends_of(tools, path):
    """The address behind each symbol that has a size."""
    symbol = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\d+) FUNC\s.*\s(\S+)$")
    found = map(symbol.match, run(tools.readelf, "--symbols", "--wide", path).splitlines())
    return {match[3]: int(match[1], 16) + int(match[2]) for match in found if match and match[2] != "0"}


def own(code, end):
    """Instructions without the padding that lies up to the next symbol: nothing from `end` on, or, where that is None
    (assembly that gives its symbol no size), no trailing nops."""
    if end is not None:
        return [one for one in code if one.address < end]
    count = len(code)
    while count and code[count - 1].opcode in ("s_nop", "s_code_end"):
        count -= 1
    return code[:count]


def instructions_of(tools, path, arch):
    """The instructions of each symbol in the order of their addresses."""
    code, current = {}, None
    for line in run(tools.objdump, "--disassemble", f"--mcpu={arch}", "--no-show-raw-insn", path).splitlines():
        if current is not None and (match := LINE.match(line)):
            current.append(Instruction(int(match[3], 16), match[1], match[2]))
        elif symbol := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            current = code.setdefault(symbol[1], [])
    ends = ends_of(tools, path)
    return {symbol: own(instructions, ends.get(symbol)) for symbol, instructions in code.items()}


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


def code_objects_of(tools, program, arch):
    data = fat_binary(tools, program)
    if data.startswith(b"\x7fELF"):
        yield data
    elif data.startswith(COMPRESSED_MAGIC):
        yield from decompress(tools, data, arch)
    else:
        yield from unbundle(data, arch)


def why_of(error):
    """The reason in what a tool printed, without the tool's name and the path that it was given."""
    lines = [line for line in (error.stderr or "").splitlines() if "error" in line.lower()]
    tool = pathlib.Path(error.cmd[0]).name
    return f"{tool}: " + re.sub(r"^.*?error: ('[^']*': )?", "", lines[0], flags=re.IGNORECASE) if lines else f"{tool} fails"


def kernels_of(tools, program, arch="gfx942"):
    """All kernels a program has for an architecture."""
    try:
        return list(read_kernels(tools, program, arch))
    except subprocess.CalledProcessError as error:
        if re.search("not a recognized processor|can't find target", error.stderr or ""):
            raise Unreadable(f"--compiler '{tools.compiler}' makes no code for {arch}, its llvm-objdump does not know it; "
                             f"expected: the compiler that made '{program}', and an architecture of its") from error
        why = why_of(error)
    except struct.error:
        why = "a header points past the end"
    except UnicodeDecodeError:
        why = "a name in it is no text"
    except KeyError as error:
        why = f"a kernel without {error}"
    raise Unreadable(f"'{program}' is damaged ({why}); expected: a HIP program, object, library, bundle or code object "
                     f"for {arch}")


def read_kernels(tools, program, arch):
    with tempfile.TemporaryDirectory() as folder:
        for index, code in enumerate(code_objects_of(tools, program, arch)):
            path = f"{folder}/{index}.co"
            pathlib.Path(path).write_bytes(code)
            notes = metadata_of(tools, path)
            instructions = instructions_of(tools, path, arch)
            names = demangle(tools, [note[".name"] for note in notes]) if notes else {}
            for note in notes:
                symbol = note[".name"]
                yield Kernel(symbol, without_parameters(names[symbol]), note, instructions.get(symbol, []))
