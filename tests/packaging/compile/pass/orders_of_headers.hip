// No operator's header changes what another one's names mean, whichever comes first.
// flags: -DWAVETILE_TEST_ASCENDING=1
// flags: -DWAVETILE_TEST_ASCENDING=0
#if WAVETILE_TEST_ASCENDING
#include <wavetile/attention.hpp>
#include <wavetile/attention_append.hpp>
#include <wavetile/attention_decode.hpp>
#include <wavetile/layer_norm.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/matmul_block_scaled.hpp>
#include <wavetile/matmul_grouped.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/rms_norm.hpp>
#include <wavetile/softmax_backward.hpp>
#include <wavetile/softmax_forward.hpp>
#else
// clang-format off
#include <wavetile/softmax_forward.hpp>
#include <wavetile/softmax_backward.hpp>
#include <wavetile/rms_norm.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/matmul_grouped.hpp>
#include <wavetile/matmul_block_scaled.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/layer_norm.hpp>
#include <wavetile/attention_decode.hpp>
#include <wavetile/attention_append.hpp>
#include <wavetile/attention.hpp>
// clang-format on
#endif

#include "../instantiate.hpp"
