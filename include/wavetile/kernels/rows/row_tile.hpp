/// \file
/// How a row is dealt out to the lanes that work on it, and the part of it a lane keeps in
/// registers.
///
/// The team's lanes take chunks of consecutive elements in turn: chunk c belongs to lane c mod
/// team, slot c div team. The columns after the last whole chunk, the tail, go to lanes 0, 1, …,
/// one each. Which lane adds up which column therefore depends on the length of the row and on the
/// team, not on where the row lies in memory: results are the same bit for bit at every address.
///
/// A chunk is one access of 16 bytes (two where another array of the problem has smaller elements)
/// at every address that is a multiple of the element size: the HSA ABI runs gfx9 with unaligned
/// accesses enabled, and LLVM relies on that too (it would join the elements again if they were
/// loaded one by one). Rows that are not multiples of 16 bytes apart only touch more cache lines.
/// Elsewhere see core/detail/any_address.hpp.
#pragma once

#include <wavetile/core/detail/any_address.hpp>
#include <wavetile/core/vec.hpp>

namespace wavetile::kernels {

/// Stores to any multiple of the element size, in accesses as wide as the target allows.
template <class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_chunk(T* to, const vec<T, N>& value) {
  wavetile::detail::store_anywhere(to, value);
}

/// Whole chunks and tail columns at the start of a row.
struct row_prefix {
  uint32_t chunks;
  uint32_t tail;
};

/// A lane's share of a row of fewer than 2^31 columns. `Exact`, where it is not 0: the row takes as
/// many slots and has no tail; all lanes fill all of its slots but the last, with `Full` that, too.
template <int Chunk, int Exact = 0, bool Full = false>
struct row_share {
  /// Slots known to be filled by all lanes.
  static constexpr int filled = Exact - (Full ? 0 : 1);

  uint32_t lane;  ///< of this lane in its team
  uint32_t team;  ///< lanes of the team; the same in all lanes of the wave
  row_prefix all; ///< the whole row; the same in all lanes of the wave

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_share(uint32_t own_lane, uint32_t team_lanes,
                                                  uint32_t columns)
      : lane(own_lane), team(team_lanes), all{columns / Chunk, columns % Chunk} {}

