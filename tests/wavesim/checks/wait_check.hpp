// `wait`: a register is used or overwritten while the load that fills it is on its way, or LDS is
// touched where a load straight into LDS has not arrived.
#pragma once

#include "checks/outstanding.hpp"

namespace wavesim {

struct Wave;
struct LdsRow;

/// Before `op` runs. `lds_rows`: its LDS byte addresses where it is a DS instruction (one row
/// for each piece), else null.
void check_wait(const Wave& wave, const Op& op, const OpFacts& facts, Outstanding& outstanding,
                const LdsRow* lds_rows);

} // namespace wavesim
