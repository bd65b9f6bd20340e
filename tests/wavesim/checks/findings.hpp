// What the checks found in this process: every distinct finding once, with a count.
#pragma once

#include "checks/check_kind.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavesim {

struct Wave;
struct Workgroup;

inline constexpr int findings_exit_code = 86;

/// One of the instructions a finding is about, as the check knows it.
struct Actor {
  const char* role = "";   ///< "write", "load", "barrier", …
  std::uint64_t pc = 0;    ///< 0: not known any more
  int wave = -1;           ///< -1: no particular one
  std::uint64_t lanes = 0; ///< that took part; 0: not known
};

/// One occurrence.
struct Sighting {
  Check check = Check::race;
  const char* what = "";            ///< a fixed sentence; tells findings of one check apart
  const Workgroup* group = nullptr; ///< null for findings outside of kernels
  Actor here;                       ///< where it was noticed
  Actor other;                      ///< role "": there is no other side
  std::uint64_t address = 0;        ///< of the lowest lane of `here`; LDS: byte offset
  const char* space = "";           ///< "LDS", "global memory", …; "": no address
  std::string detail;               ///< figures of this occurrence, or ""
  bool failing = true;              ///< counts for the exit code
  bool note = false; ///< legal, only worth knowing: printed on request (WAVESIM_CHECK_NOTES=1)
};

struct Finding {
  struct Side {
    std::string role, instruction, function, source;
    std::uint64_t offset = 0; ///< into the text section
    int wave = -1;
    std::uint64_t lanes = 0;
  };
  Check check = Check::race;
  std::string what, kernel, detail, space;
  std::uint32_t workgroup[3] = {0, 0, 0};
  bool in_kernel = false;
  Side here, other;
  std::uint64_t address = 0;
  bool failing = true, note = false;
  std::uint64_t count = 0;
};

class Findings {
public:
  static Findings& instance();

  /// Prints the first occurrence of a finding to stderr as it comes, so that nothing is lost when
  /// the program dies; counts the others.
  void add(const Sighting& sighting);
  std::vector<Finding> all() const;
  bool any_failing() const;
  /// The closing table, or "" when nothing was found.
  std::string summary() const;
  void clear();
  void set_printing(bool on) { printing_ = on; }
  void set_notes(bool on) { notes_ = on; }

private:
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_; ///< hash of a sighting → finding
  bool printing_ = true, notes_ = false;
};

/// "0-15,20" of a lane mask.
std::string lane_list(std::uint64_t mask);

/// A finding as people read it.
std::string to_text(const Finding& finding, std::size_t number);

} // namespace wavesim
