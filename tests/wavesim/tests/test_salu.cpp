// Scalar arithmetic, bits and compares against 64- and 128-bit host arithmetic; branches and calls.
#include "tests/reference.hpp"

#include <algorithm>

using namespace wavesim;
using namespace wavesim::test;

namespace {

struct Outcome {
  u64 value;
  int scc; ///< −1: not touched
};

/// Runs an instruction with "$d" s[10:11], "$a" s[0:1], "$b" s[2:3] over edge and random operands.
template <class R, class A, class B, class F>
void check_scalar(std::string text, F reference) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  const auto reg = [](unsigned r, std::size_t bytes) {
    return bytes == 8 ? "s[" + std::to_string(r) + ":" + std::to_string(r + 1) + "]"
                      : "s" + std::to_string(r);
  };
  replace("$d", reg(10, sizeof(R)));
  replace("$a", reg(0, sizeof(A)));
  replace("$b", reg(2, sizeof(B)));
  SCOPED_TRACE(text);
  const Program program(text);
  ASSERT_FALSE(program.ops().empty());
  Machine m;
  unsigned failures = 0, count = 0;
  for (const auto& [a, b] : operand_tuples<A, B>(4500, 1000)) {
    const u32 old_scc = ++count & 1;
    m.wave.set_s64(10, 0x5555555566666666);
    m.wave.set_s64(0, static_cast<u64>(static_cast<std::make_unsigned_t<A>>(a)));
    m.wave.set_s64(2, static_cast<u64>(static_cast<std::make_unsigned_t<B>>(b)));
    m.wave.scc = old_scc;
    m.run(program);
    const Outcome want = reference(a, b, old_scc);
    const u64 got = sizeof(R) == 8 ? m.wave.s64(10) : m.wave.s[10];
    const u64 value = sizeof(R) == 8 ? want.value : static_cast<u32>(want.value);
    const u32 scc = want.scc < 0 ? old_scc : static_cast<u32>(want.scc);
    if (got == value && m.wave.scc == scc)
      continue;
    ADD_FAILURE() << std::hex << "operands " << +a << " " << +b << " scc " << old_scc << ": got "
                  << got << " scc " << m.wave.scc << ", expected " << value << " scc " << scc;
    if (++failures > 5)
      return;
  }
}

TEST(Scalar, Arithmetic) {
  check_scalar<u32, u32, u32>("s_add_u32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{u64{a} + b, u64{a} + b > 0xffffffff};
  });
  check_scalar<u32, u32, u32>("s_addc_u32 $d, $a, $b", [](u32 a, u32 b, u32 c) {
    return Outcome{u64{a} + b + c, u64{a} + b + c > 0xffffffff};
  });
  check_scalar<u32, u32, u32>("s_sub_u32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{u64{a} - b, a < b};
  });
  check_scalar<u32, u32, u32>("s_subb_u32 $d, $a, $b", [](u32 a, u32 b, u32 c) {
    return Outcome{u64{a} - b - c, u64{a} < u64{b} + c};
  });
  const auto fits = [](i64 x) { return x >= INT32_MIN && x <= INT32_MAX; };
  check_scalar<u32, i32, i32>("s_add_i32 $d, $a, $b", [=](i64 a, i64 b, u32) {
    return Outcome{static_cast<u64>(a + b), !fits(a + b)};
  });
  check_scalar<u32, i32, i32>("s_sub_i32 $d, $a, $b", [=](i64 a, i64 b, u32) {
    return Outcome{static_cast<u64>(a - b), !fits(a - b)};
  });
  check_scalar<u32, u32, u32>("s_mul_i32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{u64{a} * b, -1};
  });
  check_scalar<u32, u32, u32>("s_mul_hi_u32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{u64{a} * b >> 32, -1};
  });
  check_scalar<u32, i32, i32>("s_mul_hi_i32 $d, $a, $b", [](i64 a, i64 b, u32) {
    return Outcome{static_cast<u64>(a * b >> 32), -1};
  });
  check_scalar<u32, i32, i32>("s_min_i32 $d, $a, $b", [](i32 a, i32 b, u32) {
    return Outcome{static_cast<u64>(i64{std::min(a, b)}), a < b};
  });
  check_scalar<u32, i32, i32>("s_max_i32 $d, $a, $b", [](i32 a, i32 b, u32) {
    return Outcome{static_cast<u64>(i64{std::max(a, b)}), a >= b};
  });
  check_scalar<u32, u32, u32>("s_min_u32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{std::min(a, b), a < b};
  });
  check_scalar<u32, u32, u32>("s_max_u32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{std::max(a, b), a >= b};
  });
  for (u32 n = 1; n <= 4; ++n)
    check_scalar<u32, u32, u32>("s_lshl" + std::to_string(n) + "_add_u32 $d, $a, $b",
                                [n](u64 a, u64 b, u32) {
                                  return Outcome{(a << n) + b, (a << n) + b > 0xffffffff};
                                });
  check_scalar<u32, i32, i32>("s_absdiff_i32 $d, $a, $b", [](i32 a, i32 b, u32) {
    const u32 d =
        static_cast<u32>(static_cast<i64>(a) - b); // wraps like the hardware's subtraction
    const u32 r = d >> 31 ? 0 - d : d;
    return Outcome{r, r != 0};
  });
  check_scalar<u32, i32, u32>("s_abs_i32 $d, $a", [](i32 a, u32, u32) {
    return Outcome{static_cast<u64>(std::abs(i64{a})), a != 0};
  });
}

