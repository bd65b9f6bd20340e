/// \file
/// Q, K and V from global memory to LDS on NVIDIA GPUs.
#pragma once

#include <wavetile/arch/cuda/cp_async.hpp>
#include <wavetile/kernels/attention/cuda/tiles.hpp>
#include <wavetile/kernels/attention/problem.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// 16 bytes to LDS and from there, and a word.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_chunk(uint32_t address,
                                                       const uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};"
               :
               : "r"(address), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_chunk(uint32_t (&words)[4], uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_word(uint32_t address, uint32_t word) {
  asm volatile("st.shared.b32 [%0], %1;" : : "r"(address), "r"(word) : "memory");
}

/// 16 bytes at the address of an element, for rows that are not aligned.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_elements(uint32_t (&words)[4], const void* from) {
  if (reinterpret_cast<uint64_t>(from) % 4 == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = static_cast<const uint32_t*>(from)[i];
  } else {
    const auto* const elements = static_cast<const uint16_t*>(from);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = elements[2 * i] | uint32_t{elements[2 * i + 1]} << 16;
  }
}

/// Two fp32 as neighbouring elements of an output; `aligned`: to both together.
template <class Output>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_pair(Output* to, bool aligned, float low,
                                                      float high) {
  const vec<Output, 2> pair{{convert<Output>(low), convert<Output>(high)}};
  if (aligned)
    store_vec(to, pair);
  else
    to[0] = pair[0], to[1] = pair[1];
}

/// Whether all rows of an array of 16-bit elements can be taken in chunks of 16 bytes.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool in_chunks(const T* data, const attention_steps& steps) {
  return ((reinterpret_cast<uint64_t>(data) | static_cast<uint64_t>(2 * steps.head) |
           static_cast<uint64_t>(2 * steps.row)) &
          15u) == 0;
}

/// Four fp32 to LDS and from there.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_floats(uint32_t address, const float (&from)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};"
               :
               : "r"(address), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
               : "memory");
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_floats(float (&to)[4], uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address)
               : "memory");
}

/// One array, K or V, of one head of one batch: in rows, or (`Form` cache) also in pages of
/// 2^`page_shift` >= 16 rows of every head, of which `pages` lists those of a sequence in order.
/// Numbers of pages that do not exist are clamped.
template <attention_form Form>
struct row_source {
  const char* data;     ///< of the first row, or of the head's first row in page 0
  int64_t row_bytes;    ///< from one row to the next
  int64_t page_bytes;   ///< from one page to the next
  const int32_t* pages; ///< of the sequence; null: the rows follow each other
  int rows;
  int page_shift;
  int last_page;

  /// Whether every chunk of 16 bytes is at a multiple of 16.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool aligned() const {
    return ((reinterpret_cast<uint64_t>(data) | static_cast<uint64_t>(row_bytes) |
             static_cast<uint64_t>(Form == attention_form::cache ? page_bytes : 0)) &
            15u) == 0;
  }
};

/// Brings the tiles of a step, of one array with `Elements` in a row.
template <attention_form Form, attention_config Config, int Elements>
class tile_loader {
  static constexpr layout where = head_layout(Config.keys, Elements);
  static constexpr int chunks = Elements / 8; ///< of a row
  static constexpr int units = Config.keys * chunks;
  static constexpr int loads = (units + Config.threads() - 1) / Config.threads();
  /// Rows of a copy of the whole workgroup, where its threads are whole rows.
  static constexpr bool whole_rows = Config.threads() % chunks == 0;
  static constexpr int rows_at_once = whole_rows ? Config.threads() / chunks : 0;
  static constexpr int page_groups = Form == attention_form::cache ? Config.keys / 16 : 1;

  const row_source<Form> source_;
  const int thread_;
  const bool aligned_;
  int page_[page_groups]; ///< of each 16 rows of the next step

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE coordinate unit(int i) const {
    if constexpr (whole_rows)
      return {thread_ / chunks + i * rows_at_once, thread_ % chunks * 8};
    const int number = thread_ + i * Config.threads();
    return {number / chunks, number % chunks * 8};
  }

  /// The page of copy `i`, which is in row `row` of the step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int page_of(int i, int row) const {
    if constexpr (whole_rows && rows_at_once <= 16 &&
                  16 % (rows_at_once == 0 ? 1 : rows_at_once) == 0) {
      return page_[i * rows_at_once / 16];
    } else {
      int own = page_[0];
#pragma unroll
      for (int group = 1; group < page_groups; ++group)
        own = row >= 16 * group ? page_[group] : own;
      return own;
    }
  }

  /// Address of a row; `i` names the copy.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* row_address(int i, int first, int row) const {
    if constexpr (Form == attention_form::cache) {
      if (source_.pages != nullptr) {
        const int in_page = (first + row) & static_cast<int>((1u << source_.page_shift) - 1);
        return source_.data + page_of(i, row) * source_.page_bytes + in_page * source_.row_bytes;
      }
    }
    return source_.data + (first + row) * source_.row_bytes;
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_loader(const row_source<Form>& source, int thread)
      : source_(source), thread_(thread), aligned_(source.aligned()), page_{} {}

  /// Asks for the pages of the step that begins with key `first`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void look_up(int first) {
    if constexpr (Form == attention_form::cache) {
      if (source_.pages == nullptr)
        return;
#pragma unroll
      for (int group = 0; group < page_groups; ++group) {
        const int row = first + 16 * group;
        int page = row < source_.rows ? source_.pages[row >> source_.page_shift] : 0;
        page = page < 0 ? 0 : page;
        page_[group] = page < source_.last_page ? page : source_.last_page;
      }
    }
  }

  /// Starts the copies of the step that begins with key `first`, one that exists, to the tile at
  /// `to`; rows beyond the last become zero.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(uint32_t to, int first) const {
    const int left = source_.rows - first;
    if (aligned_) {
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        const coordinate own = unit(i);
        if (units % Config.threads() != 0 && thread_ + i * Config.threads() >= units)
          break;
        instruction::copy_async(to + offset_in<where>(own.row, own.column),
                                row_address(i, first, own.row) + 2 * own.column,
                                own.row < left ? 16 : 0);
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; i < loads; ++i) {
      const int number = thread_ + i * Config.threads();
      const coordinate own{number / chunks, number % chunks * 8};
      if (number >= units)
        break;
      uint32_t words[4] = {};
      if (own.row < left) {
        int page = 0;
        const char* from = source_.data;
        if (Form == attention_form::cache && source_.pages != nullptr) {
#pragma unroll
          for (int group = 0; group < page_groups; ++group)
            page = own.row >= 16 * group ? page_[group] : page;
          from += page * source_.page_bytes +
                  ((first + own.row) & static_cast<int>((1u << source_.page_shift) - 1)) *
                      source_.row_bytes;
        } else {
          from += (first + own.row) * source_.row_bytes;
        }
        load_elements(words, from + 2 * own.column);
      }
      store_chunk(to + offset_in<where>(own.row, own.column), words);
    }
  }
};

} // namespace wavetile::kernels

#endif
