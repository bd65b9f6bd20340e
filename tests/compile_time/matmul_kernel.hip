// One kernel, with the largest tile.
#include <wavetile/wavetile.hpp>

namespace wavetile::kernels {
using types = matmul_types<bf16, bf16, bf16, bf16, epilogue::steps<>>;
constexpr matmul_config cut = tile_config(matmul_choice::large, sizeof(bf16));
constexpr operand_order along = operand_order::k_contiguous;
template WAVETILE_KERNEL void matmul_tile<types, cut, along, along>(matmul_arguments<types>);
} // namespace wavetile::kernels
