// Compares and class tests.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

/// −1, 0, 1 or 2 for unordered.
template <class T>
int order(T a, T b) {
  if constexpr (std::is_same_v<T, half>) {
    return order(to_double(a), to_double(b));
  } else {
    if (a != a || b != b)
      return 2;
    return a < b ? -1 : a > b ? 1 : 0;
  }
}

struct Condition {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr Condition float_conditions[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false},
    {"eq", false, true, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"lg", true, false, true, false},
    {"ge", false, true, true, false},  {"o", true, true, true, false},
    {"u", false, false, false, true},  {"nge", true, false, false, true},
    {"nlg", false, true, false, true}, {"ngt", true, true, false, true},
    {"nle", false, false, true, true}, {"neq", true, false, true, true},
    {"nlt", false, true, true, true},  {"tru", true, true, true, true}};
constexpr Condition integer_conditions[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false},
    {"eq", false, true, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ne", true, false, true, false},
    {"ge", false, true, true, false},  {"t", true, true, true, false}};

template <class T>
void check_conditions(const std::string& type, const auto& conditions) {
  for (const Condition& c : conditions) {
    const auto holds = [c](T a, T b) {
      const int o = order(a, b);
      return o == -1 ? c.less : o == 0 ? c.equal : o == 1 ? c.greater : c.unordered;
    };
    const std::string tail = std::string(c.name) + "_" + type;
    check_mask<T, T>("v_cmp_" + tail + " vcc, $a, $b", holds, {.limit = 3000});
    check_mask<T, T>("v_cmp_" + tail + "_e64 vcc, $b, $a", [=](T a, T b) { return holds(b, a); },
                     {.limit = 500});
  }
}

TEST(VectorCompare, Integers) {
  check_conditions<i16>("i16", integer_conditions);
  check_conditions<u16>("u16", integer_conditions);
  check_conditions<i32>("i32", integer_conditions);
  check_conditions<u32>("u32", integer_conditions);
  check_conditions<i64>("i64", integer_conditions);
  check_conditions<u64>("u64", integer_conditions);
}

TEST(VectorCompare, Floats) {
  check_conditions<half>("f16", float_conditions);
  check_conditions<float>("f32", float_conditions);
  check_conditions<double>("f64", float_conditions);
}

template <class T>
unsigned class_of(T x) {
  const bool negative = raw(x) >> (8 * sizeof(T) - 1) & 1;
  int kind; // 0 zero, 1 denormal, 2 normal, 3 infinity, 4 quiet NaN, 5 signaling NaN
  if constexpr (std::is_same_v<T, half>) {
    const unsigned e = x.bits >> 10 & 31, m = x.bits & 1023;
    kind = e == 31 ? (m == 0 ? 3 : m & 512 ? 4 : 5) : e ? 2 : m ? 1 : 0;
  } else {
    const raw_t<T> quiet = sizeof(T) == 4 ? u64{0x400000} : u64{0x8000000000000};
    kind = x != x             ? (raw(x) & quiet ? 4 : 5)
           : std::isinf(x)    ? 3
           : x == 0           ? 0
           : std::isnormal(x) ? 2
                              : 1;
  }
  if (kind == 5)
    return 0;
  if (kind == 4)
    return 1;
  return negative ? 5u - static_cast<unsigned>(kind) : 6u + static_cast<unsigned>(kind);
}

TEST(VectorCompare, Classes) {
  for (const Simd level : levels())
    for (unsigned bit = 0; bit < 10; ++bit) {
      Machine m(level);
      const auto f = edges<float>();
      const auto d = edges<double>();
      const auto h = edges<half>();
      for (unsigned lane = 0; lane < lanes; ++lane) {
        m.wave.v[0][lane] = raw(f[lane % f.size()]);
        m.set_u64(2, lane, raw(d[lane % d.size()]));
        m.wave.v[4][lane] = h[lane % h.size()].bits | 0xabcd0000;
        m.wave.v[6][lane] = 1u << bit | 0xfffffc00;
      }
      m.run("v_cmp_class_f32 s[0:1], v0, v6\nv_cmp_class_f64 s[2:3], v[2:3], v6\nv_cmp_class_f16 "
            "s[4:5], v4, v6");
      for (unsigned lane = 0; lane < lanes; ++lane) {
        ASSERT_EQ(m.wave.s64(0) >> lane & 1, class_of(f[lane % f.size()]) == bit)
            << bit << " " << lane;
        ASSERT_EQ(m.wave.s64(2) >> lane & 1, class_of(d[lane % d.size()]) == bit)
            << bit << " " << lane;
        ASSERT_EQ(m.wave.s64(4) >> lane & 1, class_of(h[lane % h.size()]) == bit)
            << bit << " " << lane;
      }
    }
}

TEST(VectorCompare, CompareAndSetExec) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return lane; });
    const u64 exec = 0xffff0000ffff00ff;
    m.wave.set_exec(exec);
    m.wave.set_vcc(~u64{0});
    m.run("v_cmpx_gt_u32 vcc, 20, v0");
    const u64 want = exec & ((u64{1} << 20) - 1);
    EXPECT_EQ(m.wave.vcc(), want);
    EXPECT_EQ(m.wave.exec(), want);
    m.wave.set_exec(exec);
    m.wave.set_vcc(7);
    m.run("v_cmpx_gt_u32_e64 s[10:11], 20, v0");
    EXPECT_EQ(m.wave.s64(10), want);
    EXPECT_EQ(m.wave.exec(), want);
    EXPECT_EQ(m.wave.vcc(), 7u);
    m.wave.set_exec(0);
    m.run("v_cmp_eq_u32 vcc, v0, v0");
    EXPECT_EQ(m.wave.vcc(), 0u);
  }
}

TEST(VectorCompare, Modifiers) {
  Machine m;
  m.vgpr(0, [](unsigned lane) { return std::bit_cast<u32>(static_cast<float>(lane) - 32); });
  m.run("v_cmp_lt_f32_e64 s[0:1], |v0|, 4.0\nv_cmp_gt_f32_e64 s[2:3], -v0, 4.0\n"
        "v_cmp_lt_f32_e64 s[4:5], -|v0|, -4.0");
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const float x = static_cast<float>(lane) - 32;
    EXPECT_EQ(m.wave.s64(0) >> lane & 1, std::fabs(x) < 4);
    EXPECT_EQ(m.wave.s64(2) >> lane & 1, -x > 4);
    EXPECT_EQ(m.wave.s64(4) >> lane & 1, -std::fabs(x) < -4);
  }
}

} // namespace
