// One kernel: heads of 128, bf16.
#include <wavetile/wavetile.hpp>

using types =
    wavetile::kernels::attention_types<wavetile::bf16, wavetile::bf16, wavetile::kernels::no_mask>;
constexpr auto config = wavetile::kernels::attention_config_of({128, 128});

const void* kernel() {
  return reinterpret_cast<const void*>(&wavetile::kernels::attention_prefill<types, config>);
}
