#include "model/wave_pace.hpp"

namespace wavesim {

void WavePace::start(unsigned waves) {
  *this = WavePace{};
  waves_ = waves;
}

void WavePace::outstanding(const IssueCost& cost, std::uint32_t id) {
  const Entry entry{id, cost.load, work_.end(), alone_.slot};
  if (cost.vm)
    vm_.push(entry);
  if (cost.lgkm) {
    Entry here = entry;
    if (cost.vm) // FLAT: the load is watched where memory is counted
      here.load = LoadKind::none;
    lgkm_.push(here);
    unordered_ += cost.unordered;
  }
}

void WavePace::served(const IssueCost& cost, std::uint64_t lds_clocks,
                      std::uint64_t vector_clocks) {
  if (cost.lgkm) {
    if (cost.unordered && lds_clocks == 0) {
      lgkm_.newest().done = alone_.slot + parameters::scalar_latency;
    } else {
      constexpr unsigned in_latency = 2; // clocks of the access whose latency was measured
      lds_free_ = std::max(lds_free_, alone_.slot) + lds_clocks * waves_;
      lgkm_.newest().done = lds_free_ + parameters::lds_latency - in_latency;
    }
  }
  if (cost.vm) {
    constexpr unsigned in_latency = 16;
    vector_memory_free_ = std::max(vector_memory_free_, alone_.slot) + vector_clocks * waves_;
    vm_.newest().done = vector_memory_free_ + parameters::l2_latency - in_latency;
  }
}

void WavePace::finished(const Entry& entry, std::uint32_t wait, LoadWaits& waits) {
  alone_.slot = std::max(alone_.slot, entry.done);
  if (entry.load != LoadKind::none)
    waits.record(entry.id, wait, work_.end() - entry.work);
}

void WavePace::wait(const IssueCost& cost, std::uint32_t id, LoadWaits& waits) {
  while (vm_.count > cost.vm_left)
    finished(vm_.pop(), id, waits);
  if (unordered_ != 0 && cost.lgkm_left != 0)
    return; // whichever are done, it need not be the oldest
  while (lgkm_.count > cost.lgkm_left)
    finished(lgkm_.pop(), id, waits);
  if (lgkm_.count == 0)
    unordered_ = 0;
}

} // namespace wavesim
