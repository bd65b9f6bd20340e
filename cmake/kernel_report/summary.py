"""All that is reported of one kernel, as a dict for JSON, and as text."""

import distances
import flow
import instructions

# Vector registers of a SIMD that a lane can have, granule of their allocation, most waves.
REGISTER_FILES = {"gfx90a": (512, 8, 8), "gfx942": (512, 8, 8), "gfx950": (512, 8, 8), "gfx9-4-generic": (512, 8, 8),
                  "gfx906": (256, 4, 10), "gfx900": (256, 4, 10), "gfx908": (256, 4, 10)}
LDS_OF_COMPUTE_UNIT = {"gfx950": 163840}
SIMDS, WAVE = 4, 64


def waves_per_simd(arch, registers, lds, group_size):
    """Waves of one SIMD that vector registers and static LDS leave room for, in whole workgroups of the largest size;
    None for an architecture not known."""
    if arch not in REGISTER_FILES:
        return None
    file, granule, most = REGISTER_FILES[arch]
    taken = -(-max(registers, 1) // granule) * granule
    group_waves = max(1, -(-group_size // WAVE))
    groups = SIMDS * min(most, file // taken) // group_waves
    if lds:
        groups = min(groups, LDS_OF_COMPUTE_UNIT.get(arch, 65536) // (-(-lds // 512) * 512))
    return -(-groups * group_waves // SIMDS)


def summary_of(kernel, arch):
    registers, lds = kernel.number(".vgpr_count"), kernel.number(".group_segment_fixed_size")
    group_size = kernel.number(".max_flat_workgroup_size")
    path, loops = flow.Flow(kernel.code).hottest_loop()
    loop = {"loops": loops, **distances.of_path(path, loops), **instructions.mix_of(path)}
    if loops:
        loop["begin"], loop["end"] = (hex(f([one.address for one in path])) for f in (min, max))
    return {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "vgprs": registers,
        "agprs": kernel.number(".agpr_count"),
        "sgprs": kernel.number(".sgpr_count"),
        "vgpr_spills": kernel.number(".vgpr_spill_count"),
        "sgpr_spills": kernel.number(".sgpr_spill_count"),
        "private_segment": kernel.number(".private_segment_fixed_size"),
        "dynamic_stack": kernel.metadata.get(".uses_dynamic_stack") == "true",
        "lds": lds,
        "group_size": group_size,
        "waves_per_simd": waves_per_simd(arch, registers, lds, group_size),
        "code": instructions.mix_of(kernel.code),
        "loop": loop,
    }


def _counts(mix):
    text = "  ".join(f"{unit} {mix[unit]}" for unit in instructions.UNITS if mix[unit])
    return text or "nothing"


def _detail(name, counts):
    return [f"      {name}: " + "  ".join(f"{key} {value}" for key, value in counts.items())] if counts else []


def _by_opcode(mix):
    return (_detail("matrix", mix["mfma_by_opcode"]) + _detail("LDS", mix["lds_by_opcode"])
            + _detail("memory", mix["memory_by_width"]))


def text_of(one):
    waves = one["waves_per_simd"]
    spills = one["vgpr_spills"] + one["sgpr_spills"]
    lines = [
        one["name"],
        f"  registers   {one['vgprs']} VGPR (of these {one['agprs']} AGPR)  {one['sgprs']} SGPR  "
        + (f"{one['vgpr_spills']} + {one['sgpr_spills']} spilled  " if spills else "")
        + f"private segment {one['private_segment']} B  LDS {one['lds']} B  "
        + f"{waves if waves is not None else '?'} waves a SIMD, groups of {one['group_size']}",
        f"  code        {one['code']['instructions']} instructions: {_counts(one['code'])}",
        *_by_opcode(one["code"]),
    ]
    loop = one["loop"]
    where = f"{loop['begin']} to {loop['end']}" if loop["loops"] else "no loop; the longest way through"
    lines.append(f"  hottest     {where}: {loop['instructions']} instructions, {loop['clocks']} clocks "
                 f"({loop['matrix_clocks']} matrix, {loop['vector_clocks']} vector): {_counts(loop)}")
    lines += _by_opcode(loop)
    near = "  ".join(f"{kind} {clocks}" for kind, clocks in loop["least_distance"].items())
    lines.append(f"  distances   least clocks from issue to wait: {near or 'no load is waited for'}")
    return "\n".join(lines)
