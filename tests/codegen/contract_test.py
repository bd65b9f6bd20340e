"""Contracts of the kernel report on hand-made reports: what keeps one, what breaks one, and what is none."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel_report"))
import contract  # noqa: E402
import instructions  # noqa: E402
import report  # noqa: E402

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
        for text in ("", "[]", '{"kernels": [{"vgprs": 1}]}', '{"kernels": [{"match": "("}]}',
                     '{"kernels": [{"match": "a", "vgprs": {"max": 1}}]}', '{"kernels": [], "kernel": []}'):
            with self.assertRaises(contract.ContractError, msg=text):
                self.check_file(text)


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
