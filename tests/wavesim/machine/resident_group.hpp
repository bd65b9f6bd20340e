// A workgroup with the memory it runs in: waves, LDS, private memory. Reused for one workgroup
// after another.
#pragma once

#include "machine/dispatch.hpp"
#include "machine/observer.hpp"
#include "machine/wave.hpp"
#include "model/wave_pace.hpp"

#include <cstdint>
#include <vector>

namespace wavesim {

class ResidentGroup {
public:
  ResidentGroup() = default;
  ~ResidentGroup();
  ResidentGroup(const ResidentGroup&) = delete;
  ResidentGroup& operator=(const ResidentGroup&) = delete;

  /// Makes it workgroup number `linear` of the dispatch, every wave at its first instruction.
  /// `concurrent`: other threads run workgroups of the same dispatch.
  void start(const Dispatch& dispatch, std::uint64_t linear, Tally* tally, bool concurrent,
             const RunOptions& options);

  /// Lets the waves take turns until all have ended, or, with `may_park`, until the workgroup looks
  /// as if it waited for another one. `idle` counts instructions since anything moved forward.
  enum class Outcome { ended, parked };
  Outcome run(bool may_park, bool fresh, std::uint64_t& idle, const RunOptions& options);

  const Workgroup& group() const { return group_; }

private:
  struct WaveMemory { ///< per wave, kept between workgroups
    std::byte* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    unsigned used_vgprs = 0, used_agprs = 0;
  };
  struct Turn {                  ///< per wave, when workgroups may wait for each other
    std::uint64_t spent = 0;     ///< instructions of the present turn
    std::uint64_t last_look = 0; ///< Wave::retired when it last looked at what others write
    unsigned polling = 0;        ///< turns, one after the other, in which it only polled
  };
  template <bool Count, bool Observe>
  Outcome run_as(bool may_park, bool fresh, std::uint64_t& idle, const RunOptions& options);
  template <bool Count, bool Observe>
  void turn(unsigned wave, bool may_park, std::uint64_t& idle);
  void give_scratch(Wave& wave, WaveMemory& memory, const Dispatch& dispatch);
  void give_lds(const Dispatch& dispatch);
  [[noreturn]] void report_hang(const RunOptions& options);

  Workgroup group_;
  std::vector<WaveMemory> memory_;
  bool followed_ = false;       ///< counting: the waves' pace as well
  std::vector<WavePace> paces_; ///< by wave
  std::vector<Turn> turns_;
  std::byte* lds_ = nullptr;
  std::size_t lds_capacity_ = 0;
  unsigned alive_ = 0;
  Tally* tally_ = nullptr;
  std::unique_ptr<Observer> observer_; ///< kept while the same factory asks for one
  std::uint64_t observer_maker_ = 0;   ///< ObserverFactory::serial of that factory; 0: none
};

} // namespace wavesim
