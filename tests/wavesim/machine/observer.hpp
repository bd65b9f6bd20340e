// What looks at every executed instruction: checks and measurements that need more than counts. A
// run without an observer pays nothing for the possibility.
#pragma once

#include "isa/op.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace wavesim {

struct Wave;
struct Workgroup;
struct MemoryFault;

/// Watches one workgroup at a time, on the thread that runs it.
class Observer {
public:
  virtual ~Observer() = default;
  /// Every wave stands before its first instruction.
  virtual void start(Workgroup&) {}
  /// `op` is about to run (Wave::pc is already behind it). False: it is skipped.
  virtual bool before(Wave&, const Op&) { return true; }
  /// With Workgroup::throws_faults: a lane of `op` may not touch its memory. True: it runs again,
  /// with what EXEC is now; EXEC then becomes what it was.
  virtual bool fault(Wave&, const Op&, const MemoryFault&) { return false; }
  /// All waves that have not ended stand at a barrier, which now opens.
  virtual void barrier(Workgroup&) {}
  /// All waves have ended.
  virtual void end(Workgroup&) {}
  /// No wave ends and no barrier opens any more: the run is about to stop.
  virtual void hang(Workgroup&) {}
};

/// Makes one observer for each workgroup that is resident at a time; called from any thread.
class ObserverFactory {
public:
  virtual ~ObserverFactory() = default;
  virtual std::unique_ptr<Observer> make() = 0;
  /// Of no other factory of the process, whereas its address may become that of a later one.
  std::uint64_t serial() const { return serial_; }

private:
  inline static std::atomic<std::uint64_t> factories{0};
  std::uint64_t serial_ = ++factories;
};

} // namespace wavesim
