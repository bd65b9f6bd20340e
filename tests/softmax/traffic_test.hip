// What the kernels move and issue, counted by wavesim; skipped on a GPU.
#include "softmax_case.hpp"

#include "sim_counters.hpp"

#include <map>

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class Input, class Output = Input>
std::optional<wavesim_counts> count(std::int64_t rows, std::int64_t columns,
                                    const softmax_options& options = {}) {
  const auto elements = static_cast<std::size_t>(rows * columns);
  device_buffer<Input> x(random_normals<Input>(elements, 1));
  device_buffer<Output> y(elements);
  return count_kernels([&] {
    const status outcome = softmax(make_view(static_cast<const Input*>(x.data()), rows, columns),
                                   make_view(y.data(), rows, columns), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  });
}

/// One reading and one writing of every element, all of it in 16-byte accesses, no scratch, no
/// conflict.
void expect_minimum(const wavesim_counts& counts, std::uint64_t read, std::uint64_t written) {
  EXPECT_EQ(counts.bytes_read, read);
  EXPECT_EQ(counts.bytes_written, written);
  EXPECT_EQ(counts.read_by_width[wavesim_width_16], read);
  EXPECT_EQ(counts.written_by_width[wavesim_width_16], written);
  EXPECT_EQ(counts.lines_read, read / 128);
  EXPECT_EQ(counts.lines_written, written / 128);
  EXPECT_EQ(counts.scratch_bytes_read + counts.scratch_bytes_written, 0u);
  EXPECT_EQ(counts.lds_conflicts, 0u);
}

TEST(softmax_traffic, of_8192_rows_of_1024_is_the_minimum) {
  constexpr std::int64_t rows = 8192, columns = 1024;
  const auto counts = count<float>(rows, columns);
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  expect_minimum(*counts, rows * columns * 4, rows * columns * 4);
  EXPECT_EQ(counts->dispatches, 1u);
  EXPECT_EQ(counts->waves, 8192u);
  // one v_exp_f32 for each 64 elements, one for the tail that every lane might have, and the
  // reciprocal of the sum
  EXPECT_EQ(counts->instructions[wavesim_unit_trans], 8192u * (1024 / 64 + 2));
  EXPECT_EQ(counts->lds_clocks, 0u); // a wave needs none
}

TEST(softmax_traffic, is_the_minimum_wherever_a_row_fits) {
  for (const std::int64_t columns : {64, 256, 1024, 4096, 16384, 65536}) {
    const auto counts = count<float>(4, columns);
    if (!counts)
      GTEST_SKIP() << "only wavesim counts";
    SCOPED_TRACE(columns);
    expect_minimum(*counts, 4 * static_cast<std::uint64_t>(columns) * 4,
                   4 * static_cast<std::uint64_t>(columns) * 4);
    const auto half = count<fp16>(4, columns * 2);
    expect_minimum(*half, 4 * static_cast<std::uint64_t>(columns) * 4,
                   4 * static_cast<std::uint64_t>(columns) * 4);
  }
}

// odd widths: the tail moves element by element, everything else in 16 bytes
TEST(softmax_traffic, of_odd_widths_is_the_minimum) {
  for (const std::int64_t columns : {3, 33, 1023, 4099}) {
    const auto counts = count<float>(5, columns);
    if (!counts)
      GTEST_SKIP() << "only wavesim counts";
    SCOPED_TRACE(columns);
    const auto bytes = static_cast<std::uint64_t>(5 * columns * 4);
    const auto tail = static_cast<std::uint64_t>(5 * (columns % 4) * 4);
    EXPECT_EQ(counts->bytes_read, bytes);
    EXPECT_EQ(counts->bytes_written, bytes);
    EXPECT_EQ(counts->read_by_width[wavesim_width_16], bytes - tail);
    EXPECT_EQ(counts->written_by_width[wavesim_width_16], bytes - tail);
  }
}

// what a causal mask hides is not read, but for the rest of a chunk
TEST(softmax_traffic, skips_the_future) {
  constexpr std::int64_t n = 512;
  const auto counts = count<float>(n, n, {.causal = true});
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  std::uint64_t chunks = 0;
  for (std::int64_t q = 0; q < n; ++q)
    chunks += static_cast<std::uint64_t>(q / 4 + 1);
  EXPECT_EQ(counts->bytes_read, chunks * 16);
  EXPECT_EQ(counts->bytes_written, static_cast<std::uint64_t>(n * n * 4));
}

// the DS instructions that run are those the kernels declare, at the clocks the conflict rule
// predicts
TEST(softmax_lds, instructions_and_clocks_are_the_declared_ones) {
  using team = kernels::workgroup_team<16>;
  constexpr std::int64_t rows = 3, columns = 10000; // the kernel `workgroup`, two reductions a row
  const auto counts = count<float>(rows, columns);
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  std::map<std::string, std::uint64_t> executions, clocks, conflicts;
  for (const auto& instruction : counted_instructions())
    if (std::string(instruction.mnemonic).starts_with("ds_")) {
      executions[instruction.mnemonic] += instruction.executions;
      clocks[instruction.mnemonic] += instruction.lds_clocks;
      conflicts[instruction.mnemonic] += instruction.lds_conflicts;
    }
  constexpr std::uint64_t reductions = rows * 2 * 16; // of all waves
  for (const kernels::lds_use& use : team::lds_uses) {
    const std::string name = name_of(use.op);
    EXPECT_EQ(executions[name], reductions * static_cast<std::uint64_t>(use.count)) << name;
    EXPECT_EQ(conflicts[name], 0u) << name;
    // free of conflicts: as many clocks as the instruction has phases
    const auto phases = static_cast<std::uint64_t>(targets::gfx942.service(use.op).phases);
    EXPECT_EQ(clocks[name], executions[name] * phases) << name;
    executions.erase(name);
  }
  EXPECT_TRUE(executions.empty()) << executions.begin()->first << " is not declared";
}

} // namespace
