// DPP: every control against the manual's table, with row and bank masks, bound_ctrl and partial
// EXEC.
#include "tests/reference.hpp"

#include <functional>

using namespace wavesim;
using namespace wavesim::test;

namespace {

struct Control {
  std::string text;
  std::function<int(int)> source; ///< lane read by lane n; −1 when there is none
};

std::vector<Control> controls() {
  std::vector<Control> all;
  for (int p : {0x1b, 0xe4, 0x00, 0xff, 0xb1, 0x4e, 0x39}) {
    const int s[4] = {p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6 & 3};
    all.push_back({"quad_perm:[" + std::to_string(s[0]) + "," + std::to_string(s[1]) + "," +
                       std::to_string(s[2]) + "," + std::to_string(s[3]) + "]",
                   [p](int n) { return n / 4 * 4 + (p >> 2 * (n % 4) & 3); }});
  }
  for (int i = 1; i < 16; ++i) {
    const std::string count = std::to_string(i);
    all.push_back({"row_shl:" + count, [i](int n) { return n % 16 < 16 - i ? n + i : -1; }});
    all.push_back({"row_shr:" + count, [i](int n) { return n % 16 >= i ? n - i : -1; }});
    all.push_back({"row_ror:" + count, [i](int n) { return n % 16 >= i ? n - i : n + 16 - i; }});
  }
  for (int i = 0; i < 16; ++i)
    all.push_back({"row_newbcast:" + std::to_string(i), [i](int n) { return n / 16 * 16 + i; }});
  all.push_back({"wave_shl:1", [](int n) { return n < 63 ? n + 1 : -1; }});
  all.push_back({"wave_rol:1", [](int n) { return (n + 1) % 64; }});
  all.push_back({"wave_shr:1", [](int n) { return n - 1; }});
  all.push_back({"wave_ror:1", [](int n) { return (n + 63) % 64; }});
  all.push_back({"row_mirror", [](int n) { return n / 16 * 16 + 15 - n % 16; }});
  all.push_back({"row_half_mirror", [](int n) { return n / 8 * 8 + 7 - n % 8; }});
  all.push_back({"row_bcast:15", [](int n) { return n > 15 ? n / 16 * 16 - 1 : -1; }});
  all.push_back({"row_bcast:31", [](int n) { return n > 31 ? 31 : -1; }});
  return all;
}

struct Lane {
  bool written;
  int source; ///< −1: reads zero
};

Lane rule(const Control& c, unsigned lane, u64 exec, unsigned rows, unsigned banks,
          bool bound_ctrl) {
  const int from = c.source(static_cast<int>(lane));
  const bool readable = from >= 0 && (exec >> from & 1);
  const bool enabled =
      (exec >> lane & 1) && (rows >> lane / 16 & 1) && (banks >> lane % 16 / 4 & 1);
  return {enabled && (readable || bound_ctrl), readable ? from : -1};
}

std::string masks(unsigned rows, unsigned banks, bool bound_ctrl) {
  return " row_mask:" + std::to_string(rows) + " bank_mask:" + std::to_string(banks) +
         (bound_ctrl ? " bound_ctrl:0" : "");
}

TEST(VectorDpp, MoveWithEveryControl) {
  engine random(1);
  for (const Simd level : levels())
    for (const Control& c : controls())
      for (const auto& [rows, banks] :
           {std::pair{15u, 15u}, {10u, 15u}, {12u, 15u}, {15u, 5u}, {6u, 9u}})
        for (const bool bound_ctrl : {false, true}) {
          const std::string text =
              "v_mov_b32_dpp v1, v0 " + c.text + masks(rows, banks, bound_ctrl);
          SCOPED_TRACE(std::string(name(level)) + ": " + text);
          const Program program(text, level);
          ASSERT_FALSE(program.ops().empty());
          Machine m(level);
          for (const u64 exec : {~u64{0}, random(), random() & random()}) {
            m.wave.set_exec(exec);
            m.vgpr(0, [](unsigned lane) { return 1000 + lane; });
            m.vgpr(1, [](unsigned lane) { return 5000 + lane; });
            m.run(program);
            for (unsigned lane = 0; lane < lanes; ++lane) {
              const Lane r = rule(c, lane, exec, rows, banks, bound_ctrl);
              const u32 want = !r.written     ? 5000 + lane
                               : r.source < 0 ? 0
                                              : 1000 + static_cast<u32>(r.source);
              ASSERT_EQ(m.wave.v[1][lane], want) << lane;
            }
          }
        }
}

TEST(VectorDpp, ArithmeticWithModifiers) {
  engine random(2);
  for (const Simd level : levels())
    for (const Control& c : controls()) {
      const Program program("v_sub_f32_dpp v2, -|v0|, v1 " + c.text + masks(15, 15, true) + "\n" +
                                "v_max_i32_dpp v3, v0, v1 " + c.text + masks(15, 15, false) + "\n" +
                                "v_fmac_f32_dpp v4, v0, |v1| " + c.text + masks(15, 15, false),
                            level);
      SCOPED_TRACE(std::string(name(level)) + ": " + c.text);
      Machine m(level);
      const u64 exec = random() | random();
      m.wave.set_exec(exec);
      m.vgpr(0, [](unsigned lane) { return std::bit_cast<u32>(static_cast<float>(lane) - 20); });
      m.vgpr(1, [](unsigned lane) { return std::bit_cast<u32>(7 - static_cast<float>(lane) / 2); });
      for (unsigned r = 2; r < 5; ++r)
        m.vgpr(r, [](unsigned lane) { return std::bit_cast<u32>(static_cast<float>(lane)); });
      m.run(program);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto input = [](int n) { return n < 0 ? 0.0f : static_cast<float>(n) - 20; };
        const float old = static_cast<float>(lane), b = 7 - static_cast<float>(lane) / 2;
        const Lane bounded = rule(c, lane, exec, 15, 15, true),
                   plain = rule(c, lane, exec, 15, 15, false);
        ASSERT_EQ(m.f32(2, lane), bounded.written ? -std::fabs(input(bounded.source)) - b : old)
            << lane;
        const i32 ia = std::bit_cast<i32>(input(plain.source)), ib = std::bit_cast<i32>(b);
        ASSERT_EQ(m.wave.v[3][lane],
                  plain.written ? static_cast<u32>(std::max(ia, ib)) : std::bit_cast<u32>(old))
            << lane;
        ASSERT_EQ(m.f32(4, lane),
                  plain.written ? std::fmaf(input(plain.source), std::fabs(b), old) : old)
            << lane;
      }
    }
}

