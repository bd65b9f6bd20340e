// How one wave gets on, in two views that the same instructions feed:
//
//  * Work: what the wave issues takes its pipes' clocks, and nothing else takes any. The distance
//    from a load to the s_waitcnt that needs it is how far this view moves in between: the clocks
//    of other issued work that can hide the load.
//  * Alone: the same with the load's latency, as if its workgroup had the compute unit to itself,
//    all its waves did the same at the same time, and every global load hit L2.
//
// Which wait needs a load follows from vmcnt and lgkmcnt: the first that leaves fewer operations
// outstanding than were issued since.
#pragma once

#include "model/issue_cost.hpp"
#include "model/load_waits.hpp"
#include "model/parameters.hpp"

#include <algorithm>
#include <cstdint>

namespace wavesim {

class WavePace {
public:
  /// Begins a wave of a workgroup of `waves` waves.
  void start(unsigned waves);

  /// The next instruction of the wave.
  void issue(const IssueCost& cost, std::uint32_t id, LoadWaits& waits) {
    if (cost.wait) {
      wait(cost, id, waits);
      return;
    }
    work_.issue(cost);
    alone_.issue(cost);
    if (cost.vm || cost.lgkm)
      outstanding(cost, id);
  }
  /// What the memory units spend on the instruction just issued (once for each of vmcnt and
  /// lgkmcnt that counts it).
  void served(const IssueCost& cost, std::uint64_t lds_clocks, std::uint64_t vector_clocks);

  std::uint64_t work() const { return work_.end(); }
  std::uint64_t alone() const { return alone_.end(); }

private:
  struct Timeline {
    std::uint64_t slot = 0, vector = 0, matrix = 0; ///< when each is free again
    void issue(const IssueCost& cost) {
      if (cost.pipe == Pipe::slot)
        slot += cost.clocks;
      else if (cost.pipe >= Pipe::vector)
        issue_vector(cost);
    }
    void issue_vector(const IssueCost& cost) {
      const bool matrices = cost.pipe != Pipe::vector;
      std::uint64_t begin = std::max(slot, vector);
      begin = matrices ? std::max(begin, matrix) : begin;
      slot = begin + parameters::slot;
      matrix = matrices ? begin + cost.clocks : matrix;
      vector = cost.pipe == Pipe::matrix ? slot : begin + cost.clocks;
    }
    std::uint64_t end() const { return std::max({slot, vector, matrix}); }
  };
  struct Entry {
    std::uint32_t id = 0;
    LoadKind load = LoadKind::none;
    std::uint64_t work = 0; ///< the view of work when it had been issued
    std::uint64_t done = 0; ///< in the view alone
  };
  /// Operations in the order of their issue. A counter that is full stops the wave, so no more
  /// are outstanding than it can count.
  template <unsigned Capacity>
  struct Queue {
    Entry entry[Capacity];
    unsigned first = 0, count = 0;
    Entry& newest() { return entry[(first + count - 1) % Capacity]; }
    void push(const Entry& e) {
      if (count == Capacity)
        pop();
      entry[(first + count++) % Capacity] = e;
    }
    Entry pop() {
      const Entry e = entry[first];
      first = (first + 1) % Capacity;
      --count;
      return e;
    }
  };
  void outstanding(const IssueCost& cost, std::uint32_t id);
  void wait(const IssueCost& cost, std::uint32_t id, LoadWaits& waits);
  void finished(const Entry& entry, std::uint32_t wait, LoadWaits& waits);

  Timeline work_, alone_;
  Queue<64> vm_;
  Queue<16> lgkm_;
  unsigned unordered_ = 0; ///< operations in lgkm_ that may overtake others
  std::uint64_t lds_free_ = 0, vector_memory_free_ = 0;
  unsigned waves_ = 1;
};

} // namespace wavesim
