/// \file
/// Reductions and scans over waves and workgroups: one kernel, in which only the primitive differs.
#pragma once

#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/group/reduce.hpp>
#include <wavetile/group/scan.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/wave/reduce.hpp>
#include <wavetile/wave/scan.hpp>

#if WAVETILE_BENCH_ROCPRIM
#include <rocprim/block/block_reduce.hpp>
#include <rocprim/block/block_scan.hpp>
#include <rocprim/warp/warp_reduce.hpp>
#include <rocprim/warp/warp_scan.hpp>
#endif
#if WAVETILE_BENCH_HIPCUB
#include <hipcub/block/block_reduce.hpp>
#include <hipcub/block/block_scan.hpp>
#include <hipcub/warp/warp_reduce.hpp>
#include <hipcub/warp/warp_scan.hpp>
#endif

#include <cmath>

namespace bench {
namespace lanes {

inline constexpr int group_size = 256, wave = 64;

/// A primitive: what a group of `lanes` work-items makes of one value each. `result` returns the
/// prefix of every lane (`scans`) or the sum, meaningful in one lane of the group (`holder`).
struct wave_reduce {
  static constexpr const char* name = "wave_reduce/wavetile";
  static constexpr int lanes = wave, holder = wave - 1;
  static constexpr bool scans = false;
  struct storage {};
  static WAVETILE_DEVICE float result(float x, storage&) { return wavetile::wave::reduce(x); }
};
struct wave_scan {
  static constexpr const char* name = "wave_scan/wavetile";
  static constexpr int lanes = wave, holder = 0;
  static constexpr bool scans = true;
  struct storage {};
  static WAVETILE_DEVICE float result(float x, storage&) {
    return wavetile::wave::inclusive_scan(x);
  }
};
struct group_reduce {
  static constexpr const char* name = "group_reduce/wavetile";
  static constexpr int lanes = group_size, holder = 0;
  static constexpr bool scans = false;
  using primitive = wavetile::group::reduce<float, group_size>;
  using storage = primitive::storage;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    return primitive::to_all(x, wavetile::op::plus{}, memory);
  }
};
struct group_scan {
  static constexpr const char* name = "group_scan/wavetile";
  static constexpr int lanes = group_size, holder = 0;
  static constexpr bool scans = true;
  using primitive = wavetile::group::scan<float, group_size>;
  using storage = primitive::storage;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    return primitive::inclusive(x, wavetile::op::plus{}, memory).prefix;
  }
};

#if WAVETILE_BENCH_ROCPRIM
struct rocprim_wave_reduce : wave_reduce {
  static constexpr const char* name = "wave_reduce/rocprim";
  static constexpr int holder = 0;
  using primitive = rocprim::warp_reduce<float, wave>;
  using storage = primitive::storage_type;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive().reduce(x, x, memory);
    return x;
  }
};
struct rocprim_wave_scan : wave_scan {
  static constexpr const char* name = "wave_scan/rocprim";
  using primitive = rocprim::warp_scan<float, wave>;
  using storage = primitive::storage_type;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive().inclusive_scan(x, x, memory);
    return x;
  }
};
struct rocprim_group_reduce : group_reduce {
  static constexpr const char* name = "group_reduce/rocprim";
  using primitive = rocprim::block_reduce<float, group_size>;
  using storage = primitive::storage_type;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive().reduce(x, x, memory);
    return x;
  }
};
struct rocprim_group_scan : group_scan {
  static constexpr const char* name = "group_scan/rocprim";
  using primitive = rocprim::block_scan<float, group_size>;
  using storage = primitive::storage_type;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive().inclusive_scan(x, x, memory);
    return x;
  }
};
#endif

