#include "machine/parallel_safety.hpp"

#include "loader/code_object.hpp"
#include "machine/fault.hpp"
#include "machine/scalar_constants.hpp"

#include <fmt/format.h>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace wavesim {

namespace {

/// Operations of one class give the same memory in any order.
enum class Commuting { none, add, bit_and, bit_or, bit_xor, smin, smax, umin, umax };

/// "global_atomic_add_x2" → "add_x2".
std::string_view atomic_name(std::string_view mnemonic) {
  const auto at = mnemonic.find("atomic_");
  return at == std::string_view::npos ? std::string_view{} : mnemonic.substr(at + 7);
}

Commuting commuting_class(std::string_view name) {
  if (name.ends_with("_x2"))
    name.remove_suffix(3);
  // Subtraction commutes with addition; swap, cmpswap, inc and dec do not commute with themselves.
  if (name == "add" || name == "sub")
    return Commuting::add;
  if (name == "and")
    return Commuting::bit_and;
  if (name == "or")
    return Commuting::bit_or;
  if (name == "xor")
    return Commuting::bit_xor;
  if (name == "smin")
    return Commuting::smin;
  if (name == "smax")
    return Commuting::smax;
  if (name == "umin")
    return Commuting::umin;
  if (name == "umax")
    return Commuting::umax;
  return Commuting::none;
}

class Walk {
public:
  explicit Walk(const Kernel& kernel) : object_(*kernel.object), entry_(kernel.entry) {}

  ParallelVerdict run() {
    // What is known about registers holds only up to the next place that can be jumped to, and such
    // places turn up behind the fact: walk again until there are no new ones.
    std::size_t before;
    do {
      before = labels_.size();
      seen_.clear();
      atomics_ = Commuting::none;
      push(entry_);
      while (!work_.empty() && reason_.empty()) {
        const std::uint64_t pc = work_.back();
        work_.pop_back();
        straight_line(pc);
      }
    } while (reason_.empty() && labels_.size() != before);
    return {reason_.empty(), reason_};
  }

private:
  void push(std::uint64_t pc) {
    labels_.insert(pc);
    if (!seen_.contains(pc))
      work_.push_back(pc);
  }

  void refuse(const Op& op, const char* why) {
    reason_ = fmt::format("{}: {}", object_.text(op.pc), why);
  }

  void straight_line(std::uint64_t pc) {
    constants_.clear();
    while (reason_.empty() && seen_.insert(pc).second) {
      if (labels_.contains(pc))
        constants_.clear();
      const Op* op = object_.at(pc);
      if (!op || !op->info) {
        // Executing it stops the process, whichever workgroup comes first.
        return;
      }
      check_memory(*op);
      constants_.step(*op);
      const std::string_view name = op->info->mnemonic;
      if (op->info->flags & op_ends)
        return;
      if (name == "s_setpc_b64" || name == "s_swappc_b64") {
        if (!follow_indirect(*op, name == "s_swappc_b64"))
          return;
      } else if (op->info->flags & op_indirect) {
        refuse(*op, "its target is not known before it runs");
        return;
      } else if (op->info->flags & op_branch) {
        push(op->target);
        if (name == "s_branch")
          return;
        if (name == "s_call_b64")
          constants_.clear();
      }
      pc += op->size;
    }
  }

  /// Whether the code goes on behind the instruction.
  bool follow_indirect(const Op& op, bool call) {
    constexpr unsigned return_address = 30; // s[30:31] of LLVM's calling convention
    const unsigned target = op.src[0].reg;
    const auto known = constants_.pair(target);
    if (known) {
      push(*known);
    } else if (call || target != return_address) {
      refuse(op, "its target is not known before it runs");
      return false;
    }
    if (call)
      constants_.clear(); // the callee may change them
    return call;
  }

  void check_memory(const Op& op) {
    const bool global = op.format == Format::flat || op.format == Format::mubuf;
    if (op.info->unit == Unit::message) {
      refuse(op, "a message to the host");
    } else if (!global || op.segment == Segment::scratch) {
      return;
    } else if (op.info->flags & op_atomic) {
      const Commuting kind = commuting_class(atomic_name(op.info->mnemonic));
      if (op.sc0)
        refuse(op, "an atomic that returns the old value");
      else if (kind == Commuting::none || (op.info->flags & op_float_atomic))
        refuse(op, "an atomic whose result depends on the order");
      else if (atomics_ != Commuting::none && atomics_ != kind)
        refuse(op, "atomics of different kinds, whose order may matter");
      atomics_ = kind;
    } else if ((op.info->flags & op_load) && op.sc1) {
      refuse(op, "a load that other workgroups' stores must reach");
    }
  }

  const CodeObject& object_;
  std::uint64_t entry_;
  ScalarConstants constants_{object_};
  std::vector<std::uint64_t> work_;
  std::unordered_set<std::uint64_t> seen_, labels_;
  Commuting atomics_ = Commuting::none;
  std::string reason_;
};

} // namespace

const ParallelVerdict& parallel_verdict(const Kernel& kernel) {
  std::call_once(kernel.verdict_once,
                 [&] { kernel.verdict = std::make_unique<ParallelVerdict>(Walk(kernel).run()); });
  return *kernel.verdict;
}

} // namespace wavesim
