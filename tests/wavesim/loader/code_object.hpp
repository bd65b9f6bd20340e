// A loaded gfx942 code object: its segments in memory, its kernels with their metadata, its device
// variables, and the lazily decoded instructions.
#pragma once

#include "isa/op.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wavesim {

class CodeObject;
struct ParallelVerdict;

struct KernelArgument {
  std::uint32_t offset = 0, size = 0;
  std::string kind; ///< metadata's .value_kind: by_value, global_buffer, hidden_block_count_x, …
  bool is_hidden() const { return kind.starts_with("hidden_"); }
};

struct Kernel {
  std::string name; ///< mangled
  const CodeObject* object = nullptr;
  std::uint64_t descriptor = 0;    ///< device address of the .kd
  std::uint64_t entry = 0;         ///< address of the first instruction
  std::uint32_t lds_bytes = 0;     ///< static LDS
  std::uint32_t scratch_bytes = 0; ///< per lane
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t vgprs = 0, agprs = 0, sgprs = 0, max_workgroup = 1024; ///< vgprs, agprs: asked for
  std::uint32_t used_registers = 0; ///< VGPRs and AGPRs together, as the metadata has them
  bool dynamic_stack = false;
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0, kernarg_preload = 0;
  std::vector<KernelArgument> arguments; ///< explicit first, then hidden
  mutable std::once_flag verdict_once;   ///< see parallel_verdict()
  mutable std::unique_ptr<ParallelVerdict> verdict;
  Kernel();
  ~Kernel();
};

/// Result of a load: either an object or a sentence that says what is wrong with the bytes.
class CodeObject {
public:
  static std::unique_ptr<CodeObject> load(std::span<const std::byte> elf, std::string& error);
  ~CodeObject();

  const Kernel* kernel(const std::string& mangled) const;
  std::vector<const Kernel*> kernels() const; ///< all, in order of their descriptors
  struct Variable {
    std::uint64_t address = 0, size = 0;
  };
  const Variable* variable(const std::string& mangled) const;
  std::vector<std::string> variable_names() const; ///< sorted

  /// The instruction at `pc`, decoded on first use; null when pc is outside the code.
  const Op* at(std::uint64_t pc) const {
    const std::uint64_t slot = (pc - text_begin_) >> 2;
    if (slot >= slots_ || (pc & 3))
      return nullptr;
    const Op* op = decoded_[slot].load(std::memory_order_acquire);
    return op ? op : decode(pc);
  }
  /// The instruction behind `op`, which ends at `pc`, if it is decoded already; else null. For the
  /// run loop, which looks ahead.
  const Op* behind(const Op& op, std::uint64_t pc) const {
    if (std::atomic_ref(const_cast<bool&>(op.followed)).load(std::memory_order_acquire)) [[likely]]
      return &op + 1;
    return decoded_[(pc - text_begin_) >> 2].load(std::memory_order_acquire);
  }
  std::uint64_t text_begin() const { return text_begin_; }
  std::uint64_t text_end() const { return text_begin_ + 4 * slots_; }
  /// All instructions decoded so far, by id.
  std::vector<const Op*> decoded() const;
  /// "file:line" of an address from the object's DWARF, or "" without -g.
  std::string source_line(std::uint64_t pc) const;
  /// Name of the function or kernel that holds `pc`, demangled, or "".
  std::string function_name(std::uint64_t pc) const;
  /// The 8 bytes at `address` when they lie in memory that neither host nor kernels write.
  std::optional<std::uint64_t> constant64(std::uint64_t address) const;
  /// The instruction at `pc` as text, or "" outside the code.
  std::string text(std::uint64_t pc) const;

private:
  CodeObject() = default;
  const Op* decode(std::uint64_t pc) const; ///< thread-safe
  std::uint64_t text_begin_ = 0, slots_ = 0;
  std::atomic<const Op*>* decoded_ = nullptr; ///< mapped zero pages
  struct Parts;                               ///< segments, symbol tables, decoder, symboliser
  std::unique_ptr<Parts> parts_;
};

} // namespace wavesim
