// The counts of a whole process: what `wavesim --counters` prints at exit and what the C interface
// of counters/api.h returns.
//
// Environment (set by the wavesim tool):
//   WAVESIM_COUNTERS=1       print a table to stderr at exit
//   WAVESIM_JSON=<file>      write the counts as JSON at exit
//   WAVESIM_PER_DISPATCH=1   list every dispatch beside the kernels
//   WAVESIM_LINES=1          list the source lines that cost most (code built with -g)
#pragma once

#include "counters/api.h"
#include "counters/report.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace wavesim {

struct Dispatch;
struct Tally;

class Session {
public:
  /// Whether dispatches must be counted now: RunOptions::count of the next one.
  bool counting() const;
  /// Takes the counts of a finished dispatch. Its code object may be unloaded afterwards.
  void add(const Dispatch& dispatch, const Tally& tally);
  /// Prints and writes what the environment asks for; to be called once, at process exit. False
  /// where the file could not be written, which has been said then.
  bool finish();

  int begin();                     ///< wavesim_counters_begin
  int end(wavesim_counts* counts); ///< wavesim_counters_end
  std::size_t instructions(wavesim_instruction* out, std::size_t capacity) const;

private:
  friend Session& session();
  Session();

  mutable std::mutex mutex_;
  bool print_ = false;
  ReportOptions options_;
  std::string json_;
  bool window_open_ = false;
  Report whole_;  ///< since the start of the process
  Report window_; ///< of the last begin … end
};

/// The only one. Never destroyed, so that it can be used from exit handlers.
Session& session();

} // namespace wavesim
