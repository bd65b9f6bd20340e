/// \file
/// Runs each operator once on random data, compares it with fp64 and says what it moved. Exit code:
/// 0 when every row passed, 1 when one failed or there is no device, 2 for an argument.
#include "common/no_arguments.hpp"
#include "quickstart/table.hpp"

#include <wavetile/launch/device.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "quickstart", "runs each operator once and compares with fp64"))
    return *code;
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  wavesim_counters counters;
  if (wavesim_counters_find(&counters) != 0)
    std::printf("Device: wavesim, executing %s machine code on this CPU (no GPU; simulated "
                "counts)\n\n",
                device.arch_name);
  else
    std::printf("Device: %s (%s), %d CUs\n\n", device.product_name, device.arch_name,
                device.cu_count);
  quickstart::table rows;
  quickstart::softmax_rows(rows);
  quickstart::reduce_rows(rows);
  quickstart::norm_rows(rows);
  quickstart::matmul_rows(rows);
  quickstart::attention_rows(rows);
  return rows.finish() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "quickstart: error: %s\n", error.what());
  return 1;
}
