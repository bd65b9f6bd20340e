// Matrix products in device code: every instruction, every way operands and results travel, against
// the host. Under wavesim the LDS clocks of the declared accesses are compared as well.
#include "device_buffer.hpp"
#include "random.hpp"
#include "sim_counters.hpp"

#include <wavetile/launch/launch.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/accumulator.hpp>
#include <wavetile/matrix/global_operand.hpp>
#include <wavetile/matrix/mma.hpp>

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

/// How the operands reach the fragments.
enum class path { lds, lds_strided, global_aligned, global_unaligned, shuffles };

/// A wave's product: D (m x n) = C + A * B with A m x depth and B^T n x depth, dense rows.
template <class A, class B, matrix_shape Shape, int Steps>
struct product {
  using fragments = product_fragments<Shape, A, B>;
  using fa = typename fragments::a;
  using fb = typename fragments::b;
  using fd = typename fragments::accumulator;
  using C = typename fd::element_type;
  static constexpr int lanes_k = 64 / Shape.m;
  using read_a = lds_operand<fa, Steps>;
  using read_b = lds_operand<fb, Steps>;
  static constexpr int depth = 2 * read_a::depth; ///< two reads
  static constexpr layout where_a = row_major(Shape.m, depth, sizeof(A));
  static constexpr layout where_b = row_major(Shape.n, depth, sizeof(B));
  static constexpr layout where_at = row_major(depth, Shape.m, sizeof(A));
  static constexpr layout where_bt = row_major(depth, Shape.n, sizeof(B));
};

template <class P, path Path, class A, class B, class C>
WAVETILE_KERNEL void product_kernel(const A* a, const B* b, const C* c, C* d) {
  using fd = typename P::fd;
  constexpr matrix_shape shape = fd::shape;
  const int lane = thread_id();
  const auto matrix_a = make_view(a, shape.m, P::depth);
  const auto matrix_b = make_view(b, shape.n, P::depth);
  fd sum = load_accumulator<fd>(make_view(c, shape.m, shape.n), 0, 0);
  if constexpr (Path == path::lds || Path == path::lds_strided) {
    constexpr bool strided = Path == path::lds_strided;
    using tile_a = tile<A, strided ? P::where_at : P::where_a>;
    using tile_b = tile<B, strided ? P::where_bt : P::where_b>;
    WAVETILE_SHARED typename tile_a::storage memory_a;
    WAVETILE_SHARED typename tile_b::storage memory_b;
    const tile_a ta(memory_a);
    const tile_b tb(memory_b);
    for (int i = lane; i < shape.m * P::depth; i += wave_size) {
      const int row = i / P::depth, k = i % P::depth;
      strided ? ta.write(k, row, a[i]) : ta.write(row, k, a[i]);
    }
    for (int i = lane; i < shape.n * P::depth; i += wave_size) {
      const int row = i / P::depth, k = i % P::depth;
      strided ? tb.write(k, row, b[i]) : tb.write(row, k, b[i]);
    }
    __syncthreads();
    for (int k = 0; k < P::depth; k += P::read_a::depth) {
      if constexpr (strided)
        mma(sum, lds_operand_strided<typename P::fa, P::read_a::pack::steps>::load(ta, 0, k),
            lds_operand_strided<typename P::fb, P::read_b::pack::steps>::load(tb, 0, k));
      else
        mma(sum, P::read_a::load(ta, 0, k), P::read_b::load(tb, 0, k));
    }
  } else {
    constexpr bool aligned = Path == path::global_aligned;
    for (int k = 0; k < P::depth; k += P::read_a::depth) {
      const auto pa = load_operand<typename P::read_a, aligned>(matrix_a, 0, k);
      const auto pb = load_operand<typename P::read_b, aligned>(matrix_b, 0, k);
      if constexpr (Path == path::shuffles)
        for (int s = 0; s < P::read_a::pack::steps; ++s)
          plain_mma(sum, pa.step[s], pb.step[s]);
      else
        mma(sum, pa, pb);
    }
  }
  store_accumulator(make_view(d, shape.m, shape.n), sum, 0, 0);
}

