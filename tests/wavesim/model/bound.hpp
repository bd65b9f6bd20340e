// What a kernel's work must at least cost a compute unit: each unit's own clocks, and the one that
// binds. A lower bound: whatever is not known to take time takes none.
#pragma once

#include "model/residency.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wavesim {

struct Dispatch;
struct Op;
struct OpTally;
struct Tally;

enum class BoundUnit : std::uint8_t { matrix, vector, scalar, lds, vector_memory, l2, hbm, count };
const char* bound_unit_name(BoundUnit unit);

/// Sums over dispatches of one kernel. Quantities are totals over all workgroups, in clocks of one
/// unit of a compute unit; SIMDs are not yet divided by.
class Bound {
public:
  /// One instruction of the code with what it did.
  void add_instruction(const Op& op, const OpTally& done);
  /// The rest of a dispatch.
  void add_dispatch(const Dispatch& dispatch, const Tally& tally);
  Bound& operator+=(const Bound& other);

  std::uint64_t groups() const { return groups_; }
  const Residency& residency() const { return residency_; } ///< of the last dispatch

  /// Clocks of a compute unit that the average workgroup takes of the unit, however many are there.
  /// HBM belongs to the device: the share of one compute unit when all of them ask.
  double clocks(BoundUnit unit) const;
  BoundUnit binding() const;       ///< of all units
  BoundUnit group_binding() const; ///< of those of a compute unit: HBM left out
  /// Clocks of the average workgroup with a compute unit to itself, latencies included (WavePace).
  double alone() const;
  /// Clocks between the ends of two workgroups of a compute unit that is full of them, by latency
  /// alone: what `alone` leaves when the resident ones overlap perfectly.
  double latency() const;
  /// The larger of latency() and the compute unit's binding clocks: for ranking variants of a
  /// kernel on one problem, whose HBM traffic is the same. An estimate, no bound.
  double estimate() const;
  /// Microseconds that the dispatches take at least on the whole device at its peak clock.
  double microseconds() const;

private:
  double total(BoundUnit unit) const;
  double device_clocks() const;

  std::uint64_t matrix_ = 0, vector_ = 0, scalar_ = 0;
  std::uint64_t lds_banks_ = 0, lds_ports_ = 0;
  std::uint64_t look_ups_ = 0, vector_bytes_ = 0, l2_lines_ = 0, hbm_lines_ = 0;
  std::uint64_t groups_ = 0;
  double alone_ = 0, latency_ = 0; ///< latency_: alone / resident, summed
  double device_clocks_ = 0;
  Residency residency_;
};

std::string bound_text(const Bound& bound);
nlohmann::ordered_json bound_json(const Bound& bound);

} // namespace wavesim
