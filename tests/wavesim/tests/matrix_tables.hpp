// The matrix instructions as AMD's calculator lists them (data/mfma_layouts.json), for the tests:
// nothing here comes from the executor's own table.
#pragma once

#include "tests/harness.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wavesim::test {

struct CalculatorLayout {
  unsigned slots = 0, bits = 0;
  std::map<std::string, std::vector<unsigned>, std::less<>> coordinates; ///< by [lane·slots + slot]

  CalculatorLayout() = default;
  explicit CalculatorLayout(const nlohmann::json& raw)
      : slots(raw["slots_per_lane"]), bits(raw["bits_per_slot"]) {
    for (const char* name : {"i", "j", "k", "block"}) {
      std::vector<unsigned>& values = coordinates[name];
      values.resize(lanes * slots);
      if (!raw.contains(name))
        continue;
      for (unsigned at = 0; at < values.size(); ++at)
        for (const auto& [variable, x] : {std::pair{"lane", at / slots}, {"slot", at % slots}})
          for (const auto& term : raw[name][variable])
            values[at] +=
                x / term[0].get<unsigned>() % term[1].get<unsigned>() * term[2].get<unsigned>();
    }
  }
  unsigned at(std::string_view coordinate, unsigned lane, unsigned slot) const {
    return coordinates.find(coordinate)->second[lane * slots + slot];
  }
};

struct CalculatorEntry {
  nlohmann::json raw;
  std::string name, type_a, type_b, type_cd;
  unsigned m = 0, n = 0, k = 0, blocks = 0;
  unsigned registers_a = 0, registers_b = 0, registers_d = 0;
  bool sparse = false;
  CalculatorLayout a, b, d;

  unsigned stored_bits_a() const { return sparse ? a.bits / 2 : a.bits; }
};

inline nlohmann::json read_data(const char* file) {
  std::ifstream in(std::string(WAVESIM_TEST_DATA "/") + file);
  return nlohmann::json::parse(in);
}

inline const std::vector<CalculatorEntry>& calculator_entries() {
  static const std::vector<CalculatorEntry> entries = [] {
    std::vector<CalculatorEntry> all;
    const nlohmann::json file = read_data("mfma_layouts.json");
    for (const auto& raw : file["instructions"]) {
      CalculatorEntry e;
      e.raw = raw;
      e.name = raw["name"];
      e.type_a = raw["type_a"], e.type_b = raw["type_b"], e.type_cd = raw["type_cd"];
      e.m = raw["M"], e.n = raw["N"], e.k = raw["K"], e.blocks = raw["blocks"];
      e.registers_a = raw["vgprs_a"], e.registers_b = raw["vgprs_b"],
      e.registers_d = raw["vgprs_cd"];
      e.sparse = raw["sparse"];
      const auto& layout = raw["layout"];
      e.a = CalculatorLayout(layout["A"]);
      e.b = CalculatorLayout(layout["B"]);
      e.d = CalculatorLayout(layout["D"]);
      all.push_back(std::move(e));
    }
    return all;
  }();
  return entries;
}

/// Entries (by number) for which `wanted` holds, to instantiate tests over.
template <class F>
std::vector<unsigned> entries_where(F&& wanted) {
  std::vector<unsigned> numbers;
  for (unsigned i = 0; i < calculator_entries().size(); ++i)
    if (wanted(calculator_entries()[i]))
      numbers.push_back(i);
  return numbers;
}

/// Where the tests keep the operands.
inline constexpr unsigned reg_a = 0, reg_b = 8, reg_index = 20, reg_c = 32, reg_d = 64;

inline std::string tuple_text(char file, unsigned first, unsigned count) {
  const std::string start(1, file);
  if (count == 1)
    return start + std::to_string(first);
  return start + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

/// Assembly of an entry on those registers; C is `c` when given.
inline std::string matrix_text(const CalculatorEntry& e, const std::string& modifiers = "",
                               const std::string& c = "") {
  const std::string c_text = !c.empty() ? c
                             : e.sparse ? tuple_text('v', reg_index, 1)
                                        : tuple_text('v', reg_c, e.registers_d);
  return e.name + " " + tuple_text('v', reg_d, e.registers_d) + ", " +
         tuple_text('v', reg_a, e.registers_a) + ", " + tuple_text('v', reg_b, e.registers_b) +
         ", " + c_text + " " + modifiers;
}

/// Element `slot` of `lane` in an operand of `bits` wide elements.
inline void set_element(LaneRow* rows, unsigned bits, unsigned lane, unsigned slot,
                        std::uint64_t value) {
  if (bits == 64) {
    rows[2 * slot][lane] = static_cast<std::uint32_t>(value);
    rows[2 * slot + 1][lane] = static_cast<std::uint32_t>(value >> 32);
    return;
  }
  const unsigned shift = slot * bits % 32;
  const std::uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  std::uint32_t& word = rows[slot * bits / 32][lane];
  word = (word & ~mask) | (static_cast<std::uint32_t>(value) << shift & mask);
}

inline std::uint64_t get_element(const LaneRow* rows, unsigned bits, unsigned lane, unsigned slot) {
  if (bits == 64)
    return rows[2 * slot][lane] | std::uint64_t{rows[2 * slot + 1][lane]} << 32;
  const std::uint32_t word = rows[slot * bits / 32][lane] >> slot * bits % 32;
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

} // namespace wavesim::test
