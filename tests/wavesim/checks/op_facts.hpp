// What the checks need to know about an instruction, worked out once per instruction.
#pragma once

#include "checks/issue_role.hpp"
#include "checks/register_use.hpp"
#include "checks/scalar_rule.hpp"
#include "isa/mfma_facts.hpp"
#include "isa/op.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace wavesim {

class CodeObject;

/// What an instruction does as far as the counters of outstanding operations go.
enum class Counted : std::uint8_t { none, vector, scalar, lds, flat, message };

/// Operands of a matrix instruction.
struct MatrixUse {
  VectorSet a, b, c; ///< c: what is accumulated on
  VectorSet index;   ///< of a sparse one
};

struct OpFacts {
  const Op* op = nullptr;
  std::uint32_t words[2] = {0, 0}; ///< of `op` when this was made: code may be unloaded
  RegisterUse use;
  bool writes_vectors = false; ///< use.writes is not empty

  Counted counted = Counted::none;
  bool load = false, store = false, atomic = false;
  bool lds_memory = false; ///< DS instruction that touches LDS (not swizzle, permute, nop)
  bool lds_direct = false; ///< from memory straight into LDS
  bool upper_data = false; ///< DS write of the upper halves of its registers
  bool addtid = false;
  bool counts_lanes = false; ///< ds_append, ds_consume: one access, whatever lanes are active
  std::uint8_t bytes = 0;    ///< per lane and piece
  std::uint8_t pieces = 1;   ///< DS: two-address forms have two
  std::uint32_t piece_offset[2] = {0, 0};
  bool waitcnt = false, barrier = false, ends = false;
  bool reads_all_lanes = false; ///< MFMA, readlane, …: inactive lanes count
  bool valu = false;
  const MfmaFact* mfma = nullptr;
  std::unique_ptr<MatrixUse> matrix; ///< with `mfma`
  bool dot = false, fma_f64 = false;
  std::uint8_t wait_states = 1;
  IssueRole issue;
  ScalarRule scalar; ///< of scalar instructions
};

/// Facts of the code object that runs; one for each observer, so no locks on the way.
class FactTable {
public:
  const OpFacts& of(const Op& op) {
    if (op.id < facts_.size())
      if (const OpFacts* f = facts_[op.id].get();
          f && f->op == &op && f->words[0] == op.words[0] && f->words[1] == op.words[1]) [[likely]]
        return *f;
    return make(op);
  }

private:
  const OpFacts& make(const Op& op);
  std::vector<std::unique_ptr<OpFacts>> facts_; ///< by Op::id
};

} // namespace wavesim
