// Votes over the lanes of a wave, and arithmetic on their masks.
#include "lane_values.hpp"

#include <wavetile/wave/vote.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using std::uint64_t;

constexpr unsigned lanes = wave_size;
constexpr uint64_t whole_wave = ~uint64_t{0} >> (64 - lanes);
constexpr int upper = wave_size / 8 * 5; ///< the lanes from here on vote alone

static_assert(sizeof(decltype(wave::ballot(true))) == 8);
static_assert(wave::count_lanes(0) == 0 && wave::count_lanes(~lane_mask{0}) == 64);
static_assert(wave::first_lane(0) == -1 && wave::first_lane(lane_mask{1} << 63) == 63);
static_assert(wave::last_lane(0) == -1 && wave::last_lane(1) == 0 &&
              wave::last_lane(lane_mask{1} << 40 | 5) == 40);

struct ballots {
  static constexpr int count = 8;
  WAVETILE_DEVICE void operator()(const int*, uint64_t* out, int thread) const {
    const int lane = lane_id();
    uint64_t* own = out + thread * count;
    own[0] = wave::ballot(lane >= wave_size / 2);
    own[1] = wave::ballot(lane == wave_size - 1);
    own[2] = wave::ballot(true);
    own[3] = wave::ballot(false);
    own[4] = static_cast<uint64_t>(wave::rank_in(own[2]));
    own[5] = static_cast<uint64_t>(wave::rank_in(wave::ballot(lane % 3 == 1)));
    own[6] = wave::active_lanes();
    own[7] = 0;
    if (lane >= upper) // others are absent
      own[7] = wave::active_lanes();
  }
};

TEST(vote, ballots_keep_the_upper_half) {
  const auto out = run_workgroup<ballots, uint64_t>(std::vector<int>(1), 128, 128 * 8);
  for (unsigned t = 0; t < 128; ++t) {
    const unsigned lane = t % lanes;
    const auto* own = &out[t * 8];
    ASSERT_EQ(own[0], whole_wave << lanes / 2 & whole_wave);
    ASSERT_EQ(own[1], uint64_t{1} << (lanes - 1));
    ASSERT_EQ(own[2], whole_wave);
    ASSERT_EQ(own[3], 0u);
    ASSERT_EQ(own[4], lane);
    ASSERT_EQ(own[5], (lane + 1) / 3); // lanes 1, 4, 7, … below
    ASSERT_EQ(own[6], whole_wave);
    ASSERT_EQ(own[7], lane >= upper ? whole_wave << upper & whole_wave : 0);
  }
}

template <int Width>
struct group_votes {
  WAVETILE_DEVICE void operator()(const int* in, uint64_t* out, int thread) const {
    const bool mine = in[thread] != 0;
    uint64_t* own = out + thread * 4;
    own[0] = wave::ballot<Width>(mine);
    own[1] = wave::any<Width>(mine);
    own[2] = wave::all<Width>(mine);
    own[3] = wave::lanes_of_group<Width>();
  }
};

template <int Width>
void check_group_votes() {
  std::vector<int> in(128);
  for (unsigned i = 0; i < 128; ++i)
    in[i] = i / 4 % 2 == 0 || (i % 7 == 0);
  const auto out = run_workgroup<group_votes<Width>, uint64_t>(in, 128, 128 * 4);
  for (unsigned t = 0; t < 128; ++t) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < Width; ++i)
      mask |= static_cast<uint64_t>(in[t / Width * Width + i]) << i;
    const uint64_t full = ~uint64_t{0} >> (64 - Width);
    ASSERT_EQ(out[t * 4], mask) << Width << ' ' << t;
    ASSERT_EQ(out[t * 4 + 1], mask != 0);
    ASSERT_EQ(out[t * 4 + 2], mask == full);
    ASSERT_EQ(out[t * 4 + 3], full << (t % lanes / Width * Width));
  }
}

TEST(vote, groups_of_lanes) {
  check_group_votes<1>();
  check_group_votes<2>();
  check_group_votes<4>();
  check_group_votes<8>();
  check_group_votes<16>();
  check_group_votes<32>();
  check_group_votes<wave_size>();
}

struct whole_votes {
  WAVETILE_DEVICE void operator()(const int* in, uint64_t* out, int thread) const {
    out[thread] = (wave::any(in[thread] == wave_size - 1) ? 1 : 0) |
                  (wave::all(in[thread] < wave_size) ? 2 : 0) |
                  (wave::any(in[thread] > 1000) ? 4 : 0) | (wave::all(in[thread] != 127) ? 8 : 0);
  }
};

TEST(vote, any_and_all) {
  std::vector<int> in(128);
  for (int i = 0; i < 128; ++i)
    in[static_cast<size_t>(i)] = i;
  const auto out = run_workgroup<whole_votes, uint64_t>(in, 128, 128);
  for (unsigned t = 0; t < 128; ++t)
    ASSERT_EQ(out[t], t < lanes ? 11u : t / lanes == 127 / lanes ? 0u : 8u);
}

template <class T>
struct matches {
  WAVETILE_DEVICE void operator()(const T* in, uint64_t* out, int thread) const {
    out[thread] = wave::match(in[thread]);
  }
};

template <class T>
void check_match(unsigned different) {
  std::vector<T> in;
  for (unsigned i = 0; i < 128; ++i)
    in.push_back(lane_payload<T>(i * i % different));
  const auto out = run_workgroup<matches<T>, uint64_t>(in, 128, 128);
  for (unsigned t = 0; t < 128; ++t) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < lanes; ++i)
      mask |= uint64_t{std::memcmp(&in[t / lanes * lanes + i], &in[t], sizeof(T)) == 0} << i;
    ASSERT_EQ(out[t], mask) << t;
  }
}

TEST(vote, match) {
  check_match<int>(1);
  check_match<int>(5);
  check_match<std::uint64_t>(17);
  check_match<words3>(64);
  check_match<bytes3>(9);
  check_match<float>(40); // NaNs with the same bits match, +0 and -0 do not
}

} // namespace
