#include "counters/tally.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"
#include "machine/occupancy.hpp"
#include "machine/parallel_safety.hpp"
#include "machine/resident_group.hpp"
#include "machine/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace wavesim {

namespace {

std::uint64_t group_count(const Dispatch& d) {
  return std::uint64_t{d.grid[0]} * d.grid[1] * d.grid[2];
}

/// Workgroups nobody uses at the moment; one store per host thread that runs them.
class GroupStore {
public:
  std::unique_ptr<ResidentGroup> take() {
    if (free_.empty())
      return std::make_unique<ResidentGroup>();
    auto group = std::move(free_.back());
    free_.pop_back();
    return group;
  }
  void give_back(std::unique_ptr<ResidentGroup> group) {
    // A cooperative launch may have needed thousands; keeping a few is enough.
    constexpr std::size_t kept = 8;
    if (free_.size() < kept)
      free_.push_back(std::move(group));
  }

private:
  std::vector<std::unique_ptr<ResidentGroup>> free_;
};

GroupStore& store(unsigned worker) {
  static auto* stores = new std::vector<std::unique_ptr<GroupStore>>;
  while (stores->size() <= worker)
    stores->push_back(std::make_unique<GroupStore>());
  return *(*stores)[worker];
}

/// Workgroups that cannot see each other: each runs to its end, on whichever thread is free.
void run_parallel(const Dispatch& dispatch, const RunOptions& options, unsigned threads,
                  std::vector<std::unique_ptr<Tally>>& tallies) {
  const std::uint64_t total = group_count(dispatch);
  // Neighbours share cache lines of the host, and the counter costs something too.
  const std::uint64_t chunk = std::clamp<std::uint64_t>(total / (threads * 16u), 1, 64);
  std::atomic<std::uint64_t> next{0};
  store(threads - 1);
  run_on_workers(threads, [&](unsigned worker) {
    auto group = store(worker).take();
    for (;;) {
      const std::uint64_t begin = next.fetch_add(chunk);
      if (begin >= total)
        break;
      for (std::uint64_t i = begin; i < std::min(total, begin + chunk); ++i) {
        std::uint64_t idle = 0;
        group->start(dispatch, i, tallies[worker].get(), true, options);
        group->run(false, true, idle, options);
      }
    }
    store(worker).give_back(std::move(group));
  });
}

/// One thread: workgroups in index order; one that seems to wait for another is parked and a later
/// one admitted, as many at once as the device could hold.
class Serial {
public:
  Serial(const Dispatch& dispatch, const RunOptions& options, Tally* tally, bool independent)
      : dispatch_(dispatch), options_(options), tally_(tally), independent_(independent),
        total_(group_count(dispatch)), capacity_(capacity(dispatch)) {}

  void run() {
    if (dispatch_.cooperative)
      while (next_ < total_)
        admit();
    while (next_ < total_ || !residents_.empty()) {
      if (residents_.empty())
        admit();
      const bool ended = pass();
      if (!ended && next_ < total_ && residents_.size() < capacity_)
        admit();
    }
  }

private:
  struct Resident {
    std::unique_ptr<ResidentGroup> group;
    bool fresh = true;
  };

  static std::uint64_t capacity(const Dispatch& d) {
    const std::uint64_t threads = std::uint64_t{d.block[0]} * d.block[1] * d.block[2];
    const unsigned per_unit =
        groups_per_compute_unit(*d.kernel, static_cast<unsigned>(threads), d.dynamic_lds);
    return std::uint64_t{std::max(per_unit, 1u)} * device_limits::compute_units;
  }

  void admit() {
    residents_.push_back({store(0).take(), !dispatch_.cooperative});
    residents_.back().group->start(dispatch_, next_++, tally_, false, options_);
  }

  /// One turn for every resident workgroup; whether any of them ended.
  bool pass() {
    const std::size_t before = residents_.size();
    std::erase_if(residents_, [&](Resident& r) {
      const auto outcome = r.group->run(!independent_, r.fresh, idle_, options_);
      r.fresh = false;
      if (outcome == ResidentGroup::Outcome::parked)
        return false;
      store(0).give_back(std::move(r.group));
      return true;
    });
    return residents_.size() != before;
  }

  const Dispatch& dispatch_;
  const RunOptions& options_;
  Tally* tally_;
  bool independent_;
  std::uint64_t total_, capacity_, next_ = 0, idle_ = 0;
  std::vector<Resident> residents_;
};

} // namespace

std::unique_ptr<Tally> run(const Dispatch& dispatch, const RunOptions& options) {
  const bool independent = !dispatch.cooperative && parallel_verdict(*dispatch.kernel).safe;
  const std::uint64_t total = group_count(dispatch);
  const unsigned threads =
      independent
          ? static_cast<unsigned>(std::min<std::uint64_t>(std::max(options.threads, 1u), total))
          : 1;
  std::vector<std::unique_ptr<Tally>> tallies(threads);
  if (options.count)
    for (auto& tally : tallies)
      tally = std::make_unique<Tally>();
  if (threads > 1)
    run_parallel(dispatch, options, threads, tallies);
  else
    Serial(dispatch, options, tallies[0].get(), independent).run();
  for (unsigned i = 1; options.count && i < threads; ++i)
    tallies[0]->merge(*tallies[i]);
  return std::move(tallies[0]);
}

} // namespace wavesim
