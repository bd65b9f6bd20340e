#include "loader/op_store.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <type_traits>

namespace wavesim {

static_assert(std::is_trivially_destructible_v<Op>);

OpStore::~OpStore() {
  for (const Slab& slab : slabs_)
    munmap(slab.mapping, slab.mapped_bytes);
}

/// Slabs double from 48 KiB to 12 MiB; large ones ask for huge pages, or the address translation of
/// an unrolled kernel costs more than its instructions.
void OpStore::grow() {
  constexpr std::size_t first = 256, last = 65536, huge_page = std::size_t{1} << 21;
  Slab slab;
  slab.capacity = slabs_.empty() ? first : std::min(last, 2 * slabs_.back().capacity);
  const std::size_t bytes = slab.capacity * sizeof(Op);
  const std::size_t alignment = bytes >= huge_page ? huge_page : 4096;
  slab.mapped_bytes = bytes + alignment - 4096;
  slab.mapping = mmap(nullptr, slab.mapped_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab.mapping == MAP_FAILED)
    throw std::bad_alloc();
  void* begin = slab.mapping;
  std::size_t space = slab.mapped_bytes;
  slab.begin = static_cast<Op*>(std::align(alignment, bytes, begin, space));
  if (alignment == huge_page)
    madvise(slab.begin, bytes, MADV_HUGEPAGE);
  slabs_.push_back(slab);
}

const Op& OpStore::add(const Op& op) {
  if (slabs_.empty() || slabs_.back().used == slabs_.back().capacity)
    grow();
  Slab& slab = slabs_.back();
  Op* const kept = new (slab.begin + slab.used++) Op(op);
  kept->id = count_++;
  if (slab.used > 1 && kept[-1].pc + kept[-1].size == kept->pc)
    std::atomic_ref(kept[-1].followed).store(true, std::memory_order_release);
  return *kept;
}

std::vector<const Op*> OpStore::all() const {
  std::vector<const Op*> ops;
  ops.reserve(count_);
  for (const Slab& slab : slabs_)
    for (std::size_t i = 0; i < slab.used; ++i)
      ops.push_back(slab.begin + i);
  return ops;
}

} // namespace wavesim
