"""The kernel report on code that is compiled here: what counts as a kernel's, and files and compilers it cannot read.

  report_test.py --compiler COMPILER [OTHER]

OTHER: a compiler without LLVM tools, such as g++.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import code_objects  # noqa: E402
import report  # noqa: E402

ALONE = "extern \"C\" __attribute__((global)) void first(float* p) { *p *= 2; }\n"
# Kernels begin at multiples of 256 bytes: nops lie between the two.
TWO = ALONE + "extern \"C\" __attribute__((global)) void second(float* p) { *p *= 3; }\n"
# A kernel that does not say where it ends.
UNSIZED = """
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .text
  .globl kernel
  .p2align 8
  .type kernel,@function
kernel:
  s_nop 3
  s_endpgm
  .fill 8, 4, 0xbf9f0000 // s_code_end
  .globl other
  .p2align 8
  .type other,@function
other:
  s_endpgm
"""


class Report(unittest.TestCase):
    compiler, other = "", ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compiled(self, text, *flags):
        source, code = self.folder / "kernels.hip", self.folder / "kernels.co"
        source.write_text(text, encoding="utf-8")
        subprocess.run([self.compiler, "-x", "hip", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--offload-arch=gfx942",
                        "-O3", *flags, source, "-o", code], check=True)
        return code

    def test_padding_belongs_to_no_kernel(self):
        alone, two = (report.reports_of(self.compiler, [self.compiled(text)])[0]["code"] for text in (ALONE, TWO))
        self.assertGreater(alone["instructions"], 4)
        self.assertEqual(alone, two)

    def test_padding_behind_a_symbol_without_size(self):
        source, code = self.folder / "kernel.s", self.folder / "kernel.co"
        source.write_text(UNSIZED, encoding="utf-8")
        subprocess.run([self.compiler, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-x", "assembler", "-c",
                        source, "-o", code], check=True)
        found = code_objects.instructions_of(code_objects.Tools.of(self.compiler), code, "gfx942")
        self.assertEqual([one.opcode for one in found["kernel"]], ["s_nop", "s_endpgm"])

    def refused(self, compiler, *arguments):
        """What the report says when it ends with exit code 2 and one line."""
        done = subprocess.run([sys.executable, report.__file__, "--compiler", compiler, *map(str, arguments)], text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_damaged_files(self):
        code = self.compiled(TWO, "--no-gpu-bundle-output").read_bytes()
        bundle = self.compiled(TWO).read_bytes()
        self.assertTrue(bundle.startswith(code_objects.BUNDLE_MAGIC))
        host = pathlib.Path(sys.executable).read_bytes()
        damaged = self.folder / "damaged"
        for data in (code[:10], code[:3000], bundle[:28], bundle[:60], bundle[: len(bundle) // 2], host[:3000],
                     code.replace(b".name", b".nbme"), code.replace(b"second", b"\xffecond")):
            damaged.write_bytes(data)
            self.assertRegex(self.refused(self.compiler, damaged), f"'{re.escape(str(damaged))}' is damaged .*; expected: a HIP program")

    def test_compilers_that_make_no_such_code(self):
        code = self.compiled(TWO)
        self.assertIn("--compiler 'false'", self.refused("false", code))
        said = self.refused(self.compiler, "--arch", "gfx000", self.compiled(TWO, "--no-gpu-bundle-output"))
        self.assertIn(f"--compiler '{self.compiler}' makes no code for gfx000", said)
        if self.other:
            self.assertIn(f"--compiler '{self.other}' has no llvm-readelf", self.refused(self.other, code))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("other", nargs="?", default="")
    options = parser.parse_args()
    Report.compiler, Report.other = options.compiler, options.other
    unittest.main(argv=sys.argv[:1])
