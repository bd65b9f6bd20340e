// The long way through a vector instruction: operand modifiers, SDWA, DPP, op_sel, MODE, clamp,
// output modifiers and register indexing around the same lane loops the plain handlers use.
#include "exec/dpp.hpp"
#include "exec/gpr_index.hpp"
#include "exec/lanewise.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

constexpr bool is_wide(Type t) {
  return dwords(t) == 2;
}
constexpr bool is_float(Type t) {
  return t == Type::f16 || t == Type::f32 || t == Type::f64;
}

/// f(row[lane]) for all lanes, into `to`.
template <class F>
[[gnu::always_inline]] inline void map_row(const u32* from, u32* to, F f) {
#pragma clang loop vectorize(assume_safety)
  for (unsigned i = 0; i < lanes; ++i)
    to[i] = f(from[i]);
}

void select_part(const Source& s, const u32* from, u32* to) {
  const unsigned shift = s.sel < 4 ? 8u * s.sel : s.sel == 5 ? 16u : 0u;
  if (s.sel < 4 && s.sext)
    map_row(from, to,
            [shift](u32 x) { return static_cast<u32>(i32{static_cast<i8>(x >> shift)}); });
  else if (s.sel < 4)
    map_row(from, to, [shift](u32 x) { return x >> shift & 0xff; });
  else if (s.sext)
    map_row(from, to,
            [shift](u32 x) { return static_cast<u32>(i32{static_cast<i16>(x >> shift)}); });
  else
    map_row(from, to, [shift](u32 x) { return x >> shift & 0xffff; });
}

/// abs, then neg, then flushing of denormals, on the dword that holds the sign.
void change_sign(const Source& s, Type t, const u32* from, u32* to) {
  const u32 sign = t == Type::f16 ? 0x8000u : 0x80000000u;
  const u32 keep = s.abs ? ~sign : ~0u, flip = s.neg ? sign : 0;
  map_row(from, to, [=](u32 x) { return (x & keep) ^ flip; });
}

void flush_row(Type t, const u32* low, const u32* high, u32* to_low, u32* to_high) {
  if (t == Type::f16) {
    map_row(low, to_low, [](u32 x) {
      return (x & 0xffff0000) | as_bits(flushed(from_bits<f16>(static_cast<u16>(x))));
    });
  } else if (t == Type::f32) {
    map_row(low, to_low, [](u32 x) { return as_bits(flushed(from_bits<float>(x))); });
  } else {
    for (unsigned i = 0; i < lanes; ++i) {
      const bool zero = (high[i] & 0x7ff00000) == 0;
      to_low[i] = zero ? 0 : low[i];
      to_high[i] = zero ? high[i] & 0x80000000 : high[i];
    }
  }
}

bool flushes_inputs(ModeBits m, Type t) {
  return t == Type::f32 ? m.flush_inputs_f32() : m.flush_inputs_f64();
}
bool flushes_results(ModeBits m, Type t) {
  return t == Type::f32 ? m.flush_results_f32() : m.flush_results_f64();
}

class ModifiedRun {
public:
  ModifiedRun(Wave& w, const Op& op)
      : w_(w), op_(op), info_(*op.info),
        loops_(*static_cast<const LaneLoops*>(info_.body)), mode_{w.mode}, write_(w.exec()) {}

  void operator()(bool drop_result) {
    if (op_.dpp)
      start_dpp();
    for (unsigned i = 0; i < 4 && info_.src[i] != Type::none; ++i)
      source(i);
    Row low, high, mask;
    LaneRows& r = rows_;
    r.dst[0] = low;
    r.dst[1] = high;
    r.mask = mask;
    r.old = w_.v[op_.dst & 255];
    r.mode = mode_;
    compute();
    if (loops_.has_value && !drop_result) {
      finish_float(low, high);
      place(low);
      write(w_.v[op_.dst], low);
      if (is_wide(info_.dst))
        write(w_.v[op_.dst + 1], high);
    }
    if (loops_.has_mask) {
      const u64 result = gather_mask(mask) & write_;
      w_.set_s64(op_.sdst, result);
      if (loops_.writes_exec)
        w_.set_exec(result);
    }
  }

private:
  void write(u32* to, const u32* from) const {
    if (write_ == all_lanes)
      copy_row(to, from);
    else
      store_row(to, from, write_);
  }