  /// The same share, of which the optimiser does not know that it is: else it forms the conditions
  /// of all slots once and keeps them, two scalar registers each, as long as they may be needed.
  /// With `Exact` there is but one, and nothing is to be forgotten.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_share afresh() const {
    row_share copy = *this;
    if constexpr (Exact == 0)
      copy.forget();
    return copy;
  }
  /// Lets the optimiser forget what it knows of this share: addresses are formed again, in the form
  /// that an access takes, where they would else be kept from another place.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void forget() {
#if WAVETILE_AMDGCN
    asm volatile("" : "+v"(lane));
#endif
  }

  /// The chunks and tail columns that columns 0 … count-1 touch.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_prefix first(uint32_t count) const {
    const uint32_t chunks = (count + (Chunk - 1)) / Chunk;
    const uint32_t body = all.chunks * Chunk;
    return {chunks < all.chunks ? chunks : all.chunks, count > body ? count - body : 0};
  }

  /// False from the first slot on that no lane of the team fills, give or take a quarter of the
  /// `Slots`; uniform. Finer steps save little work and cost a scalar condition each.
  template <int Slots>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool in_use(int slot) const {
    if constexpr (Exact != 0)
      return true;
    constexpr int step = Slots > 4 ? Slots / 4 : 1;
    const int first = slot / step * step;
    return first == 0 || static_cast<uint32_t>(first) * team < all.chunks;
  }
  /// Columns from the lane's first to the end of the whole chunks among the first `count` columns:
  /// element e of slot k is one of those when k team Chunk + e is less.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int reach(uint32_t count) const {
    const uint32_t body = all.chunks * Chunk;
    return static_cast<int>(count < body ? count : body) - static_cast<int>(lane * Chunk);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int step(int slot, int element) const {
    return static_cast<int>(static_cast<uint32_t>(slot) * team * Chunk) + element;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool owns(int slot, row_prefix prefix) const {
    return slot < filled || lane + static_cast<uint32_t>(slot) * team < prefix.chunks;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool owns_tail(row_prefix prefix) const {
    return Exact == 0 && lane < prefix.tail;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t tail_column() const {
    return all.chunks * Chunk + lane;
  }
  /// Where the lane's chunk of a slot starts: a scalar step, then the lane's. With `Exact` the
  /// lane's is in bytes of 32 bits, which an access adds by itself, as it does what of the step its
  /// immediate offset takes.
  template <class T>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T* at(T* row, int slot) const {
    if constexpr (Exact != 0) {
      using byte =
          wavetile::detail::conditional_t<wavetile::detail::is_const_v<T>, const char, char>;
      constexpr auto bytes = static_cast<uint32_t>(Chunk * sizeof(T));
      constexpr uint32_t reach = 4096; // of immediate offsets on gfx9
      const uint32_t step = static_cast<uint32_t>(slot) * team * bytes;
      return reinterpret_cast<T*>(reinterpret_cast<byte*>(row) + step % reach +
                                  (lane * bytes + step / reach * reach));
    } else {
      return row + static_cast<uint32_t>(slot) * team * Chunk + lane * Chunk;
    }
  }
};

/// A chunk as read, in dwords that the optimiser cannot see through: else it converts each chunk
/// next to its load, which then has to be waited for before the next load is issued; and of long
/// rows it keeps the converted elements, for which there are not enough registers.
template <int Words>
class chunk_words {
public:
  /// Any value, at no cost.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void make_anything() {
#pragma unroll
    for (int i = 0; i < Words; ++i)
#if WAVETILE_AMDGCN
      asm volatile("" : "=v"(word_[i])); // volatile: else one register serves all, and is copied
#else
      word_[i] = 0;
#endif
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void fill(uint32_t word) {
#pragma unroll
    for (int i = 0; i < Words; ++i)
      word_[i] = word;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const void* from) {
    wavetile::detail::load_anywhere(word_, from);
  }
  template <class V>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void put(const V& value) {
    static_assert(sizeof value == sizeof word_);
    __builtin_memcpy(&word_, &value, sizeof word_);
  }
  /// The elements. Waits for the load.
  template <class V>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE V as() {
#if WAVETILE_AMDGCN
#pragma unroll
    for (int i = 0; i < Words; ++i)
      asm("" : "+v"(word_[i]));
#endif
    V result;
    static_assert(sizeof result == sizeof word_);
    __builtin_memcpy(&result, &word_, sizeof result);
    return result;
  }

private:
  uint32_t word_[Words];
};

/// What a lane holds of a row: `Slots` chunks and one tail element, as read.
template <class T, int Chunk, int Slots>
class row_tile {
  static_assert(sizeof(vec<T, Chunk>) % 4 == 0);

public:
  /// Reads the lane's share of the prefix of `row`. All loads are issued before the first is
  /// needed. What is not read holds anything.
  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const T* row, const Share& share,
                                                  row_prefix prefix) {
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      if (k >= Share::filled)
        body_[k].make_anything();
      if (share.owns(k, prefix))
        body_[k].load(share.at(row, k));
    }
    tail_ = T{};
    if (share.owns_tail(prefix))
      tail_ = row[share.tail_column()];
  }

  /// The same, but the elements of chunks that are not read, in slots that are in use, hold
  /// `other`: nobody needs to ask later which ones were read.
  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_or(const T* row, const Share& share,
                                                     row_prefix prefix, T other) {
    uint32_t word = 0;
    for (size_t at = 0; at < sizeof word; at += sizeof other)
      __builtin_memcpy(reinterpret_cast<unsigned char*>(&word) + at, &other, sizeof other);
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      if (k < Share::filled) {
        body_[k].load(share.at(row, k));
        continue;
      }
      body_[k].make_anything();
      if (Slots <= 4 || share.template in_use<Slots>(k)) {
        body_[k].fill(word);
        if (share.owns(k, prefix))
          body_[k].load(share.at(row, k));
      }
    }
    tail_ = T{};
    if (share.owns_tail(prefix))
      tail_ = row[share.tail_column()];
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void put(int slot, const vec<T, Chunk>& value) {
    body_[slot].put(value);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void put_tail(T value) {
    tail_ = value;
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, Chunk> chunk(int slot) {
    return body_[slot].template as<vec<T, Chunk>>();
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T tail() const {
    return tail_;
  }

private:
  chunk_words<static_cast<int>(sizeof(vec<T, Chunk>) / 4)> body_[Slots];
  T tail_;
};

/// `body(slot)` for every slot that a lane of the team fills.
template <int Slots, class Share, class Body>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void for_slots(const Share& share, Body body) {
#pragma unroll
  for (int k = 0; k < Slots; ++k)
    if (share.template in_use<Slots>(k))
      body(k);
}

/// Writes `value(slot)`, a vec of fp32, and for the tail `tail()` to the lane's share of the prefix
/// of `row`.
template <int Slots, class T, class Share, class Value, class Tail>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_row(T* row, const Share& share, row_prefix prefix,
                                                     Value value, Tail tail) {
#pragma unroll
  for (int k = 0; k < Slots; ++k)
    if (share.owns(k, prefix))
      store_chunk(share.at(row, k), convert<T>(value(k)));
  if (share.owns_tail(prefix))
    row[share.tail_column()] = convert<T>(static_cast<float>(tail()));
}

} // namespace wavetile::kernels
