// The kernels compiled without optimisation.
#include "attention_case.hpp"

#include <wavetile/attention_append.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(attention_debug, prefill) {
  attention_case<bf16> c{.q_heads = 2, .kv_heads = 1, .queries = 40, .keys = 70};
  c.options.causal = true;
  c.want_lse = true;
  c.fill();
  c.run_and_check();
}

TEST(attention_debug, cache) {
  attention_case<bf16> c{.q_heads = 4, .kv_heads = 2, .queries = 3, .keys = 600};
  c.options.causal = true;
  c.fill();
  device_buffer<bf16> q(c.q), k(c.k), v(c.v), o(c.o_array().span()), kc(600 * 2 * 64),
      vc(600 * 2 * 64);
  device_buffer<float> memory(2 * 3 * 4 * 65);
  const auto in = [](device_buffer<bf16>& buffer, std::int64_t rows, std::int64_t heads) {
    return make_view(static_cast<const bf16*>(buffer.data()), 1, rows, heads, 64);
  };
  const auto out = [](device_buffer<bf16>& buffer, std::int64_t rows, std::int64_t heads) {
    return make_view(buffer.data(), 1, rows, heads, 64);
  };
  ASSERT_TRUE(append_to_cache(in(k, 600, 2), in(v, 600, 2), out(kc, 600, 2), out(vc, 600, 2)).ok());
  ASSERT_TRUE(verify_bits(kc.download(), c.k));
  const status outcome = attention_decode(in(q, 3, 4), in(kc, 600, 2), in(vc, 600, 2), out(o, 3, 4),
                                          {.memory = {memory.data(), 2 * 3 * 4 * 65 * 4}});
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  c.o = o.download();
  c.check();
}

} // namespace
