/// \file
/// The whole library. Each layer is usable alone: include its headers instead. A host compiler gets
/// arch/, core/ and lds/; operators need one for device code.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/version.hpp>

#include <wavetile/arch/device_info.hpp>
#include <wavetile/arch/device_target.hpp>
#include <wavetile/arch/targets.hpp>

#include <wavetile/core/convert.hpp>
#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/core/view.hpp>

#include <wavetile/lds/access.hpp>
#include <wavetile/lds/bank_conflicts.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/lds/layout.hpp>
#include <wavetile/lds/report.hpp>
#include <wavetile/lds/tile.hpp>

#if WAVETILE_GPU
#include <wavetile/wave/broadcast.hpp>
#include <wavetile/wave/lane.hpp>
#include <wavetile/wave/operations.hpp>
#include <wavetile/wave/reduce.hpp>
#include <wavetile/wave/scan.hpp>
#include <wavetile/wave/shuffle.hpp>
#include <wavetile/wave/vote.hpp>

#include <wavetile/group/barrier.hpp>
#include <wavetile/group/broadcast.hpp>
#include <wavetile/group/copy.hpp>
#include <wavetile/group/direct_copy.hpp>
#include <wavetile/group/reduce.hpp>
#include <wavetile/group/scan.hpp>

#include <wavetile/launch/device.hpp>
#include <wavetile/launch/launch.hpp>

#include <wavetile/attention.hpp>
#include <wavetile/attention_append.hpp>
#include <wavetile/attention_decode.hpp>
#include <wavetile/layer_norm.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/matmul_block_scaled.hpp>
#include <wavetile/matmul_grouped.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/reduce_segmented.hpp>
#include <wavetile/rms_norm.hpp>
#include <wavetile/softmax.hpp>
#else
namespace wavetile {
/// Never defined: what a host compiler says of a call to an operator.
struct operators_need_a_device_compiler;
using append_to_cache = operators_need_a_device_compiler;
using attention = operators_need_a_device_compiler;
using attention_decode = operators_need_a_device_compiler;
using layer_norm = operators_need_a_device_compiler;
using log_softmax = operators_need_a_device_compiler;
using log_softmax_backward = operators_need_a_device_compiler;
using matmul = operators_need_a_device_compiler;
using matmul_block_scaled = operators_need_a_device_compiler;
using matmul_grouped = operators_need_a_device_compiler;
using reduce = operators_need_a_device_compiler;
using reduce_segmented = operators_need_a_device_compiler;
using rms_norm = operators_need_a_device_compiler;
using softmax = operators_need_a_device_compiler;
using softmax_backward = operators_need_a_device_compiler;
} // namespace wavetile
#endif

// fragments of gfx9's matrix instructions; those of NVIDIA's
#if WAVETILE_HIP
#include <wavetile/matrix/accumulator.hpp>
#include <wavetile/matrix/fragment.hpp>
#include <wavetile/matrix/global_operand.hpp>
#include <wavetile/matrix/lds_operand.hpp>
#include <wavetile/matrix/mma.hpp>
#elif WAVETILE_CUDA
#include <wavetile/matrix/warp_operand.hpp>
#endif