template <class T>
double number(T x) {
  if constexpr (sizeof(T) <= 2 && !detail::is_same_v<T, int8_t>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

template <class T>
std::vector<T> elements(std::size_t count, std::uint64_t seed, bool integers) {
  test::random_source random(seed);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(integers || detail::is_integer_v<T>
                         ? convert<T>(static_cast<float>(random.between(-4, 4)))
                         : convert<T>(random.normal()));
  return values;
}

template <class P, path Path, class A, class B>
void check_path(bool integers) {
  using C = typename P::C;
  constexpr matrix_shape shape = P::fd::shape;
  constexpr auto depth = static_cast<std::size_t>(P::depth);
  constexpr auto m = static_cast<std::size_t>(shape.m), n = static_cast<std::size_t>(shape.n);
  const auto a = elements<A>(m * depth, 1, integers);
  const auto b = elements<B>(n * depth, 2, integers);
  const auto c = elements<C>(m * n, 3, integers);
  device_buffer<A> device_a(a);
  device_buffer<B> device_b(b);
  device_buffer<C> device_c(c), device_d(m * n);
  const status started =
      launch(product_kernel<P, Path, A, B, C>, {.grid = 1, .block = 64}, nullptr,
             static_cast<const A*>(device_a.data()), static_cast<const B*>(device_b.data()),
             static_cast<const C*>(device_c.data()), device_d.data());
  ASSERT_TRUE(started.ok()) << started.message();
  const std::vector<C> d = device_d.download();
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double exact = number(c[i * n + j]), total = std::fabs(exact);
      for (std::size_t k = 0; k < depth; ++k) {
        const double p = number(a[i * depth + k]) * number(b[j * depth + k]);
        exact += p;
        total += std::fabs(p);
      }
      // Integers this small are exact in any order. Otherwise each addition rounds, or cuts below
      // 2^-24 of a group's largest exponent: within 2^-22 of the magnitudes for each k, amply.
      const double unit = integers ? 0 : detail::is_same_v<C, double> ? 0x1p-52 : 0x1p-22;
      ASSERT_LE(std::fabs(number(d[i * n + j]) - exact), static_cast<double>(depth) * unit * total)
          << "row " << i << " column " << j;
    }
}

template <class A, class B, matrix_shape Shape, int Steps>
void check_product() {
  using P = product<A, B, Shape, Steps>;
  for (const bool integers : {true, false}) {
    check_path<P, path::lds, A, B>(integers);
    check_path<P, path::lds_strided, A, B>(integers);
    check_path<P, path::global_aligned, A, B>(integers);
    check_path<P, path::global_unaligned, A, B>(integers);
    check_path<P, path::shuffles, A, B>(integers);
  }
}

template <class A, class B>
void check_shapes() {
  constexpr int steps = 16 / (16 * shape_16x16<A>.k / 64 * static_cast<int>(sizeof(A)));
  check_product<A, B, shape_16x16<A>, steps>();
  check_product<A, B, shape_16x16<A>, 1>();
  if constexpr (sizeof(A) < 8) {
    check_product<A, B, shape_32x32<A>, steps>();
    check_product<A, B, shape_32x32<A>, 1>();
  }
}

TEST(mma, fp64) {
  check_shapes<double, double>();
}
TEST(mma, fp32) {
  check_shapes<float, float>();
}
TEST(mma, fp16) {
  check_shapes<fp16, fp16>();
}
TEST(mma, bf16) {
  check_shapes<bf16, bf16>();
}
TEST(mma, int8) {
  check_shapes<int8_t, int8_t>();
}
TEST(mma, fp8_e4m3) {
  check_shapes<fp8_e4m3_fnuz, fp8_e4m3_fnuz>();
}
TEST(mma, fp8_e5m2) {
  check_shapes<fp8_e5m2_fnuz, fp8_e5m2_fnuz>();
}
TEST(mma, fp8_mixed) {
  check_shapes<fp8_e4m3_fnuz, fp8_e5m2_fnuz>();
  check_shapes<fp8_e5m2_fnuz, fp8_e4m3_fnuz>();
}

// Operands that stick out of their matrices in both directions: what is outside counts as zero and
// is not read (the guard zones hold no zeros, and wavesim faults on reads outside allocations).
template <bool Aligned>
WAVETILE_KERNEL void ragged_kernel(view<const bf16, 2> a, view<const bf16, 2> b, view<float, 2> d) {
  using fragments = product_fragments<shape_32x32<bf16>, bf16>;
  using read_a = lds_operand<fragments::a>;
  using read_b = lds_operand<fragments::b>;
  fragments::accumulator sum =
      load_accumulator<fragments::accumulator>(view<const float, 2>(d), 0, 0);
  for (int k = 0; k < a.extent[1]; k += read_a::depth)
    mma(sum, load_operand<read_a, Aligned>(a, 0, k), load_operand<read_b, Aligned>(b, 0, k));
  store_accumulator(d, sum, 0, 0);
}

TEST(global_operand, stays_inside_its_matrix) {
  for (const auto& [m, n, k] : {std::tuple{32, 32, 16}, {31, 7, 40}, {1, 32, 3}, {17, 1, 129}})
    for (const int pad : {0, 8, 1}) {
      const bool aligned = (k + pad) % 8 == 0;
      const std::int64_t ld = k + pad;
      const auto rows = [](std::int64_t count, std::int64_t stride, std::int64_t width) {
        return static_cast<std::size_t>((count - 1) * stride + width);
      };
      const auto a = elements<bf16>(rows(m, ld, k), 7, true);
      const auto b = elements<bf16>(rows(n, ld, k), 8, true);
      const auto c = elements<float>(rows(m, n + 3, n), 9, true);
      device_buffer<bf16> device_a(a), device_b(b);
      device_buffer<float> device_d(c);
      const auto va = make_strided_view<const bf16, 2>(device_a.data(), {m, k}, {ld, 1});
      const auto vb = make_strided_view<const bf16, 2>(device_b.data(), {n, k}, {ld, 1});
      const auto vd = make_strided_view<float, 2>(device_d.data(), {m, n}, {n + 3, 1});
      const status started = launch(aligned ? ragged_kernel<true> : ragged_kernel<false>,
                                    {.grid = 1, .block = 64}, nullptr, va, vb, vd);
      ASSERT_TRUE(started.ok()) << started.message();
      std::vector<float> expected = c;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          for (int kk = 0; kk < k; ++kk)
            expected[static_cast<std::size_t>(i * (n + 3) + j)] +=
                static_cast<float>(a[static_cast<std::size_t>(i * ld + kk)]) *
                static_cast<float>(b[static_cast<std::size_t>(j * ld + kk)]);
      EXPECT_EQ(device_d.download(), expected) << m << " " << n << " " << k << " " << pad;
    }
}

// Accumulators through LDS, as they are and transposed, and as operands of a second product.
WAVETILE_KERNEL void accumulator_kernel(const float* in, float* plain, bf16* transposed,
                                        const bf16* v, float* product) {
  using fragments = product_fragments<shape_32x32<bf16>, bf16>;
  using fd = fragments::accumulator;
  using narrow = fragment<fragment_role::accumulator, shape_32x32<bf16>, bf16, matrix_type::fp32>;
  using tile_d = tile<float, row_major(32, 32, 4)>;
  using tile_t = tile<bf16, row_major(32, 32, 2)>;
  WAVETILE_SHARED tile_d::storage memory_d;
  WAVETILE_SHARED tile_t::storage memory_t;
  const tile_d td(memory_d);
  const tile_t tt(memory_t);
  const int lane = thread_id();
  const fd d = load_accumulator<fd>(make_view(in, 32, 32), 0, 0);
  lds_accumulator<fd>::store(td, d, 0, 0);
  lds_accumulator_transposed<narrow>::store(tt, convert<bf16>(d), 0, 0);
  __syncthreads();
  for (int i = lane; i < 32 * 32; i += wave_size) {
    plain[i] = td.read(i / 32, i % 32);
    transposed[i] = tt.read(i / 32, i % 32);
  }
  fd sum{};
  using read_v = lds_operand<fragments::a, 1>;
  const auto matrix_v = make_view(v, 32, 32);
  const auto part = [&](int k) { return load_operand<read_v, true>(matrix_v, 0, k).step[0]; };
  mma(sum, part(0), as_operand<fragment_role::b, bf16, 0>(d));
  mma(sum, part(8), as_operand<fragment_role::b, bf16, 1>(d));
  mma(sum, part(16), as_operand<fragment_role::b, bf16, 2>(d));
  mma(sum, part(24), as_operand<fragment_role::b, bf16, 3>(d));
  store_accumulator(make_view(product, 32, 32), sum, 0, 0);
}

TEST(accumulator, travels) {
  const auto in = elements<float>(32 * 32, 21, true);
  const auto v = elements<bf16>(32 * 32, 22, true);
  device_buffer<float> device_in(in), plain(32 * 32), product(32 * 32);
  device_buffer<bf16> device_v(v), transposed(32 * 32);
  const status started =
      launch(accumulator_kernel, {.grid = 1, .block = 64}, nullptr,
             static_cast<const float*>(device_in.data()), plain.data(), transposed.data(),
             static_cast<const bf16*>(device_v.data()), product.data());
  ASSERT_TRUE(started.ok()) << started.message();
  EXPECT_EQ(plain.download(), in);
  const auto t = transposed.download();
  const auto p = product.download();
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = 0; j < 32; ++j) {
      EXPECT_EQ(static_cast<float>(t[j * 32 + i]), in[i * 32 + j]);
      float sum = 0;
      for (std::size_t k = 0; k < 32; ++k)
        sum += static_cast<float>(v[i * 32 + k]) * in[k * 32 + j];
      EXPECT_EQ(p[i * 32 + j], sum);
    }
}

