// For each load of the code: which s_waitcnt it met, how often, and how much work the wave had
// issued in between.
#pragma once

#include <cstdint>
#include <vector>

namespace wavesim {

struct LoadWait {
  std::uint32_t wait = 0; ///< Op::id of the s_waitcnt
  std::uint64_t times = 0;
  std::uint64_t least = 0; ///< smallest distance in clocks
};

class LoadWaits {
public:
  void record(std::uint32_t load, std::uint32_t wait, std::uint64_t distance) {
    if (load >= waits_.size())
      waits_.resize(load + 64);
    record(waits_[load], wait, 1, distance);
  }
  void merge(const LoadWaits& other);
  /// The waits that load `id` met; more than one when the code branches in between.
  const std::vector<LoadWait>& of(std::uint32_t id) const {
    static const std::vector<LoadWait> none;
    return id < waits_.size() ? waits_[id] : none;
  }

private:
  static void record(std::vector<LoadWait>& to, std::uint32_t wait, std::uint64_t times,
                     std::uint64_t distance);
  std::vector<std::vector<LoadWait>> waits_; ///< by Op::id of the load
};

} // namespace wavesim
