/// \file
/// The lanes that work on one row together.
#pragma once

#include <wavetile/group/reduce.hpp>
#include <wavetile/wave/shuffle.hpp>
#include <wavetile/wave/vote.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// The larger of two fp32, in one instruction: of a number and a NaN, the number. For running
/// maxima of values whose NaNs come out in the sum of their exponentials anyway.
struct larger_number {
  WAVETILE_HD WAVETILE_FORCE_INLINE float operator()(float a, float b) const {
    return maximum<nan_rule::ignore>(a, b);
  }
};

/// Number of the calling workgroup along x.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t workgroup_id() {
  return instruction::workgroup_x();
}

/// Number of one kind of LDS instruction that each wave issues.
struct lds_use {
  lds_op op;
  int count;
};

/// A team of 1, 2, 4 … 64 neighbouring lanes of a wave, a number known at run time only and the
/// same in all of the wave. Costs no LDS; at 32 lanes one ds_swizzle_b32 a reduction.
class lanes_team {
public:
  WAVETILE_DEVICE explicit lanes_team(uint32_t lanes)
      : lane_(static_cast<uint32_t>(lane_id()) & (lanes - 1)), lanes_(lanes) {}

  WAVETILE_DEVICE uint32_t lane() const { return lane_; }
  WAVETILE_DEVICE uint32_t size() const { return lanes_; }

  /// In every lane of the team the combination over its lanes. `Op` must be commutative. `Line` has
  /// no meaning here.
  template <int Line, class T, class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce(T value, Op op) const {
    if (lanes_ == wave_size)
      return wave::all_reduce<wave_size>(value, op);
    // After each step pairs, quads, … agree, so that mirrors (exclusive-ors with 7 and 15) do.
    if (lanes_ > 1)
      value = op(value, wave::shuffle_xor<1>(value));
    if (lanes_ > 2)
      value = op(value, wave::shuffle_xor<2>(value));
    if (lanes_ > 4)
      value = op(value, wave::shuffle_xor<7>(value));
    if (lanes_ > 8)
      value = op(value, wave::shuffle_xor<15>(value));
    if (lanes_ > 16)
      value = op(value, wave::shuffle_xor<16>(value));
    return value;
  }

private:
  uint32_t lane_, lanes_;
};

/// All lanes of a wave.
class wave_team {
public:
  WAVETILE_DEVICE uint32_t lane() const { return static_cast<uint32_t>(lane_id()); }
  WAVETILE_DEVICE static constexpr uint32_t size() { return wave_size; }

  /// In every lane of the wave the combination over its lanes, in scalar registers.
  template <int Line, class T, class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce(T value, Op op) const {
    return wave::all_reduce(value, op);
  }
};

/// A workgroup of `Waves` waves. Each reduction costs one barrier and one line of LDS; a line may
/// be used again only when another reduction lies between.
template <int Waves, int Lines = 3>
class workgroup_team {
  template <class T>
  using reduction = group::reduce<T, Waves * wave_size>;

public:
  struct storage {
    typename reduction<float>::storage line[Lines];
  };

  /// What every reduction of a dword makes each wave issue. group::reduce proves both free of
  /// conflicts.
  static constexpr lds_use lds_uses[] = {{lds_op::write_b32, 1}, {lds_op::read_b32, 1}};

  WAVETILE_DEVICE explicit workgroup_team(storage& memory)
      : memory_(memory), thread_(static_cast<uint32_t>(thread_id())) {}

  WAVETILE_DEVICE uint32_t lane() const { return thread_; }
  WAVETILE_DEVICE static constexpr uint32_t size() { return Waves * wave_size; }

  /// In every lane of the workgroup the combination over its lanes, in scalar registers.
  template <int Line, class T, class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce(T value, Op op) const {
    static_assert(sizeof(T) == 4 && Line >= 0 && Line < Lines);
    using wanted = typename reduction<T>::storage;
    static_assert(sizeof(wanted) == sizeof(memory_.line[Line]));
    return reduction<T>::to_all(value, op, reinterpret_cast<wanted&>(memory_.line[Line]));
  }

private:
  storage& memory_;
  uint32_t thread_;
};

} // namespace wavetile::kernels

#endif