// HIP's own types in tiles and matrices: the same bits, the same product.
WAVETILE_KERNEL void hip_types_kernel(const __half* in, __half* out) {
  using fragments = product_fragments<shape_16x16<__half>, __half>;
  using tile_type = tile<__half, row_major(32, 32, 2)>;
  WAVETILE_SHARED tile_type::storage memory;
  const tile_type t(memory);
  const int lane = thread_id();
  for (int i = lane; i < 32 * 32; i += wave_size)
    t.write(i / 32, i % 32, in[i]);
  __syncthreads();
  using read_a = lds_operand<fragments::a>;
  using read_b = lds_operand<fragments::b>;
  fragments::accumulator sum{};
  mma(sum, read_a::load(t, 0, 0), read_b::load(t, 16, 0));
  const auto narrow = convert<fp16>(sum);
  __syncthreads();
  lds_accumulator<detail::remove_cv_t<decltype(narrow)>>::store(t, narrow, 0, 0);
  __syncthreads();
  for (int i = lane; i < 16 * 16; i += wave_size)
    out[i] = t.read(i / 16, i % 16);
}

TEST(mma, takes_the_types_of_hip) {
  const auto in = elements<fp16>(32 * 32, 41, true);
  device_buffer<fp16> device_in(in), device_out(16 * 16);
  const status started = launch(hip_types_kernel, {.grid = 1, .block = 64}, nullptr,
                                reinterpret_cast<const __half*>(device_in.data()),
                                reinterpret_cast<__half*>(device_out.data()));
  ASSERT_TRUE(started.ok()) << started.message();
  const auto out = device_out.download();
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < 32; ++k)
        sum += static_cast<float>(in[i * 32 + k]) * static_cast<float>(in[(16 + j) * 32 + k]);
      EXPECT_EQ(static_cast<float>(out[i * 16 + j]), sum);
    }
}

