#include "machine/resident_group.hpp"

#include "counters/tally.hpp"
#include "loader/code_object.hpp"
#include "machine/fault.hpp"
#include "machine/occupancy.hpp"
#include "machine/resident_pages.hpp"
#include "machine/start_wave.hpp"
#include "model/parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

namespace wavesim {

namespace {

/// Instructions of a wave that make a turn.
constexpr std::uint64_t quantum = 4096;
/// A turn was spent polling if one of its last so many instructions looked at what others write.
constexpr std::uint64_t probe = 512;
/// Turns of a wave in which it only polled, before its workgroup is taken to wait for another one.
constexpr unsigned patience = 4;

/// Counting: the workgroups whose waves' pace is followed, the first ones and some of the others.
constexpr std::uint64_t followed_first = 8, followed_every = 16;

constexpr std::align_val_t lds_alignment{64};

/// Private memory is mapped, not allocated: most lanes use little of a dynamic stack.
void release_scratch(std::byte* scratch, std::size_t bytes) {
  if (scratch)
    munmap(scratch, bytes);
}

/// Brings the records behind the next ones near: unrolled kernels have more of them than the host's
/// caches hold.
[[gnu::always_inline]] inline void prefetch_behind(const Op* op) {
  constexpr std::size_t ahead = 4 * sizeof(Op), line = 64;
  __builtin_prefetch(reinterpret_cast<const std::byte*>(op) + ahead);
  __builtin_prefetch(reinterpret_cast<const std::byte*>(op) + ahead + line);
}

} // namespace

ResidentGroup::~ResidentGroup() {
  ::operator delete[](lds_, lds_alignment);
  for (WaveMemory& m : memory_)
    release_scratch(m.scratch, m.scratch_bytes);
}

void ResidentGroup::give_lds(const Dispatch& dispatch) {
  const std::uint32_t bytes = allocated_lds(*dispatch.kernel, dispatch.dynamic_lds);
  constexpr std::size_t spare = 64; // wide accesses at the end read it
  if (!lds_ || lds_capacity_ < bytes) {
    ::operator delete[](lds_, lds_alignment);
    lds_ = new (lds_alignment) std::byte[bytes + spare];
    lds_capacity_ = bytes;
  }
  group_.lds = lds_;
  group_.lds_bytes = bytes;
  std::fill_n(reinterpret_cast<std::uint32_t*>(lds_), (bytes + spare) / 4, poison);
}

void ResidentGroup::give_scratch(Wave& wave, WaveMemory& memory, const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  std::uint32_t per_lane = (kernel.scratch_bytes + 15u) / 16u * 16u;
  if (kernel.dynamic_stack)
    per_lane = std::max(per_lane, dispatch.stack_bytes / 16u * 16u);
  const std::size_t bytes = std::size_t{per_lane} * lanes;
  if (memory.scratch_bytes < bytes) {
    release_scratch(memory.scratch, memory.scratch_bytes);
    void* fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
      stop(fmt::format("out of host memory for {} bytes of private memory per lane", per_lane));
    memory.scratch = static_cast<std::byte*>(fresh);
    memory.scratch_bytes = bytes;
  } else {
    clear_resident(memory.scratch, bytes); // private memory starts as zeros
  }
  wave.scratch = bytes ? memory.scratch : nullptr;
  wave.scratch_bytes = per_lane;
}

void ResidentGroup::start(const Dispatch& dispatch, std::uint64_t linear, Tally* tally,
                          bool concurrent, const RunOptions& options) {
  const std::uint64_t threads =
      std::uint64_t{dispatch.block[0]} * dispatch.block[1] * dispatch.block[2];
  group_.dispatch = &dispatch;
  group_.linear = linear;
  group_.id[0] = static_cast<std::uint32_t>(linear % dispatch.grid[0]);
  group_.id[1] = static_cast<std::uint32_t>(linear / dispatch.grid[0] % dispatch.grid[1]);
  group_.id[2] =
      static_cast<std::uint32_t>(linear / (std::uint64_t{dispatch.grid[0]} * dispatch.grid[1]));
  group_.wave_count = static_cast<unsigned>((threads + lanes - 1) / lanes);
  group_.concurrent = concurrent;
  group_.ranges.clear();
  tally_ = tally;
  alive_ = group_.wave_count;
  turns_.assign(group_.wave_count, Turn());
  while (group_.waves.size() < group_.wave_count) {
    // Registers stay untouched: start_wave sets those that count.
    group_.waves.emplace_back(new Wave);
    memory_.emplace_back();
  }
  give_lds(dispatch);
  for (unsigned i = 0; i < group_.wave_count; ++i) {
    Wave& wave = *group_.waves[i];
    wave.tally = tally;
    give_scratch(wave, memory_[i], dispatch);
    start_wave(wave, group_, i, memory_[i].used_vgprs, memory_[i].used_agprs);
  }
  followed_ = tally && (linear < followed_first || linear % followed_every == 0);
  if (followed_) {
    paces_.resize(group_.wave_count);
    for (WavePace& pace : paces_)
      pace.start(group_.wave_count);
  }
  if (const std::uint64_t maker = options.observers ? options.observers->serial() : 0;
      maker != observer_maker_) {
    observer_maker_ = maker;
    observer_ = maker ? options.observers->make() : nullptr;
  }
  group_.throws_faults = false;
  if (observer_)
    observer_->start(group_);
}

/// Runs the instruction again and again as long as the observer leaves lanes out that fault.
static void execute_watched(Wave& wave, const Op& op, Observer& observer) {
  try {
    op.execute(wave, op);
    return;
  } catch (const MemoryFault& first) {
    const std::uint64_t exec = wave.exec();
    for (bool again = observer.fault(wave, op, first); again;) {
      try {
        again = false;
        op.execute(wave, op);
      } catch (const MemoryFault& next) {
        again = observer.fault(wave, op, next);
      }
    }
    wave.set_exec(exec);
  }
}

/// Counts one instruction, which `execute` executes; `pace` is null for waves that are not
/// followed.
template <class Execute>
[[gnu::always_inline]] static inline void execute_counted(Wave& wave, const Op& op, WavePace* pace,
                                                          const Execute& execute) {
  Tally& tally = *wave.tally;
  ++tally.of(op.id).executions;
  if (!pace) {
    execute();
    return;
  }
  const IssueCost& cost = tally.cost_of(op, op.id);
  pace->issue(cost, op.id, tally.waits);
  if (!cost.vm && !cost.lgkm) {
    execute();
    return;
  }
  // Field by field: a copy of the record would wait for the store of `executions`.
  const OpTally& done = tally.ops[op.id];
  const std::uint64_t lds = done.lds_clocks, look_ups = done.tcp_accesses;
  const std::uint64_t bytes = done.bytes_read + done.bytes_written;
  execute();
  pace->served(cost, done.lds_clocks - lds,
               std::max(done.tcp_accesses - look_ups,
                        (done.bytes_read + done.bytes_written - bytes) / parameters::l1_bytes));
}

/// Up to `left` instructions, as long as the wave runs and no further than a wait for vector
/// memory: there hardware has hundreds of clocks for the other waves. Racy programs count on it:
/// rocPRIM has waves read LDS behind a barrier while the first one already fetches what it will
/// write there. Returns whether, with Watch, one of them looked at memory that others write.
template <bool Count, bool Watch, bool Observe>
static bool run_wave(Wave& wave, const CodeObject& code, std::uint64_t left,
                     [[maybe_unused]] WavePace* pace, [[maybe_unused]] Observer* observer) {
  const bool alone = wave.group->wave_count == 1;
  bool looked = false;
  const auto fetch = [&] {
    const Op* op = code.at(wave.pc);
    if (!op) [[unlikely]]
      stop(wave, wave.pc, fmt::format("the program counter {:#x} is outside the code", wave.pc));
    return op;
  };
  for (const Op* op = fetch();;) {
    if constexpr (!Count && !Observe) {
      // Most instructions only compute: nothing is to be looked at between them.
      const std::uint64_t before = left;
      for (; left > 1 && op->computes_and_followed(); --left, ++op) {
        prefetch_behind(op);
        op->execute(wave, *op);
      }
      wave.retired += before - left;
    }
    const std::uint64_t pc = op->pc + op->size;
    // The next instruction is mostly the one behind: found while this one runs.
    const Op* const next = code.behind(*op, pc);
    prefetch_behind(op);
    wave.pc = pc;
    ++wave.retired;
    const auto execute = [&] {
      if constexpr (Observe) {
        if (observer->before(wave, *op))
          execute_watched(wave, *op, *observer);
      } else {
        op->execute(wave, *op);
      }
    };
    if constexpr (Count)
      execute_counted(wave, *op, pace, execute);
    else
      execute();
    if constexpr (Watch)
      looked |= (op->marks & mark_polls) != 0;
    if (--left == 0 || wave.status != WaveStatus::running || ((op->marks & mark_waits) && !alone))
      return looked;
    op = wave.pc == pc && next ? next : fetch();
  }
}

/// Lets wave `i` run. When workgroups may wait for each other, whole turns are looked at.
template <bool Count, bool Observe>
void ResidentGroup::turn(unsigned i, bool may_park, std::uint64_t& idle) {
  const CodeObject& code = *group_.dispatch->kernel->object;
  Wave& wave = *group_.waves[i];
  Turn& turn = turns_[i];
  wave.status = WaveStatus::running;
  const std::uint64_t before = wave.retired;
  WavePace* const pace = Count && followed_ ? &paces_[wave.index] : nullptr;
  if (!may_park) {
    run_wave<Count, false, Observe>(wave, code, quantum, pace, observer_.get());
    idle += wave.retired - before;
    return;
  }
  if (run_wave<Count, true, Observe>(wave, code, quantum - turn.spent, pace, observer_.get()))
    turn.last_look = wave.retired;
  idle += wave.retired - before;
  turn.spent += wave.retired - before;
  const bool sleeps = wave.status == WaveStatus::yielded;
  if (sleeps || turn.spent >= quantum) {
    const bool polled = turn.last_look != 0 && wave.retired - turn.last_look <= probe;
    turn.polling = sleeps || polled ? turn.polling + 1 : 0;
    turn.spent = 0;
  }
}

template <bool Count, bool Observe>
ResidentGroup::Outcome ResidentGroup::run_as(bool may_park, bool fresh, std::uint64_t& idle,
                                             const RunOptions& options) {
  const unsigned allowed = fresh ? patience : 1;
  const auto forget_polling = [&] {
    for (unsigned i = 0; i < group_.wave_count; ++i)
      turns_[i].polling = 0;
  };
  forget_polling();
  for (;;) {
    unsigned ended = 0, waiting = 0, polling = 0;
    for (unsigned i = 0; i < group_.wave_count; ++i) {
      const Wave& wave = *group_.waves[i];
      if (wave.status == WaveStatus::ended)
        continue;
      if (wave.status != WaveStatus::at_barrier) {
        turn<Count, Observe>(i, may_park, idle);
        ended += wave.status == WaveStatus::ended;
      }
      waiting += wave.status == WaveStatus::at_barrier;
      polling += wave.status != WaveStatus::at_barrier && turns_[i].polling >= allowed;
    }
    alive_ -= ended;
    if (alive_ == 0) {
      idle = 0;
      return Outcome::ended;
    }
    const bool released = waiting == alive_;
    if constexpr (Observe)
      if (released)
        observer_->barrier(group_);
    if (released)
      for (unsigned i = 0; i < group_.wave_count; ++i)
        if (group_.waves[i]->status == WaveStatus::at_barrier)
          group_.waves[i]->status = WaveStatus::running;
    if (ended != 0 || released) {
      idle = 0;
      if (may_park)
        forget_polling();
      continue;
    }
    if (idle >= options.hang_instructions)
      report_hang(options);
    // Every wave that could run only polled: the one they wait for may be in another workgroup.
    if (may_park && polling + waiting >= alive_)
      return Outcome::parked;
  }
}

ResidentGroup::Outcome ResidentGroup::run(bool may_park, bool fresh, std::uint64_t& idle,
                                          const RunOptions& options) {
  const Outcome outcome = [&] {
    if (observer_)
      return options.count ? run_as<true, true>(may_park, fresh, idle, options)
                           : run_as<false, true>(may_park, fresh, idle, options);
    return options.count ? run_as<true, false>(may_park, fresh, idle, options)
                         : run_as<false, false>(may_park, fresh, idle, options);
  }();
  if (outcome == Outcome::ended && options.count) {
    tally_->end_group(group_);
    std::uint64_t last = 0;
    for (unsigned i = 0; followed_ && i < group_.wave_count; ++i)
      last = std::max(last, paces_[i].alone());
    tally_->alone_clocks += last;
    tally_->alone_groups += followed_;
  }
  if (outcome == Outcome::ended && observer_)
    observer_->end(group_);
  return outcome;
}

void ResidentGroup::report_hang(const RunOptions& options) {
  if (observer_)
    observer_->hang(group_);
  const Wave* culprit = nullptr;
  std::string barrier;
  for (unsigned i = 0; i < group_.wave_count; ++i) {
    const Wave& wave = *group_.waves[i];
    if (wave.status == WaveStatus::at_barrier)
      barrier = fmt::format("; wave {} waits at a barrier that the others have not reached", i);
    else if (wave.status != WaveStatus::ended && !culprit)
      culprit = &wave;
  }
  const std::string why =
      fmt::format("hang: {} instructions without a wave that ends or a barrier that opens{} "
                  "(WAVESIM_HANG_INSTRUCTIONS sets the limit)",
                  options.hang_instructions, barrier);
  stop(*culprit, culprit->pc, why);
}

} // namespace wavesim
