/// \file
/// The LDS through which the waves of a workgroup exchange one value each.
#pragma once

#include <wavetile/lds/bank_conflicts.hpp>
#include <wavetile/lds/tile.hpp>
#include <wavetile/wave/detail/carrier.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::detail {

/// Dwords that hold a T in whatever form it is reduced.
template <class T>
inline constexpr int slot_dwords = dword_count<T>;
template <class T, class Index>
inline constexpr int slot_dwords<indexed<T, Index>> =
    dword_count<indexed<T, Index>> > dword_count<indexed<int32_t, Index>>
        ? dword_count<indexed<T, Index>>
        : dword_count<indexed<int32_t, Index>>;

/// The power of two at or above `n`.
constexpr int power_of_two_from(int n) {
  int power = 1;
  while (power < n)
    power *= 2;
  return power;
}

/// `Count` slots of `Dwords` dwords, one after the other.
template <int Dwords, int Count>
class wave_slots {
  static constexpr layout where = row_major(Count, Dwords, 4);
  // the widest access that a slot's alignment permits
  static constexpr int access_dwords = Dwords % 4 == 0 ? 4 : Dwords % 2 == 0 ? 2 : 1;
  using slot_tile = tile<uint32_t, where>;

  /// Lane l reads slot min(l mod 2^k, Count - 1), dwords `part` … of it.
  static constexpr lds_access parallel_read(int part) {
    return lds_read(access_dwords * 4, [part](int lane) {
      const int slot = lane % power_of_two_from(Count);
      return coordinate{slot < Count ? slot : Count - 1, part * access_dwords};
    });
  }
  static constexpr bool reads_are_conflict_free() {
    for (int part = 0; part < Dwords / access_dwords; ++part)
      if (!conflict_free(where, proof_target, parallel_read(part)))
        return false;
    return true;
  }

public:
  using storage = typename slot_tile::storage;

  /// Whether lanes that read a slot each meet no conflict; true for slots of up to four dwords.
  /// Writes are one lane's, and reads of one slot by all lanes are broadcasts.
  static constexpr bool conflict_free_reads = reads_are_conflict_free();
  static_assert(conflict_free_reads || Dwords > 4,
                "wavetile::group: waves meet bank conflicts when they exchange their results");

  WAVETILE_DEVICE explicit wave_slots(storage& memory) : tile_(memory) {}

  template <class C>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(int slot, const C& value) const {
    static_assert(dword_count<C> <= Dwords);
    vec<uint32_t, Dwords> words{};
    const auto from = to_words(value);
    for (int i = 0; i < from.count; ++i)
      words[i] = from.word[i];
    tile_.write_vec(slot, 0, words);
  }

  template <class C>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE C read(int slot) const {
    static_assert(dword_count<C> <= Dwords);
    const vec<uint32_t, Dwords> words = tile_.template read_vec<Dwords>(slot, 0);
    dwords<dword_count<C>> to;
    for (int i = 0; i < to.count; ++i)
      to.word[i] = words[i];
    return from_words<C>(to);
  }

private:
  slot_tile tile_;
};

} // namespace wavetile::detail

#endif