// A tile with a searched layout: the reads of both operands take the clocks that were predicted, in
// the instructions that were declared, and one matrix instruction does each step.
using fragments16 = product_fragments<shape_16x16<fp16>, fp16>;
using clocked_a = lds_operand<fragments16::a>;
using clocked_b = lds_operand<fragments16::b>;
constexpr lds_access clocked_write = lds_write(16, [](int lane) {
  return coordinate{lane / 8, lane % 8 * 8};
});
constexpr layout_choice clocked =
    choose_layout<fp16, 32, 64>(targets::gfx942, 65536, clocked_a::access, clocked_write);
static_assert(clocked.conflict_free);

WAVETILE_KERNEL void clocked_kernel(const fp16* in, float* out) {
  using tile_type = tile<fp16, clocked.chosen>;
  WAVETILE_SHARED tile_type::storage memory;
  const tile_type t(memory);
  const int lane = thread_id();
  for (int row = 0; row < 32; row += 8)
    t.write_vec(row + lane / 8, lane % 8 * 8, load_vec<8>(in + row * 64 + lane * 8));
  __syncthreads();
  fragments16::accumulator sum{};
  for (int k = 0; k < 64; k += clocked_a::depth)
    mma(sum, clocked_a::load(t, 0, k), clocked_b::load(t, 16, k));
  store_accumulator(make_view(out, 16, 16), sum, 0, 0);
}

TEST(lds_operand, costs_what_was_predicted) {
  const auto in = elements<fp16>(32 * 64, 31, true);
  device_buffer<fp16> device_in(in);
  device_buffer<float> out(16 * 16);
  const auto run = [&] {
    const status started = launch(clocked_kernel, {.grid = 1, .block = 64}, nullptr,
                                  static_cast<const fp16*>(device_in.data()), out.data());
    ASSERT_TRUE(started.ok()) << started.message();
  };
  const auto counts = test::count_kernels(run);
  if (!counts) {
    run();
  } else {
    EXPECT_EQ(counts->lds_conflicts, 0u);
    EXPECT_EQ(counts->lds_clocks, 8u * (4 + 2 * 64 / clocked_a::depth));
    EXPECT_EQ(counts->instructions[wavesim_unit_mfma], 64u / 16);
    EXPECT_EQ(counts->mfma_flops, 2u * 16 * 16 * 64);
    EXPECT_EQ(counts->mfma_clocks, 4u * 16);
    for (const wavesim_instruction& one : test::counted_instructions()) {
      const std::string name = one.mnemonic;
      if (name.rfind("ds_read", 0) == 0)
        EXPECT_EQ(name.rfind("ds_read_b128", 0), 0u) << name;
    }
  }
  const auto d = out.download();
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < 64; ++k)
        sum += static_cast<float>(in[i * 64 + k]) * static_cast<float>(in[(16 + j) * 64 + k]);
      EXPECT_EQ(d[i * 16 + j], sum);
    }
}

} // namespace
} // namespace wavetile
