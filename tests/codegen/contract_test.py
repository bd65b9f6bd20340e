"""Contracts of the kernel report on hand-made reports: what keeps one, what breaks one, and what is none."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import code_objects  # noqa: E402
import contract  # noqa: E402
import instructions  # noqa: E402
import report  # noqa: E402
import summary  # noqa: E402

KERNELS = [{"name": "a::one<float>", "symbol": "1", "vgprs": 64, "loop": {"mfma": 8, "lds_by_opcode": {"ds_read_b128": 2}}},
           {"name": "a::two", "symbol": "2", "vgprs": 128, "loop": {"mfma": 0}}]


def texts(*entries, **more):
    return [f"{name}: {text}" for name, text in contract.violations({"kernels": list(entries), **more}, KERNELS)]


class Contracts(unittest.TestCase):
    def test_kept(self):
        self.assertEqual(texts({"match": "^a::", "vgprs": {"most": 128, "least": 64}, "private_segment": 0}), [])
        self.assertEqual(texts({"match": "one", "vgprs": 64, "loop.lds_by_opcode.ds_read_b128": 2}), [])

    def test_broken(self):
        self.assertEqual(texts({"match": "one", "vgprs": 63}), ["a::one<float>: vgprs is 64, the contract says 63"])
        self.assertEqual(texts({"match": "^a::", "vgprs": {"most": 64}}),
                         ["a::two: vgprs is 128, the contract allows at most 64"])
        self.assertEqual(texts({"match": "^a::", "loop.mfma": {"least": 8}}),
                         ["a::two: loop.mfma is 0, the contract wants at least 8"])
        self.assertEqual(texts({"match": "one", "loop.lds_by_opcode.ds_read_b64": 4}),
                         ["a::one<float>: loop.lds_by_opcode.ds_read_b64 is 0, the contract says 4"])

    def test_kernels_come_and_go(self):
        self.assertEqual(texts({"match": "three", "vgprs": 1}), ["three: no kernel matches"])
        self.assertEqual(texts({"match": "one"}, complete=True), ["a::two: in no entry of the contract"])

    def test_exact_contract_is_kept_and_notices_a_change(self):
        exact = contract.exact(KERNELS, "clang version 22")
        self.assertEqual(contract.violations(exact, KERNELS), [])
        changed = [KERNELS[0], {**KERNELS[1], "vgprs": 129}]
        self.assertEqual(contract.violations(exact, changed), [("a::two", "vgprs is 129, the contract says 128")])

    def check_file(self, text, compiler="clang version 22.1"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "contract.json"
            path.write_text(text, encoding="utf-8")
            return report.check(path, KERNELS, compiler)

    def test_only_for_its_compiler(self):
        text = json.dumps({"compiler": "clang version 22", "kernels": [{"match": "one", "vgprs": 1}]})
        self.assertFalse(self.check_file(text))
        self.assertTrue(self.check_file(text, "clang version 19.1.7"))

    def test_what_is_no_contract(self):
        """One line that names the file, what is wrong in it, and what is allowed."""
        entry = lambda terms: '{"kernels": [{"match": "one"}, {"match": "a", %s}]}' % terms
        for text, *parts in (
                ("", "no contract"), ("[]", "no contract, but list"), ("null", "no contract"), ("{", "no contract"),
                ("{}", "kernels is null; allowed: a list of entries, one or more"),
                ('{"kernels": {}}', "kernels is {}; allowed: a list"), ('{"kernels": []}', "kernels is []; allowed: a list"),
                ('{"kernels": [5]}', "kernel entry 1 is 5; allowed: an object"),
                ('{"kernels": [{"vgprs": 1}]}', "kernel entry 1: match is null; allowed: a regular expression"),
                ('{"kernels": [{"match": 5}]}', "kernel entry 1: match is 5; allowed"),
                ('{"kernels": [{"match": "("}]}', "kernel entry 1: match is '(', no regular expression"),
                ('{"kernels": [{"match": "one"}], "kernel": []}', "unknown 'kernel'; allowed: kernels, compiler, complete"),
                ('{"kernels": [{"match": "one"}], "compiler": 5}', "compiler is 5; allowed: text"),
                ('{"kernels": [{"match": "one"}], "complete": "no"}', 'complete is "no"; allowed: true, false'),
                (entry('"vgprs": {"max": 1}'), "kernel entry 2 ('a'): vgprs is {\"max\": 1}; allowed: a number"),
                (entry('"vgprs": {"most": "12"}'), 'vgprs is {"most": "12"}; allowed: a number'),
                (entry('"vgprs": {}'), "vgprs is {}; allowed: a number"), (entry('"vgprs": "1"'), "allowed: a number"),
                (entry('"vgprs": true'), "allowed: a number"), (entry('"vgprs": NaN'), "allowed: a number"),
                (entry('"vgprs": {"least": 2, "most": 1}'), "which no number is"),
                (entry('"vgprs": 1, "vgprs": 2'), "'vgprs' stands twice"),
                (entry('"scratch": 0'), "kernel entry 2 ('a'): unknown 'scratch'; allowed: match, vgprs, "),
                (entry('"private_segmnt": {"most": 0}'), "unknown 'private_segmnt'; allowed", " private_segment,"),
                (entry('"name": 0'), "unknown 'name'"), (entry('"loop": 0'), "unknown 'loop'"),
                (entry('"loop.mfmas": 0'), "unknown 'loop.mfmas'; allowed: loop. and one of instructions, mfma, "),
                (entry('"code.clocks": 0'), "unknown 'code.clocks'"), (entry('"loop.begin": 0'), "unknown 'loop.begin'"),
                (entry('"code.least_distance.lds": 0'), "unknown"), (entry('"loop.least_distance.ldss": 0'), "unknown"),
                (entry('"loop.lds_by_opcode": 0'), "unknown"), (entry('"loop.lds_by_opcode.read_b128": 0'), "ds_"),
                (entry('"loop.memory_by_width.global_load_5": 0'), "unknown"), (entry('"vgprs.most": 0'), "unknown")):
            with self.assertRaises(contract.ContractError, msg=text) as caught:
                self.check_file(text)
            for part in ("contract.json", *parts):
                self.assertIn(part, str(caught.exception), text)
            self.assertNotIn("\n", str(caught.exception), text)

    def test_what_no_kernel_has_to_have(self):
        for key in ("loop.lds_by_opcode.ds_read_b64", "code.mfma_by_opcode.v_mfma_f32_32x32x8_bf16",
                    "loop.least_distance.global", "code.memory_by_width.global_store_16", "dynamic_stack"):
            self.assertTrue(self.check_file(json.dumps({"kernels": [{"match": "one", key: 0}]})), key)

    def test_paths_are_those_of_a_report(self):
        code = [code_objects.Instruction(4 * number, opcode, operands) for number, (opcode, operands) in enumerate((
            ("v_add_f32_e32", "v0, v1, v2"), ("s_cbranch_scc1", "65534"), ("s_endpgm", "")))]
        one = summary.summary_of(code_objects.Kernel("k", "k", {}, code), "gfx942")
        flat = [key for key, value in one.items() if not isinstance(value, dict)]
        flat += [f"{part}.{key}" for part in ("code", "loop") for key, value in one[part].items()
                 if not isinstance(value, dict)]
        texts_of_it = {"name", "symbol", "loop.begin", "loop.end"}
        self.assertEqual([key for key in flat if contract.why_unknown(key)], [key for key in flat if key in texts_of_it])
        known = {*contract.TOP, *(f"{part}.{key}" for part, keys in contract.PARTS.items() for key in keys)}
        self.assertEqual(known - set(flat), set())
        tables = {key for part in ("code", "loop") for key, value in one[part].items() if isinstance(value, dict)}
        self.assertEqual(tables, set(contract.TABLES))

    def test_registers_unknown_for_an_architecture(self):
        self.assertEqual(contract.broken(None, {"least": 1}), "not known for this architecture")

    def test_arguments_in_one_line(self):
        script = pathlib.Path(report.__file__)
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder, "contract.json")
            bad.write_text('{"kernels": [{"match": "a", "vgpr": 1}]}', encoding="utf-8")
            for arguments, expected in (
                    (["--compiler", "true", "--select", "["], "--select '[' is no regular expression"),
                    (["--compiler", "/no/clang"], "--compiler '/no/clang'"), (["--compiler", "false"], "--compiler 'false'"),
                    (["--compiler", "true", "--contract", str(bad)], "unknown 'vgpr'"),
                    (["--compiler", "true", "--contract", folder + "/none.json"], "none.json: cannot be read")):
                done = subprocess.run([sys.executable, str(script), *arguments, str(script)], text=True, capture_output=True)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Instructions(unittest.TestCase):
    def test_units(self):
        for opcode, unit in (("v_exp_f32_e32", "transcendental"), ("v_mfma_f32_32x32x8_bf16", "mfma"),
                             ("v_fma_f32", "valu"), ("ds_read_b128", "lds"), ("buffer_load_dwordx4", "global"),
                             ("s_waitcnt", "wait"), ("s_barrier", "barrier"), ("s_load_dwordx2", "scalar_load"),
                             ("s_cbranch_scc1", "branch"), ("scratch_load_dword", "scratch"), ("s_add_u32", "salu"),
                             ("v_accvgpr_read_b32", "valu"), ("flat_load_dword", "flat"), ("s_endpgm", "other")):
            self.assertEqual(instructions.unit_of(opcode), unit, opcode)

    def test_passes(self):
        # AMD matrix instruction calculator
        for opcode, passes in (("v_mfma_f32_32x32x8_bf16", (8, True)), ("v_mfma_f32_32x32x4_2b_f16", (16, True)),
                               ("v_mfma_f32_16x16x16_f16", (4, True)), ("v_mfma_f32_4x4x4_16b_f16", (2, True)),
                               ("v_mfma_f32_32x32x2_f32", (16, False)), ("v_mfma_f32_16x16x1_4b_f32", (8, False)),
                               ("v_mfma_f32_16x16x8_xf32", (4, True)), ("v_mfma_f64_16x16x4_f64", (8, False)),
                               ("v_mfma_f64_4x4x4_4b_f64", (4, False)), ("v_smfmac_f32_32x32x16_bf16", (8, True)),
                               ("v_mfma_f32_16x16x32_fp8_bf8", (4, True)), ("v_mfma_f32_32x32x8f16", (8, True)),
                               ("v_mfma_f32_32x32x4bf16_1k", (16, True))):
            self.assertEqual(instructions.matrix_passes(opcode), passes, opcode)

    def test_widths(self):
        for opcode, width in (("global_load_dwordx4", "16"), ("global_store_dword", "4"), ("global_load_ushort", "2"),
                              ("global_load_short_d16_hi", "2"), ("global_load_ubyte", "1"), ("buffer_store_dwordx3", "12"),
                              ("global_atomic_add", "atomic")):
            self.assertEqual(instructions.global_width(opcode), width, opcode)


if __name__ == "__main__":
    unittest.main()