  bool obeys_mode(Type t) const {
    return t == Type::f32 ? info_.flags & op_mode_f32 : info_.flags & op_mode_f64;
  }

  void start_dpp() {
    pattern_ = &dpp_pattern(op_.dpp_ctrl);
    if (!pattern_->known)
      stop(w_, op_, "reserved DPP control");
    write_ &= dpp_enabled(op_.row_mask, op_.bank_mask);
    readable_ = dpp_readable(*pattern_, w_.exec());
    if (!op_.bound_ctrl)
      write_ &= readable_;
  }

  void source(unsigned i) {
    const Source& s = op_.src[i];
    const Type t = info_.src[i];
    Row& low = space_[i][0];
    Row& high = space_[i][1];
    const u32*& at = rows_.src[2 * i];
    const u32*& at_high = rows_.src[2 * i + 1];
    if (t == Type::b64) { // a mask: one bit a lane
      spread_mask(low, scalar64(w_, s));
      at = low;
      return;
    }
    at = source_row(w_, s, low, 0);
    if (is_wide(t))
      at_high = source_row(w_, s, high, 1);
    if (op_.format == Format::vop3 && is_half(t) && op_.op_sel >> i & 1)
      map_row(at, low, [](u32 x) { return x >> 16; }), at = low;
    if (op_.sdwa && s.sel != 6)
      select_part(s, at, low), at = low;
    if (op_.dpp && i == 0)
      permute(low, high, t);
    if ((s.abs || s.neg) && (is_float(t) || loops_.float_bits)) {
      if (is_wide(t))
        change_sign(s, t, at_high, high), at_high = high;
      else
        change_sign(s, t, at, low), at = low;
    }
    if (is_float(t) && obeys_mode(t) && flushes_inputs(mode_, t)) {
      flush_row(t, at, at_high, low, high);
      at = low;
      at_high = high;
    }
  }

  void permute(Row& low, Row& high, Type t) {
    const auto move = [&](const u32*& at, Row& space) {
      if (readable_ == pattern_->valid) {
        permute_row(*pattern_, at, space); // lanes without a source become 0
      } else {
        Row moved;
        permute_row(*pattern_, at, moved);
        spread(space, 0);
        store_row(space, moved, readable_);
      }
      at = space;
    };
    move(rows_.src[0], low);
    if (is_wide(t))
      move(rows_.src[1], high);
  }

