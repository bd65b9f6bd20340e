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
must be met exactly, or {"least": n, "most": n}, either or both. What a kernel does not have of instructions
(`lds_by_opcode` and the like) and of distances counts as 0; any other path must be one that reports have.
`complete`: a kernel that no entry matches is a violation too. `compiler`: where the compiler's first version line
does not contain it, nothing is checked and a notice says so, because registers and counts are one compiler's.
"""

import json
import math
import re

import instructions

EXACT = ("vgprs", "agprs", "sgprs", "private_segment", "vgpr_spills", "sgpr_spills", "lds", "waves_per_simd",
         "code.instructions", "code.mfma", "code.valu", "code.transcendental", "code.salu", "code.lds", "code.global",
         "loop.instructions", "loop.mfma", "loop.valu", "loop.lds", "loop.global")


TOP = ("vgprs", "agprs", "sgprs", "vgpr_spills", "sgpr_spills", "private_segment", "dynamic_stack", "lds", "group_size",
       "waves_per_simd")
# Tables that have only what a kernel has, and what may stand in them.
TABLES = {"lds_by_opcode": r"ds_\w+", "mfma_by_opcode": r"v_(mfma|smfmac)_\w+",
          "memory_by_width": r"(global|scratch|flat)_(load|store|other)_(1|2|4|8|12|16|atomic|other)",
          "least_distance": "lds|global|scratch|scalar"}
MIX = tuple(key for key, value in instructions.mix_of([]).items() if not isinstance(value, dict))
PARTS = {"code": MIX, "loop": (*MIX, "loops", "clocks", "matrix_clocks", "vector_clocks")}


class ContractError(Exception):
    """The file is not a contract."""


def value_at(report, path):
    for key in path.split("."):
        if not isinstance(report, dict) or key not in report:
            return 0
        report = report[key]
    return report


def why_unknown(path):
    """What could stand there instead of a path that reports do not have; None for one that they have."""
    first, *rest = path.split(".")
    if first not in PARTS:
        return None if path in TOP else ", ".join(("match", *TOP, *(f"{part}.*" for part in PARTS)))
    if len(rest) == 1 and rest[0] in PARTS[first]:
        return None
    tables = [table for table in TABLES if first == "loop" or table != "least_distance"]
    if len(rest) == 2 and rest[0] in tables:
        pattern = TABLES[rest[0]]
        return None if re.fullmatch(pattern, rest[1]) else f"{first}.{rest[0]}. and what matches {pattern}"
    return f"{first}. and one of " + ", ".join((*PARTS[first], *(f"{table}.*" for table in tables)))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_term(where, key, wanted):
    allowed = why_unknown(key)
    if allowed:
        raise ContractError(f"{where}: unknown {key!r}; allowed: {allowed}")
    if key == "dynamic_stack" and isinstance(wanted, bool):
        return
    limits = wanted.values() if isinstance(wanted, dict) else [wanted]
    good = all(map(is_number, limits)) and (not isinstance(wanted, dict) or wanted and set(wanted) <= {"least", "most"})
    if not good:
        raise ContractError(f"{where}: {key} is {json.dumps(wanted)}; "
                            'allowed: a number, {"least": n}, {"most": n} or both')
    if isinstance(wanted, dict) and wanted.get("least", -math.inf) > wanted.get("most", math.inf):
        raise ContractError(f"{where}: {key} is {json.dumps(wanted)}, which no number is; allowed: a least up to the most")


def check_entry(path, number, entry):
    where = f"{path}: kernel entry {number}"
    if not isinstance(entry, dict):
        raise ContractError(f"{where} is {json.dumps(entry)}; allowed: an object with 'match' and terms")
    match = entry.get("match")
    if not isinstance(match, str):
        raise ContractError(f"{where}: match is {json.dumps(match)}; allowed: a regular expression, as text")
    try:
        re.compile(match)
    except re.error as error:
        raise ContractError(f"{where}: match is {match!r}, no regular expression: {error}") from error
    for key, wanted in entry.items():
        if key != "match":
            check_term(f"{where} ({match!r})", key, wanted)


def without_doubles(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key!r} stands twice in one object")
    return dict(pairs)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            contract = json.load(file, object_pairs_hook=without_doubles)
    except OSError as error:
        raise ContractError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ContractError(f"{path}: no contract: {error}") from error
    kinds = {"kernels": (list, "a list of entries, one or more"), "compiler": (str, "text"),
             "complete": (bool, "true, false")}
    if not isinstance(contract, dict):
        raise ContractError(f"{path}: no contract, but {type(contract).__name__}; allowed: an object with {', '.join(kinds)}")
    for key, value in contract.items():
        if key not in kinds:
            raise ContractError(f"{path}: unknown {key!r}; allowed: {', '.join(kinds)}")
        if not isinstance(value, kinds[key][0]):
            raise ContractError(f"{path}: {key} is {json.dumps(value)}; allowed: {kinds[key][1]}")
    if not contract.get("kernels"):
        raise ContractError(f"{path}: kernels is {json.dumps(contract.get('kernels'))}; allowed: {kinds['kernels'][1]}")
    for number, entry in enumerate(contract["kernels"], 1):
        check_entry(path, number, entry)
    return contract


def broken(found, wanted):
    """Why a value does not keep a term, or None."""
    if found is None:
        return "not known for this architecture"
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