TEST(Scalar, Logic) {
  const auto out = [](auto x) { return Outcome{x, x != 0}; };
  check_scalar<u32, u32, u32>("s_and_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a & b); });
  check_scalar<u32, u32, u32>("s_or_b32 $d, $a, $b", [=](u32 a, u32 b, u32) { return out(a | b); });
  check_scalar<u32, u32, u32>("s_xor_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a ^ b); });
  check_scalar<u32, u32, u32>("s_andn2_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a & ~b); });
  check_scalar<u32, u32, u32>("s_orn2_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a | ~b); });
  check_scalar<u32, u32, u32>("s_nand_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(~(a & b)); });
  check_scalar<u32, u32, u32>("s_nor_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(~(a | b)); });
  check_scalar<u32, u32, u32>("s_xnor_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(~(a ^ b)); });
  check_scalar<u32, u32, u32>("s_not_b32 $d, $a", [=](u32 a, u32, u32) { return out(~a); });
  check_scalar<u64, u64, u64>("s_and_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(a & b); });
  check_scalar<u64, u64, u64>("s_or_b64 $d, $a, $b", [=](u64 a, u64 b, u32) { return out(a | b); });
  check_scalar<u64, u64, u64>("s_xor_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(a ^ b); });
  check_scalar<u64, u64, u64>("s_andn2_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(a & ~b); });
  check_scalar<u64, u64, u64>("s_orn2_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(a | ~b); });
  check_scalar<u64, u64, u64>("s_nand_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(~(a & b)); });
  check_scalar<u64, u64, u64>("s_nor_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(~(a | b)); });
  check_scalar<u64, u64, u64>("s_xnor_b64 $d, $a, $b",
                              [=](u64 a, u64 b, u32) { return out(~(a ^ b)); });
  check_scalar<u64, u64, u64>("s_not_b64 $d, $a", [=](u64 a, u64, u32) { return out(~a); });
}

TEST(Scalar, ShiftsAndFields) {
  const auto out = [](auto x) { return Outcome{static_cast<u64>(x), x != 0}; };
  check_scalar<u32, u32, u32>("s_lshl_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a << b % 32); });
  check_scalar<u32, u32, u32>("s_lshr_b32 $d, $a, $b",
                              [=](u32 a, u32 b, u32) { return out(a >> b % 32); });
  check_scalar<u32, i32, u32>("s_ashr_i32 $d, $a, $b", [=](i32 a, u32 b, u32) {
    return out(static_cast<u32>(i64{a} >> b % 32));
  });
  check_scalar<u64, u64, u32>("s_lshl_b64 $d, $a, $b",
                              [=](u64 a, u32 b, u32) { return out(a << b % 64); });
  check_scalar<u64, u64, u32>("s_lshr_b64 $d, $a, $b",
                              [=](u64 a, u32 b, u32) { return out(a >> b % 64); });
  check_scalar<u64, i64, u32>("s_ashr_i64 $d, $a, $b", [=](i64 a, u32 b, u32) {
    return out(static_cast<i64>(i128{a} >> b % 64));
  });
  const auto field = [](i128 a, u32 b, unsigned size, bool is_signed) {
    const unsigned offset = b % size, width = b >> 16 & 127;
    u64 r = 0;
    if (width == 0)
      return r;
    for (unsigned i = 0; i < size; ++i) {
      // Past the width: the top bit of the field, or zero; past the source: its sign, or zero.
      const unsigned at = std::min(i, width - 1) + offset;
      if (i >= width && !is_signed)
        break;
      const bool bit =
          at < size ? static_cast<bool>(a >> at & 1) : is_signed && (a >> (size - 1) & 1);
      r |= u64{bit} << i;
    }
    return r;
  };
  check_scalar<u32, u32, u32>("s_bfe_u32 $d, $a, $b", [=](u32 a, u32 b, u32) {
    return out(static_cast<u32>(field(a, b, 32, false)));
  });
  check_scalar<u32, u32, u32>("s_bfe_i32 $d, $a, $b", [=](u32 a, u32 b, u32) {
    return out(static_cast<u32>(field(a, b, 32, true)));
  });
  check_scalar<u64, u64, u32>("s_bfe_u64 $d, $a, $b", [=](u64 a, u32 b, u32) {
    return out(field(static_cast<i128>(a), b, 64, false));
  });
  check_scalar<u64, u64, u32>("s_bfe_i64 $d, $a, $b", [=](u64 a, u32 b, u32) {
    return out(field(static_cast<i128>(a), b, 64, true));
  });
  check_scalar<u32, u32, u32>("s_bfm_b32 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{((u64{1} << a % 32) - 1) << b % 32, -1};
  });
  check_scalar<u64, u32, u32>("s_bfm_b64 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{((u64{1} << a % 64) - 1) << b % 64, -1};
  });
  check_scalar<u32, u32, u32>("s_pack_ll_b32_b16 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{(a & 0xffff) + ((b & 0xffff) << 16), -1};
  });
  check_scalar<u32, u32, u32>("s_pack_lh_b32_b16 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{(a & 0xffff) + (b >> 16 << 16), -1};
  });
  check_scalar<u32, u32, u32>("s_pack_hh_b32_b16 $d, $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{(a >> 16) + (b >> 16 << 16), -1};
  });
  check_scalar<u32, u32, u32>("s_sext_i32_i8 $d, $a", [](u32 a, u32, u32) {
    return Outcome{static_cast<u64>(i64{static_cast<std::int8_t>(a)}), -1};
  });
  check_scalar<u32, u32, u32>("s_sext_i32_i16 $d, $a", [](u32 a, u32, u32) {
    return Outcome{static_cast<u64>(i64{static_cast<i16>(a)}), -1};
  });
  check_scalar<u32, u32, u32>("s_bitset0_b32 $d, $a", [](u32 a, u32, u32) {
    return Outcome{0x66666666u & ~(1u << a % 32), -1};
  });
  check_scalar<u32, u32, u32>("s_bitset1_b32 $d, $a", [](u32 a, u32, u32) {
    return Outcome{0x66666666u | 1u << a % 32, -1};
  });
  check_scalar<u64, u32, u32>("s_bitset0_b64 $d, $a", [](u32 a, u32, u32) {
    return Outcome{0x5555555566666666 & ~(u64{1} << a % 64), -1};
  });
  check_scalar<u64, u32, u32>("s_bitset1_b64 $d, $a", [](u32 a, u32, u32) {
    return Outcome{0x5555555566666666 | u64{1} << a % 64, -1};
  });
}

/// Bits of x from the least significant.
std::vector<bool> bits(u64 x, unsigned size) {
  std::vector<bool> b(size);
  for (unsigned i = 0; i < size; ++i)
    b[i] = x >> i & 1;
  return b;
}
u64 first(const std::vector<bool>& b, bool value, bool from_top) {
  for (std::size_t i = 0; i < b.size(); ++i)
    if (b[from_top ? b.size() - 1 - i : i] == value)
      return i;
  return ~u64{0};
}

template <class T>
void check_counts(const std::string& type) {
  constexpr unsigned size = 8 * sizeof(T);
  const auto in = [](T a) { return bits(a, size); };
  check_scalar<u32, T, u32>("s_bcnt1_i32_" + type + " $d, $a", [=](T a, u32, u32) {
    const auto b = in(a);
    const u64 n = static_cast<u64>(std::count(b.begin(), b.end(), true));
    return Outcome{n, n != 0};
  });
  check_scalar<u32, T, u32>("s_bcnt0_i32_" + type + " $d, $a", [=](T a, u32, u32) {
    const auto b = in(a);
    const u64 n = static_cast<u64>(std::count(b.begin(), b.end(), false));
    return Outcome{n, n != 0};
  });
  check_scalar<u32, T, u32>("s_ff1_i32_" + type + " $d, $a", [=](T a, u32, u32) {
    return Outcome{first(in(a), true, false), -1};
  });
  check_scalar<u32, T, u32>("s_ff0_i32_" + type + " $d, $a", [=](T a, u32, u32) {
    return Outcome{first(in(a), false, false), -1};
  });
  check_scalar<u32, T, u32>("s_flbit_i32_" + type + " $d, $a", [=](T a, u32, u32) {
    return Outcome{first(in(a), true, true), -1};
  });
  check_scalar<u32, T, u32>(size == 32 ? "s_flbit_i32 $d, $a" : "s_flbit_i32_i64 $d, $a",
                            [=](T a, u32, u32) {
                              return Outcome{first(in(a), !in(a)[size - 1], true), -1};
                            });
  check_scalar<T, T, u32>("s_brev_" + type + " $d, $a", [=](T a, u32, u32) {
    u64 r = 0;
    for (unsigned i = 0; i < size; ++i)
      r |= u64{in(a)[i]} << (size - 1 - i);
    return Outcome{r, -1};
  });
  check_scalar<T, T, u32>("s_wqm_" + type + " $d, $a", [=](T a, u32, u32) {
    u64 r = 0;
    for (unsigned i = 0; i < size; i += 4)
      if (a >> i & 15)
        r |= u64{15} << i;
    return Outcome{r, r != 0};
  });
  check_scalar<T, T, u32>("s_quadmask_" + type + " $d, $a", [=](T a, u32, u32) {
    u64 r = 0;
    for (unsigned i = 0; i < size; i += 4)
      if (a >> i & 15)
        r |= u64{1} << i / 4;
    return Outcome{r, r != 0};
  });
}

TEST(Scalar, Counts) {
  check_counts<u32>("b32");
  check_counts<u64>("b64");
  check_scalar<u64, u32, u32>("s_bitreplicate_b64_b32 $d, $a", [](u32 a, u32, u32) {
    u64 r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= u64{a >> i & 1} * 3 << 2 * i;
    return Outcome{r, -1};
  });
}

TEST(Scalar, MovesAndSelects) {
  check_scalar<u32, u32, u32>("s_mov_b32 $d, $a", [](u32 a, u32, u32) { return Outcome{a, -1}; });
  check_scalar<u64, u64, u32>("s_mov_b64 $d, $a", [](u64 a, u32, u32) { return Outcome{a, -1}; });
  check_scalar<u32, u32, u32>("s_cmov_b32 $d, $a", [](u32 a, u32, u32 scc) {
    return Outcome{scc ? a : 0x66666666, -1};
  });
  check_scalar<u64, u64, u32>("s_cmov_b64 $d, $a", [](u64 a, u32, u32 scc) {
    return Outcome{scc ? a : 0x5555555566666666, -1};
  });
  check_scalar<u32, u32, u32>("s_cselect_b32 $d, $a, $b", [](u32 a, u32 b, u32 scc) {
    return Outcome{scc ? a : b, -1};
  });
  check_scalar<u64, u64, u64>("s_cselect_b64 $d, $a, $b", [](u64 a, u64 b, u32 scc) {
    return Outcome{scc ? a : b, -1};
  });
  for (int k : {0, 1, -1, 32767, -32768, 1234}) {
    const std::string imm = std::to_string(k);
    const auto wide = [](i64 x) { return static_cast<u64>(x); };
    check_scalar<u32, u32, u32>("s_movk_i32 $d, " + imm, [=](u32, u32, u32) {
      return Outcome{wide(k), -1};
    });
    check_scalar<u32, u32, u32>("s_cmovk_i32 $d, " + imm, [=](u32, u32, u32 scc) {
      return Outcome{scc ? wide(k) : 0x66666666, -1};
    });
    check_scalar<u32, i32, u32>("s_mov_b32 $d, $a\ns_addk_i32 $d, " + imm, [=](i32 a, u32, u32) {
      const i64 r = i64{a} + k;
      return Outcome{wide(r), r > INT32_MAX || r < INT32_MIN};
    });
    check_scalar<u32, i32, u32>("s_mov_b32 $d, $a\ns_mulk_i32 $d, " + imm, [=](i32 a, u32, u32) {
      return Outcome{wide(i64{a} * k), -1};
    });
  }
}

TEST(Scalar, Compares) {
  struct Case {
    const char* name;
    bool less, equal, greater;
  };
  for (const Case& c : {Case{"eq", false, true, false},
                        {"lg", true, false, true},
                        {"gt", false, false, true},
                        {"ge", false, true, true},
                        {"lt", true, false, false},
                        {"le", true, true, false}}) {
    const auto holds = [c](auto a, auto b) {
      return a < b ? c.less : a == b ? c.equal : c.greater;
    };
    const std::string n = c.name;
    check_scalar<u32, i32, i32>("s_cmp_" + n + "_i32 $a, $b", [=](i32 a, i32 b, u32) {
      return Outcome{0x66666666, holds(a, b)};
    });
    check_scalar<u32, u32, u32>("s_cmp_" + n + "_u32 $a, $b", [=](u32 a, u32 b, u32) {
      return Outcome{0x66666666, holds(a, b)};
    });
    check_scalar<u32, i32, u32>("s_cmpk_" + n + "_i32 $a, -5", [=](i32 a, u32, u32) {
      return Outcome{0x66666666, holds(a, -5)};
    });
    check_scalar<u32, u32, u32>("s_cmpk_" + n + "_u32 $a, 0xfffb", [=](u32 a, u32, u32) {
      return Outcome{0x66666666, holds(a, 0xfffbu)};
    });
  }
  check_scalar<u32, u64, u64>("s_cmp_eq_u64 $a, $b", [](u64 a, u64 b, u32) {
    return Outcome{0x66666666, a == b};
  });
  check_scalar<u32, u64, u64>("s_cmp_lg_u64 $a, $b", [](u64 a, u64 b, u32) {
    return Outcome{0x66666666, a != b};
  });
  check_scalar<u32, u32, u32>("s_bitcmp0_b32 $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{0x66666666, !(a >> b % 32 & 1)};
  });
  check_scalar<u32, u32, u32>("s_bitcmp1_b32 $a, $b", [](u32 a, u32 b, u32) {
    return Outcome{0x66666666, static_cast<bool>(a >> b % 32 & 1)};
  });
  check_scalar<u32, u64, u32>("s_bitcmp0_b64 $a, $b", [](u64 a, u32 b, u32) {
    return Outcome{0x66666666, !(a >> b % 64 & 1)};
  });
  check_scalar<u32, u64, u32>("s_bitcmp1_b64 $a, $b", [](u64 a, u32 b, u32) {
    return Outcome{0x66666666, static_cast<bool>(a >> b % 64 & 1)};
  });
}

} // namespace
