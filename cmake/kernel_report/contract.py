"""Contracts: what a build must find in its kernels.

A contract is a JSON file:

    {
      "compiler": "clang version 22",
      "kernels": [
        {"match": "^my::.*", "private_segment": 0, "vgpr_spills": 0},
        {"match": "^my::softmax<float>", "vgprs": {"most": 64}, "loop.lds_by_opcode.ds_read_b128": 24,
         "loop.least_distance.global": {"least": 500}}
      ],
      "complete": false
    }

`match` is a regular expression looked for in the demangled name, without parameters; every entry must match a
kernel, and applies to all it matches. Other keys are paths into the JSON report of a kernel; a value is a number that
must be met exactly, or {"least": n, "most": n}, either or both. What the report does not have counts as 0.
`complete`: a kernel that no entry matches is a violation too. `compiler`: where the compiler's first version line
does not contain it, nothing is checked and a notice says so, because registers and counts are one compiler's.
"""

import json
import re

EXACT = ("vgprs", "agprs", "sgprs", "private_segment", "vgpr_spills", "sgpr_spills", "lds", "waves_per_simd",
         "code.instructions", "code.mfma", "code.valu", "code.transcendental", "code.salu", "code.lds", "code.global",
         "loop.instructions", "loop.mfma", "loop.valu", "loop.lds", "loop.global")


class ContractError(Exception):
    """The file is not a contract."""


def value_at(report, path):
    for key in path.split("."):
        if not isinstance(report, dict) or key not in report:
            return 0
        report = report[key]
    return report


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            contract = json.load(file)
        entries = contract["kernels"]
        for entry in entries:
            re.compile(entry["match"])
            for key, wanted in entry.items():
                if isinstance(wanted, dict) and (not wanted or not set(wanted) <= {"least", "most"}):
                    raise ContractError(f"{path}: {key} of {entry['match']!r} is {wanted}, allowed: a number, "
                                        '{"least": n}, {"most": n} or both')
        unknown = set(contract) - {"kernels", "compiler", "complete"}
        if unknown:
            raise ContractError(f"{path}: unknown {', '.join(sorted(unknown))}; allowed: kernels, compiler, complete")
        return contract
    except (OSError, json.JSONDecodeError, KeyError, TypeError, re.error) as error:
        raise ContractError(f"{path} is not a contract: {error!r}") from error


def broken(found, wanted):
    """Why a value does not keep a term, or None."""
    if not isinstance(wanted, dict):
        return None if found == wanted else f"{found}, the contract says {wanted}"
    if "most" in wanted and found > wanted["most"]:
        return f"{found}, the contract allows at most {wanted['most']}"
    if "least" in wanted and found < wanted["least"]:
        return f"{found}, the contract wants at least {wanted['least']}"
    return None


def violations(contract, reports):
    """[(kernel's name, text)]"""
    result, met = [], set()
    for entry in contract["kernels"]:
        matched = [report for report in reports if re.search(entry["match"], report["name"])]
        met.update(report["symbol"] for report in matched)
        if not matched:
            result.append((entry["match"], "no kernel matches"))
        for report in matched:
            for path, wanted in entry.items():
                if path == "match":
                    continue
                why = broken(value_at(report, path), wanted)
                if why:
                    result.append((report["name"], f"{path} is {why}"))
    if contract.get("complete"):
        result += [(report["name"], "in no entry of the contract") for report in reports if report["symbol"] not in met]
    return result


def exact(reports, compiler):
    """A contract that these kernels keep to the letter."""
    entries = [{"match": f"^{re.escape(report['name'])}$", **{path: value_at(report, path) for path in EXACT}}
               for report in sorted(reports, key=lambda report: report["name"])]
    return {"compiler": compiler, "kernels": entries, "complete": True}
