#include "model/load_waits.hpp"

#include <algorithm>

namespace wavesim {

void LoadWaits::record(std::vector<LoadWait>& to, std::uint32_t wait, std::uint64_t times,
                       std::uint64_t distance) {
  for (LoadWait& known : to)
    if (known.wait == wait) {
      known.times += times;
      known.least = std::min(known.least, distance);
      return;
    }
  to.push_back({wait, times, distance});
}

void LoadWaits::merge(const LoadWaits& other) {
  if (other.waits_.size() > waits_.size())
    waits_.resize(other.waits_.size());
  for (std::size_t load = 0; load < other.waits_.size(); ++load)
    for (const LoadWait& w : other.waits_[load])
      record(waits_[load], w.wait, w.times, w.least);
}

void LoadWaits::add_to(WaitsOfLoads& to,
                       const std::function<std::uint32_t(std::uint32_t)>& number) const {
  for (std::uint32_t load = 0; load < waits_.size(); ++load)
    for (const LoadWait& w : waits_[load])
      record(to[number(load)], number(w.wait), w.times, w.least);
}

WaitsOfLoads LoadWaits::all() const {
  WaitsOfLoads same;
  add_to(same, [](std::uint32_t number) { return number; });
  return same;
}

} // namespace wavesim