#if WAVETILE_BENCH_HIPCUB
struct hipcub_wave_reduce : wave_reduce {
  static constexpr const char* name = "wave_reduce/hipcub";
  static constexpr int holder = 0;
  using primitive = hipcub::WarpReduce<float, wave>;
  using storage = primitive::TempStorage;
  static WAVETILE_DEVICE float result(float x, storage& memory) { return primitive(memory).Sum(x); }
};
struct hipcub_wave_scan : wave_scan {
  static constexpr const char* name = "wave_scan/hipcub";
  using primitive = hipcub::WarpScan<float, wave>;
  using storage = primitive::TempStorage;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive(memory).InclusiveSum(x, x);
    return x;
  }
};
struct hipcub_group_reduce : group_reduce {
  static constexpr const char* name = "group_reduce/hipcub";
  using primitive = hipcub::BlockReduce<float, group_size>;
  using storage = primitive::TempStorage;
  static WAVETILE_DEVICE float result(float x, storage& memory) { return primitive(memory).Sum(x); }
};
struct hipcub_group_scan : group_scan {
  static constexpr const char* name = "group_scan/hipcub";
  using primitive = hipcub::BlockScan<float, group_size>;
  using storage = primitive::TempStorage;
  static WAVETILE_DEVICE float result(float x, storage& memory) {
    primitive(memory).InclusiveSum(x, x);
    return x;
  }
};
#endif

/// Every work-item reads one value; a reduction's groups write one, a scan's work-items one each.
template <class Primitive>
__global__ __launch_bounds__(group_size) void frame(const float* in, float* out) {
  constexpr int groups = group_size / Primitive::lanes;
  __shared__ typename Primitive::storage memory[groups];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t i = std::int64_t{blockIdx.x} * group_size + thread;
  const float y = Primitive::result(in[i], memory[thread / Primitive::lanes]);
  if constexpr (Primitive::scans)
    out[i] = y;
  else if (thread % Primitive::lanes == Primitive::holder)
    out[i / Primitive::lanes] = y;
}

/// The first and last group against fp64: 8 steps of a tree or a scan over 256 values, and a few
/// more in rocPRIM's, each of which loses at most 2^-24 of the absolute sum.
template <class Primitive>
void verify(const std::vector<float>& in, const std::vector<float>& out) {
  constexpr auto lanes = static_cast<std::size_t>(Primitive::lanes);
  for (const std::size_t group : {std::size_t{0}, in.size() / lanes - 1}) {
    double sum = 0, absolute = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double x = static_cast<double>(in[group * lanes + lane]);
      sum += x;
      absolute += std::fabs(x);
      if (!Primitive::scans && lane + 1 < lanes)
        continue;
      const auto got =
          static_cast<double>(Primitive::scans ? out[group * lanes + lane] : out[group]);
      if (!(std::fabs(got - sum) <= 16 * 0x1p-24 * absolute))
        throw std::runtime_error("wrong result of group " + std::to_string(group) + ", lane " +
                                 std::to_string(lane) + ": " + std::to_string(got) + ", expected " +
                                 std::to_string(sum));
    }
  }
}

template <class Primitive>
void add_primitive() {
  const std::int64_t count = current().simulated ? 1 << 16 : 1 << 26;
  const std::string name = std::string(Primitive::name) + "/fp32/" + std::to_string(count);
  add(name, [count](benchmark::State& state) {
    const std::int64_t results = Primitive::scans ? count : count / Primitive::lanes;
    rotating_array<float> in(count), out(results);
    const std::vector<float> values = normals<float>(count, 61);
    in.fill(values);
    out.poison();
    const auto launch = [&](std::int64_t turn) {
      check(wavetile::launch(&frame<Primitive>, {.grid = {count / group_size}, .block = group_size},
                             nullptr, static_cast<const float*>(in.at(turn)), out.at(turn)));
    };
    launch(0);
    verify<Primitive>(values, out.download());
    measure(state, {.bytes_read = 4 * count, .bytes_written = 4 * results}, launch);
  });
}

} // namespace lanes

template <class... Primitives>
void add_primitives() {
  (lanes::add_primitive<Primitives>(), ...);
}

inline void register_lane_primitives() {
  using namespace lanes;
  add_primitives<wave_reduce, wave_scan, group_reduce, group_scan>();
#if WAVETILE_BENCH_ROCPRIM
  add_primitives<rocprim_wave_reduce, rocprim_wave_scan, rocprim_group_reduce,
                 rocprim_group_scan>();
#endif
#if WAVETILE_BENCH_HIPCUB
  add_primitives<hipcub_wave_reduce, hipcub_wave_scan, hipcub_group_reduce, hipcub_group_scan>();
#endif
}

} // namespace bench
