// Results of other types than the inputs, and HIP's own types.
#include "attention_case.hpp"

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class Input, class Output>
void check_output() {
  for (const int qk : {64, 96}) {
    attention_case<Input, Output> c{
        .q_heads = 4, .kv_heads = 2, .queries = 40, .keys = 130, .qk = qk, .value = qk};
    c.options.causal = true;
    c.o_room = {3, 1, 1};
    c.want_lse = true;
    c.fill(6);
    c.run_and_check();
  }
}

TEST(attention_output, fp32_of_fp16) {
  check_output<fp16, float>();
}
TEST(attention_output, fp32_of_bf16) {
  check_output<bf16, float>();
}

TEST(attention_output, types_of_hip) {
  attention_case<bf16> c{.queries = 5, .keys = 9};
  c.fill();
  c.run();
  ASSERT_FALSE(HasFatalFailure());
  device_buffer<bf16> q(c.q), k(c.k), v(c.v), o(c.o.size());
  const auto in = [](device_buffer<bf16>& buffer, int rows) {
    return make_view(reinterpret_cast<const __hip_bfloat16*>(buffer.data()), 1, rows, 1, 64);
  };
  const auto out = make_view(reinterpret_cast<__hip_bfloat16*>(o.data()), 1, 5, 1, 64);
  ASSERT_TRUE(attention(in(q, 5), in(k, 9), in(v, 9), out).ok());
  ASSERT_TRUE(verify_bits(o.download(), c.o));
}

} // namespace