TEST(VectorDpp, WideValuesBroadcastInRows) {
  for (const Simd level : levels()) {
    Machine m(level);
    for (unsigned lane = 0; lane < lanes; ++lane)
      m.set_u64(0, lane, 0x100000000u * lane + 7 * lane);
    m.run("v_mov_b64_dpp v[2:3], v[0:1] row_newbcast:5 row_mask:0xf bank_mask:0xf");
    for (unsigned lane = 0; lane < lanes; ++lane)
      EXPECT_EQ(m.u64(2, lane), m.u64(0, lane / 16 * 16 + 5));
  }
}

TEST(VectorDpp, WaveSumAsCompiled) {
  // The reduction LLVM emits: row shifts, then the row broadcasts with row masks a and c.
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return lane * lane + 3; });
    m.run("s_nop 1\n"
          "v_add_u32_dpp v0, v0, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\n");
    m.vgpr(0, [](unsigned lane) { return lane * lane + 3; });
    m.run("v_mov_b32 v1, v0\n"
          "v_add_u32_dpp v1, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n"
          "v_add_u32_dpp v1, v0, v1 row_shr:2 row_mask:0xf bank_mask:0xf\n"
          "v_add_u32_dpp v1, v0, v1 row_shr:3 row_mask:0xf bank_mask:0xf\n"
          "v_add_u32_dpp v1, v1, v1 row_shr:4 row_mask:0xf bank_mask:0xe\n"
          "v_add_u32_dpp v1, v1, v1 row_shr:8 row_mask:0xf bank_mask:0xc\n"
          "v_add_u32_dpp v1, v1, v1 row_bcast:15 row_mask:0xa bank_mask:0xf\n"
          "v_add_u32_dpp v1, v1, v1 row_bcast:31 row_mask:0xc bank_mask:0xf\n");
    u32 sum = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      sum += lane * lane + 3;
      EXPECT_EQ(m.wave.v[1][lane], sum) << lane; // an inclusive scan
    }
  }
}

} // namespace
