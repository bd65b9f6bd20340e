// For each load of the code: which s_waitcnt it met, how often, and how much work the wave had
// issued in between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace wavesim {

struct LoadWait {
  std::uint32_t wait = 0; ///< number of the s_waitcnt
  std::uint64_t times = 0;
  std::uint64_t least = 0; ///< smallest distance in clocks
};

/// By number of the load: its waits, more than one when the code branches in between.
using WaitsOfLoads = std::map<std::uint32_t, std::vector<LoadWait>>;

/// Instructions go by numbers that the caller chooses, small ones.
class LoadWaits {
public:
  void record(std::uint32_t load, std::uint32_t wait, std::uint64_t distance) {
    if (load >= waits_.size())
      waits_.resize(load + 64);
    record(waits_[load], wait, 1, distance);
  }
  void merge(const LoadWaits& other);
  /// Adds all of it to `to`, where instructions have other numbers.
  void add_to(WaitsOfLoads& to, const std::function<std::uint32_t(std::uint32_t)>& number) const;
  WaitsOfLoads all() const;

private:
  static void record(std::vector<LoadWait>& to, std::uint32_t wait, std::uint64_t times,
                     std::uint64_t distance);
  std::vector<std::vector<LoadWait>> waits_; ///< by number of the load
};

} // namespace wavesim
