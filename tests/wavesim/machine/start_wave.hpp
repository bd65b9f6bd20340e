// Register contents at the start of a wave (LLVM's AMDGPU usage guide, "Initial Kernel Execution
// State", for gfx942).
#pragma once

#include "machine/wave.hpp"

namespace wavesim {

/// What registers and LDS hold before a kernel writes them. On the hardware that is left over from
/// whoever ran before; here it is one constant, so that a read of it shows and repeats: a NaN as
/// fp32, as fp64 and as both halves of packed fp16 and bf16, a large unsigned integer, no valid
/// address.
inline constexpr std::uint32_t poison = 0xfffafffa;

/// Sets every register of wave number `index` of `group`, PC and status. `used_vgprs` and
/// `used_agprs` are the counts the Wave object was last started with (it is pooled); they are
/// updated.
void start_wave(Wave& wave, Workgroup& group, unsigned index, unsigned& used_vgprs,
                unsigned& used_agprs);

} // namespace wavesim
