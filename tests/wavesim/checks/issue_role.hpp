// What an instruction is in the hazards between scalar, vector and memory instructions.
#pragma once

#include <cstdint>

namespace wavesim {

struct Op;
struct OpFacts;

struct IssueRole {
  /// What a hazard can begin with.
  enum Producer : std::uint8_t {
    vector_scalar, ///< a vector instruction that writes SGPRs or VCC
    vector_exec,   ///< one that writes EXEC
    vector_result, ///< one that writes a VGPR
    other_result,  ///< another instruction that writes a VGPR
    transcendental,
    part_of_dword, ///< SDWA or op_sel places the result in a part of the register
    wide_store,    ///< more than 8 bytes a lane: its data is read late
    set_register,  ///< s_setreg
    scalar_m0,     ///< a scalar instruction that writes M0
    producers
  };
  std::uint16_t makes = 0;                      ///< bit p: is a Producer p
  std::uint16_t minds = 0;                      ///< bit p: some rule has Producer p in front of it
  bool vmem = false;                            ///< global, buffer, scratch or FLAT
  bool lane_access = false, reads_lane = false; ///< v_readlane and its kin; without v_writelane
  bool div_fmas = false, uses_vccz = false, uses_execz = false;
  std::uint8_t data_dwords = 0; ///< of a wide store

  bool is(Producer p) const { return makes >> p & 1; }
};

/// Of an instruction whose other facts are complete.
IssueRole issue_role(const Op& op, const OpFacts& facts);

} // namespace wavesim
