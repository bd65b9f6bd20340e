// `uninit`: values nobody wrote. Every lane of every vector register, every bit of a scalar
// register (lane masks live there) and every byte of LDS and private memory is known to be defined
// or not; the property moves with the data. Nothing is said while undefined values are only moved
// and computed with: compilers do that all the time. It is reported when one decides an address, a
// branch or EXEC, or is written to global memory.
//
// A register of a lane counts as defined when any part of it is, and so does a dword read from LDS
// or private memory: padding inside structures is no fault.
#pragma once

#include "checks/lds_addresses.hpp"
#include "checks/uninit_state.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace wavesim {

class UninitCheck {
public:
  UninitCheck();
  ~UninitCheck();
  void start(const Workgroup& group);
  /// Before `op` runs. `lds_rows`: rows of its LDS addresses if it is a DS instruction on LDS.
  void step(const Wave& wave, const Op& op, const OpFacts& facts, const LdsRow* lds_rows);

private:
  using State = UninitState;
  using Mask = State::Mask;
  /// A value as an operand: which lanes are defined, and where the others come from.
  struct Value {
    Mask lanes = ~Mask{0};
    std::uint64_t origin = 0;
  };

  // Scalar instructions (uninit_scalar.cpp)
  void branch(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  void scalar(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  Value all_scalars(const State& s, const OpFacts& facts) const;

  // Vector instructions (uninit_vector.cpp)
  void vector(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  bool special(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  void shift64(State& s, const Wave& wave, const Op& op, std::string_view name);
  Value source(State& s, const Wave& wave, const Op& op, unsigned i, unsigned dword);
  Value dpp_source(State& s, const Wave& wave, const Op& op, unsigned dword, Mask& written);
  Value lane_mask(const State& s, const Source& source) const;
  void matrix(State& s, const Op& op, const OpFacts& facts);
  void write(State& s, unsigned reg, Mask written, Value value, std::uint64_t pc);

  // Memory instructions (uninit_memory.cpp)
  void lds(State& s, const Wave& wave, const Op& op, const OpFacts& facts, const LdsRow* rows);
  void lane_move(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  void memory(State& s, const Wave& wave, const Op& op, const OpFacts& facts);
  void check_address(State& s, const Wave& wave, const Op& op, unsigned first, unsigned count);
  void check_scalar_address(State& s, const Wave& wave, const Op& op, unsigned first,
                            unsigned count);
  void private_memory(State& s, const Op& op, const OpFacts& facts, const std::int64_t* offset,
                      Mask mask);
  void lds_access(State& s, const Op& op, const OpFacts& facts, const LdsRow& row, unsigned first,
                  Mask mask);
  void lds_load(State& s, const Op& op, const OpFacts& facts, const LdsRow& row, unsigned first,
                Mask mask);
  void lds_store(State& s, const OpFacts& facts, const LdsRow& row, unsigned first, Mask mask);

  /// Reports the lanes of `mask`; the register then passes for defined.
  void decides(const Wave& wave, const Op& op, const char* what, Mask mask, std::uint64_t origin,
               const std::string& name);

  std::vector<std::unique_ptr<State>> waves_;
  std::vector<std::uint8_t> lds_; ///< 1: defined
  std::uint32_t lds_bytes_ = 0;
  std::unique_ptr<Wave> shadow_; ///< runs instructions that move lanes on definedness
};

} // namespace wavesim
