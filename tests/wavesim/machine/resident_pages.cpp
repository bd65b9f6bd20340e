#include "machine/resident_pages.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace wavesim {

namespace {

constexpr std::size_t page = 4096, window = 4096 * page;

/// Calls `f(begin, bytes, here)` for each run of pages that are all there, or all not.
template <class F>
void for_each_run(std::byte* memory, std::size_t bytes, const F& f) {
  static thread_local unsigned char resident[window / page];
  for (std::size_t at = 0; at < bytes; at += window) {
    const std::size_t length = std::min(window, bytes - at);
    const std::size_t pages = (length + page - 1) / page;
    if (mincore(memory + at, length, resident) != 0)
      std::fill_n(resident, pages, static_cast<unsigned char>(1));
    for (std::size_t i = 0, end; i < pages; i = end) {
      const bool here = resident[i] & 1;
      for (end = i + 1; end < pages && (resident[end] & 1) == here; ++end) {
      }
      f(memory + at + i * page, std::min(end * page, length) - i * page, here);
    }
  }
}

} // namespace

void clear_resident(std::byte* memory, std::size_t bytes) {
  constexpr std::size_t not_worth_asking = 64 * page;
  if (bytes <= not_worth_asking) {
    if (bytes != 0)
      std::memset(memory, 0, bytes);
    return;
  }
  for_each_run(memory, bytes, [](std::byte* begin, std::size_t length, bool here) {
    if (here)
      std::memset(begin, 0, length);
    else // absent, or swapped out
      madvise(begin, length, MADV_DONTNEED);
  });
}

std::size_t resident_bytes(const std::byte* memory, std::size_t bytes) {
  std::size_t sum = 0;
  for_each_run(const_cast<std::byte*>(memory), bytes,
               [&](const std::byte*, std::size_t length, bool here) { sum += here ? length : 0; });
  return sum;
}

} // namespace wavesim
