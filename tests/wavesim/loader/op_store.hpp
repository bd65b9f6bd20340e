// Decoded instructions of a code object, in the order of their first decode. They never move, and
// those decoded one after the other lie one behind the other: the run loop reads them in sequence.
#pragma once

#include "isa/op.hpp"

#include <cstddef>
#include <vector>

namespace wavesim {

class OpStore {
public:
  OpStore() = default;
  ~OpStore();
  OpStore(const OpStore&) = delete;
  OpStore& operator=(const OpStore&) = delete;

  /// Keeps a copy and numbers it. While others may run the instructions before it: what follows
  /// one of them is told through Op::followed.
  const Op& add(const Op& op);
  std::vector<const Op*> all() const; ///< by id

private:
  struct Slab {
    Op* begin = nullptr;
    std::size_t capacity = 0, used = 0;
    void* mapping = nullptr;
    std::size_t mapped_bytes = 0;
  };
  void grow();
  std::vector<Slab> slabs_;
  std::uint32_t count_ = 0;
};

} // namespace wavesim
