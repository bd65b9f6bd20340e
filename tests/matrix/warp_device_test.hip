// NVIDIA's matrix instructions on the device: products, reads from LDS and asynchronous copies,
// exactly, against the host.
#include "device_buffer.hpp"
#include "random.hpp"

#include <wavetile/arch/cuda/cp_async.hpp>
#include <wavetile/core/convert.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/warp_operand.hpp>
#include <wavetile/wave/lane.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

template <class T>
double number(T x) {
  if constexpr (sizeof(T) <= 2 && !detail::is_same_v<T, int8_t>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

/// Small integers, of which sums of products are exact in every type.
template <class T>
std::vector<T> integers(std::size_t count, std::uint64_t seed) {
  test::random_source random(seed);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(convert<T>(static_cast<float>(random.between(-6, 6))));
  return values;
}

template <class Fragment, class T>
WAVETILE_DEVICE Fragment gather(const T* matrix, int columns) {
  Fragment result;
  T elements[Fragment::size];
  for (int i = 0; i < Fragment::size; ++i) {
    const matrix_element at = Fragment::element(lane_id(), i);
    elements[i] = matrix[at.row * columns + at.column];
  }
  memcpy(&result, elements, sizeof result);
  return result;
}

// D = C + A B + A B: two steps on one accumulator.
template <class A, class B>
WAVETILE_KERNEL void mma_kernel(const A* a, const B* b, const accumulator_t<A>* c,
                                accumulator_t<A>* d) {
  using fd = warp_accumulator<A>;
  constexpr matrix_shape shape = fd::shape;
  const auto fa = gather<warp_a<A>>(a, shape.k);
  const auto fb = gather<warp_b<B>>(b, shape.n);
  auto sum = gather<fd>(c, shape.n);
  warp_mma(sum, fa, fb);
  warp_mma(sum, fa, fb);
  for (int i = 0; i < fd::size; ++i) {
    const matrix_element at = fd::element(lane_id(), i);
    d[at.row * shape.n + at.column] = sum.value[i];
  }
}

template <class A, class B = A>
void check_mma() {
  using C = accumulator_t<A>;
  constexpr matrix_shape shape = warp_shape(sizeof(A));
  constexpr std::size_t m = shape.m, n = shape.n, k = shape.k;
  const auto a = integers<A>(m * k, 1);
  const auto b = integers<B>(k * n, 2);
  const auto c = integers<C>(m * n, 3);
  device_buffer<A> device_a(a);
  device_buffer<B> device_b(b);
  device_buffer<C> device_c(c), device_d(m * n);
  const status started = launch(mma_kernel<A, B>, {.grid = 1, .block = 32}, nullptr,
                                device_a.data(), device_b.data(), device_c.data(), device_d.data());
  ASSERT_TRUE(started.ok()) << started.message();
  const std::vector<C> d = device_d.download();
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double exact = number(c[i * n + j]);
      for (std::size_t e = 0; e < k; ++e)
        exact += 2 * number(a[i * k + e]) * number(b[e * n + j]);
      ASSERT_EQ(number(d[i * n + j]), exact) << "row " << i << " column " << j;
    }
}

bool has_fp8() {
  device_info device;
  return known_device(0, device).ok() && device.facts().fp8 == fp8_support::ocp;
}

TEST(warp_mma, fp64) {
  check_mma<double>();
}
TEST(warp_mma, fp16) {
  check_mma<fp16>();
}
TEST(warp_mma, bf16) {
  check_mma<bf16>();
}
TEST(warp_mma, int8) {
  check_mma<int8_t>();
}
TEST(warp_mma, fp8) {
  if (!has_fp8())
    GTEST_SKIP() << "this device has no fp8";
  check_mma<fp8_e4m3_ocp>();
  check_mma<fp8_e5m2_ocp>();
  check_mma<fp8_e4m3_ocp, fp8_e5m2_ocp>();
  check_mma<fp8_e5m2_ocp, fp8_e4m3_ocp>();
}

// int8 sums wrap at 32 bits.
TEST(warp_mma, int8_wraps) {
  device_buffer<int8_t> a(std::vector<int8_t>(16 * 32, 127)), b(std::vector<int8_t>(32 * 8, 127));
  device_buffer<int32_t> c(std::vector<int32_t>(16 * 8, 0x7FFFFFFF)), d(16 * 8);
  const status started = launch(mma_kernel<int8_t, int8_t>, {.grid = 1, .block = 32}, nullptr,
                                a.data(), b.data(), c.data(), d.data());
  ASSERT_TRUE(started.ok()) << started.message();
  const std::uint32_t expected = 0x7FFFFFFFu + 2u * 32u * 127u * 127u;
  for (const int32_t one : d.download())
    ASSERT_EQ(static_cast<std::uint32_t>(one), expected);
}

// A tile comes to LDS by cp.async, in the layout that was searched, and goes to fragments: those of
// both orders are what the host says.
template <fragment_role Role, class T, warp_order Order, int Rows, int Columns>
struct tile_case {
  using operand = warp_operand<Role, T, Order>;
  static constexpr int in_row = Columns * static_cast<int>(sizeof(T)) / 16;
  static constexpr lds_access write = lds_write(16, [](int lane) {
    return lane < 32 ? coordinate{lane / in_row, lane % in_row * operand::run} : inactive_lane;
  });
  static constexpr layout_choice choice =
      choose_layout<T, Rows, Columns>(targets::sm80, 65536, operand::access, write);
  static_assert(choice.conflict_free);
};

template <class Case, class T, int Rows, int Columns>
WAVETILE_KERNEL void operand_kernel(const T* matrix, uint32_t* out, int row, int k) {
  constexpr layout where = Case::choice.chosen;
  WAVETILE_SHARED alignas(16) unsigned char memory[where.bytes()];
  const uint32_t base = instruction::lds_address(memory);
  for (int piece = lane_id(); piece < Rows * Case::in_row; piece += wave_size) {
    const int r = piece / Case::in_row, c = piece % Case::in_row * Case::operand::run;
    instruction::copy_async(base + static_cast<uint32_t>(where.offset(r, c)),
                            matrix + r * Columns + c);
  }
  instruction::close_copies();
  instruction::wait_copies<0>();
  instruction::barrier();
  const auto read = Case::operand::template load<where>(base, lane_id(), row, k);
  static_assert(sizeof read == 16);
  memcpy(out + lane_id() * 4, &read, sizeof read);
}

template <fragment_role Role, class T, warp_order Order, int Rows, int Columns>
void check_role() {
  using one = tile_case<Role, T, Order, Rows, Columns>;
  using operand = typename one::operand;
  constexpr bool along = Order == warp_order::k_contiguous;
  std::vector<T> matrix(std::size_t{Rows} * Columns);
  test::random_source random(5);
  for (T& element : matrix)
    element = detail::bit_cast<T>(
        static_cast<detail::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>(
            random.between(0, 65535)));
  device_buffer<T> device_matrix(matrix);
  device_buffer<uint32_t> out(32 * 4);
  for (int row = 0; row < (along ? Rows : Columns); row += 16)
    for (int k = 0; k < (along ? Columns : Rows); k += operand::depth) {
      const status started = launch(operand_kernel<one, T, Rows, Columns>, {.grid = 1, .block = 32},
                                    nullptr, device_matrix.data(), out.data(), row, k);
      ASSERT_TRUE(started.ok()) << started.message();
      const std::vector<uint32_t> words = out.download();
      for (int lane = 0; lane < 32; ++lane) {
        T elements[warp_a<T>::size];
        std::memcpy(elements, &words[static_cast<std::size_t>(lane) * 4], sizeof elements);
        for (int i = 0; i < warp_a<T>::size; ++i) {
          constexpr int in_half = warp_b<T>::size; // of a pair of B's fragments
          const matrix_element of_b = warp_b<T>::element(lane, i % in_half);
          const matrix_element at = Role == fragment_role::a
                                        ? warp_a<T>::element(lane, i)
                                        : matrix_element{of_b.column + i / in_half * 8, of_b.row};
          const int r = row + operand::row_of(at.row), c = k + at.column;
          const T expected =
              matrix[static_cast<std::size_t>(along ? r * Columns + c : c * Columns + r)];
          ASSERT_EQ(std::memcmp(&elements[i], &expected, sizeof(T)), 0)
              << "rows from " << row << ", k from " << k << ", lane " << lane << ", element " << i;
        }
      }
    }
}

template <class T, warp_order Order, int Rows, int Columns>
void check_operand() {
  check_role<fragment_role::a, T, Order, Rows, Columns>();
  check_role<fragment_role::b, T, Order, Rows, Columns>();
}

TEST(warp_operand, sixteen_bits) {
  check_operand<bf16, warp_order::k_contiguous, 32, 64>();
  check_operand<bf16, warp_order::k_contiguous, 32, 32>();
  check_operand<bf16, warp_order::k_strided, 32, 64>();
  check_operand<fp16, warp_order::k_strided, 32, 128>();
}
TEST(warp_operand, eight_bits) {
  check_operand<int8_t, warp_order::k_contiguous, 32, 128>();
  check_operand<int8_t, warp_order::k_contiguous, 32, 64>();
  check_operand<int8_t, warp_order::k_strided, 64, 128>();
  check_operand<int8_t, warp_order::k_strided, 64, 64>();
}

// What is beyond the size is zero and not read: the source of the last lanes is null.
WAVETILE_KERNEL void zero_fill_kernel(const unsigned char* from, unsigned char* out) {
  WAVETILE_SHARED alignas(16) unsigned char memory[32 * 16];
  const int lane = lane_id();
  for (int i = 0; i < 16; ++i)
    memory[lane * 16 + i] = 0xAA;
  instruction::barrier();
  const int bytes = lane <= 16 ? lane : 0;
  instruction::copy_async(instruction::lds_address(memory + lane * 16),
                          lane <= 16 ? from + lane * 16 : nullptr, bytes);
  instruction::close_copies();
  instruction::wait_copies<0>();
  instruction::barrier();
  for (int i = 0; i < 16; ++i)
    out[lane * 16 + i] = memory[lane * 16 + i];
}

TEST(copy_async, fills_with_zeros) {
  std::vector<unsigned char> in(17 * 16);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<unsigned char>(i % 251 + 1);
  device_buffer<unsigned char> from(in), out(32 * 16);
  const status started =
      launch(zero_fill_kernel, {.grid = 1, .block = 32}, nullptr, from.data(), out.data());
  ASSERT_TRUE(started.ok()) << started.message();
  const auto result = out.download();
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(result[lane * 16 + i], lane <= 16 && i < lane ? in[lane * 16 + i] : 0)
          << lane << " " << i;
}

// A ring of three stages: while one is summed, two are on their way.
WAVETILE_KERNEL void ring_kernel(const int32_t* from, int32_t* out, int steps) {
  WAVETILE_SHARED alignas(16) int32_t memory[3][32 * 4];
  const int lane = lane_id();
  const auto fetch = [&](int step) {
    if (step < steps)
      instruction::copy_async(instruction::lds_address(&memory[step % 3][lane * 4]),
                              from + step * 128 + lane * 4);
    instruction::close_copies();
  };
  fetch(0);
  fetch(1);
  int32_t sum = 0;
  for (int step = 0; step < steps; ++step) {
    instruction::wait_copies<1>();
    instruction::barrier();
    fetch(step + 2);
    for (int i = 0; i < 4; ++i)
      sum += memory[step % 3][(lane + 1) % 32 * 4 + i] * (step + 1);
  }
  out[lane] = sum;
}

TEST(copy_async, groups_are_waited_for) {
  constexpr int steps = 50;
  std::vector<int32_t> in(std::size_t{steps} * 128);
  test::random_source random(9);
  for (int32_t& value : in)
    value = static_cast<int32_t>(random.between(-1000, 1000));
  device_buffer<int32_t> from(in), out(32);
  const status started =
      launch(ring_kernel, {.grid = 1, .block = 32}, nullptr, from.data(), out.data(), steps);
  ASSERT_TRUE(started.ok()) << started.message();
  const auto result = out.download();
  for (int lane = 0; lane < 32; ++lane) {
    int32_t sum = 0;
    for (int step = 0; step < steps; ++step)
      for (int i = 0; i < 4; ++i)
        sum += in[static_cast<std::size_t>(step * 128 + (lane + 1) % 32 * 4 + i)] * (step + 1);
    EXPECT_EQ(result[static_cast<std::size_t>(lane)], sum);
  }
}

} // namespace
} // namespace wavetile
