/// \file
/// Bank conflicts as text, on the host.
#pragma once

#include <wavetile/core/text.hpp>
#include <wavetile/lds/bank_conflicts.hpp>

namespace wavetile {

/// An access with a name for the report.
struct named_access {
  const char* name;
  lds_access what;
};

/// One line about a layout: "128 x 64 x 2 B, pitch 128 B, chunk 16 B ^ (row ^ row >> 3) & 7, 16384
/// B".
template <int Capacity>
constexpr void describe(fixed_text<Capacity>& text, const layout& where) {
  text.append(where.rows).append(" x ").append(where.columns).append(" x ");
  text.append(where.element_bytes).append(" B, pitch ").append(where.pitch).append(" B");
  if (where.chunk != 0) {
    text.append(", chunk ").append(where.chunk).append(" B ^ (row");
    if (where.shift != 0)
      text.append(" >> ").append(where.shift);
    if (where.second_shift != layout::no_shift)
      text.append(" ^ row >> ").append(where.second_shift);
    text.append(") & ").append(where.mask);
  } else if (where.pitch != where.columns * where.element_bytes) {
    text.append(" (").append(where.pitch - where.columns * where.element_bytes).append(" B pad)");
  }
  text.append(", ").append(where.bytes()).append(" B");
}

/// The layout, and a line for each access: instruction, clocks against the conflict-free minimum,
/// worst bank load, evidence.
///
///     std::puts(report(choice.chosen, targets::gfx942, {{"a fragment", read}, {"copy", write}})
///                   .c_str());
template <int Count>
constexpr fixed_text<256 + 128 * Count> report(const layout& where, const target& device,
                                               const named_access (&accesses)[Count]) {
  fixed_text<256 + 128 * Count> text;
  text.append("layout ");
  describe(text, where);
  text.append(" on ").append(device.name).append('\n');
  for (const named_access& entry : accesses) {
    const conflict_count count = bank_conflicts(where, entry.what, device);
    text.append("  ").append(entry.name).append(": ").append(name_of(entry.what.op)).append(", ");
    if (!count.legal)
      text.append("not one instruction: misaligned, split or outside the tile; ");
    if (!count.known) {
      text.append("lane groups unknown\n");
      continue;
    }
    text.append(count.clocks).append(" clocks, minimum ").append(count.phases);
    if (count.worst > 1)
      text.append(", ").append(count.worst).append("-way conflict");
    else
      text.append(", no conflict");
    text.append(" (").append(name_of(count.tag)).append(")\n");
  }
  return text;
}

} // namespace wavetile
