/// \file
/// The few machine instructions that the layers above are made of, under names all targets share:
///
/// - `workitem_x` …, `workgroup_x`, `workgroup_size_x` …: place and size, from the launch;
/// - `count_below(mask)`: bits of `mask` below the calling lane's;
/// - `ballot(predicate)`: mask of the calling lanes for which it holds;
/// - `in_mask(mask)`: 1 in the lanes of a mask that all lanes share, else 0;
/// - `read_lane(word, lane)`: another lane's dword; `read_uniform_lane`: of a lane that is the same
///   for all; `read_first_lane`: of the first active lane;
/// - `swizzle<And, Or, Xor>(word)`: lane i of 32 reads lane ((i & And) | Or) ^ Xor;
/// - `dpp_move<Control>(word)`: the dword of the lane that a DPP control names, 0 where there is
///   none; `dpp_move_or<Control, RowMask, BankMask>(word, otherwise)`: `otherwise` there, and where
///   the masks leave a lane out (bit r of RowMask: row r of 16 lanes; bit b of BankMask: lanes
///   4b … 4b + 3 of every row);
/// - `dpp_add_where_reached<Control, RowMask>(value)`: plus that lane's fp32 where there is one;
///   `after_dpp_add(value)` behind the last of them;
/// - `barrier()`: all work-items of the workgroup, with what they wrote to LDS and global memory.
///
/// For the library's own use: wave/ and group/ offer them in their proper form.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_HIP
#include <wavetile/arch/amdgcn/instructions.hpp>
#elif WAVETILE_CUDA
#include <wavetile/arch/cuda/instructions.hpp>
#endif