  void compute() {
    const LaneLoop loop = op_.clamp && loops_.clamped ? loops_.clamped : loops_.usual;
    const Type t = info_.dst;
    if (op_.clamp && loops_.has_value && !loops_.clamped && !is_float(t))
      stop(w_, op_, "clamp on this instruction is not supported");
    const unsigned rounding = !is_float(t) || !obeys_mode(t) ? 0
                              : t == Type::f32               ? mode_.round_f32()
                                                             : mode_.round_f64();
    if (rounding == 0)
      return loop(rows_);
    // MODE: 1 up, 2 down, 3 to zero. MXCSR.RC: 1 down, 2 up, 3 to zero.
    constexpr unsigned control[4] = {0, 2, 1, 3};
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000u) | control[rounding] << 13);
    loop(rows_);
    _mm_setcsr(before);
  }

  /// Denormal results, output modifier and clamp of a float result.
  void finish_float(Row& low, Row& high) {
    const Type t = info_.dst;
    if (!is_float(t))
      return;
    if (t == Type::f16 && mode_.fp16_overflow() && obeys_mode(t))
      clamp_overflow(low);
    const bool flush = obeys_mode(t) && flushes_results(mode_, t);
    if (flush)
      flush_row(t, low, high, low, high);
    // Output modifiers work only without IEEE mode and without denormal results (ISA manual).
    const unsigned omod = mode_.ieee() || !flush ? 0 : op_.omod;
    if (!omod && !op_.clamp)
      return;
    if (t == Type::f32)
      scale<float>(low, high, omod);
    else if (t == Type::f16)
      scale<f16>(low, high, omod);
    else
      scale<double>(low, high, omod);
    if (omod)
      flush_row(t, low, high, low, high);
  }

  /// FP16_OVFL: a result that overflowed becomes the largest number; one that is infinite because a
  /// source is (or because of a reciprocal or logarithm of zero) stays.
  void clamp_overflow(Row& low) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const f16 x = load_lane<f16>(low, nullptr, lane);
      if (!is_infinity(x))
        continue;
      bool earned = false;
      for (unsigned i = 0; i < 3 && info_.src[i] != Type::none; ++i) {
        if (info_.src[i] == Type::f16) {
          const f16 s = load_lane<f16>(rows_.src[2 * i], nullptr, lane);
          earned |= is_infinity(s) || (info_.unit == Unit::trans && is_zero(s));
        } else if (info_.src[i] == Type::f32) {
          earned |= is_infinity(load_lane<float>(rows_.src[2 * i], nullptr, lane));
        }
      }
      if (!earned)
        low.lane[lane] -= 1; // infinity − 1 ulp is the largest number
    }
  }

  template <class T>
  void scale(Row& low, Row& high, unsigned omod) {
    constexpr float factors[4] = {1, 2, 4, 0.5f};
    const T factor = static_cast<T>(factors[omod]);
    for (unsigned i = 0; i < lanes; ++i) {
      T x = load_lane<T>(low, high, i);
      if (omod)
        x = static_cast<T>(x * factor + T{0}); // −0 becomes +0
      if (op_.clamp) {
        if (is_nan(x))
          x = mode_.dx10_clamp() ? T{0} : x;
        else
          x = x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
      }
      const u32 upper = low.lane[i] & 0xffff0000;
      low.lane[i] =
          sizeof(T) == 2 ? upper | static_cast<u32>(as_bits(x)) : static_cast<u32>(as_bits(x));
      if constexpr (sizeof(T) == 8)
        high.lane[i] = static_cast<u32>(as_bits(x) >> 32);
    }
  }

  /// Puts a part result (SDWA, op_sel) where it belongs in the destination.
  void place(Row& low) {
    const u32* old = w_.v[op_.dst];
    if (op_.format == Format::vop3 && op_.op_sel & 8 && is_half(info_.dst)) {
      for (unsigned i = 0; i < lanes; ++i)
        low.lane[i] = low.lane[i] << 16 | (old[i] & 0xffff);
      return;
    }
    if (!op_.sdwa || op_.dst_sel >= 6)
      return;
    const unsigned shift = op_.dst_sel < 4 ? 8u * op_.dst_sel : op_.dst_sel == 5 ? 16u : 0u;
    const u32 field = op_.dst_sel < 4 ? 0xff : 0xffff, sign = (field >> 1) + 1;
    for (unsigned i = 0; i < lanes; ++i) {
      const u32 x = low.lane[i] & field;
      u32 rest = 0;
      if (op_.dst_unused == 1 && x & sign)
        rest = ~u32{0} << shift & ~(field << shift);
      if (op_.dst_unused == 2)
        rest = old[i] & ~(field << shift);
      low.lane[i] = x << shift | rest;
    }
  }

  Wave& w_;
  const Op& op_;
  const OpInfo& info_;
  const LaneLoops& loops_;
  const ModeBits mode_;
  u64 write_;        ///< lanes that get a result
  u64 readable_ = 0; ///< DPP: lanes with a source
  const DppPattern* pattern_ = nullptr;
  LaneRows rows_{};
  Row space_[4][2];
};

} // namespace

void run_modified(Wave& w, const Op& op) {
  if (w.gpr_index) {
    const IndexedOp indexed = apply_gpr_index(w, op);
    ModifiedRun(w, indexed.op)(indexed.drop_result);
  } else {
    ModifiedRun(w, op)(false);
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
