// Loads from memory straight into LDS: GLOBAL and SCRATCH forms (the MUBUF ones are in buffer.cpp).
#include "exec/lds_direct.hpp"

#include "exec/global_access.hpp"
#include "exec/global_families.hpp"
#include "exec/scratch_access.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// M0[17:2] * 4 + the instruction's offset, which counts for the LDS address too.
std::uint32_t lds_base(const Wave& w, const Op& op) {
  return (w.s[code_m0] & 0x3fffc) + static_cast<std::uint32_t>(op.offset);
}

template <Width W>
void global_to_lds(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  Addresses at;
  global_addresses(w, op, at);
  check_lanes(w, op, at, exec, bytes, "read");
  count_access(w, op, at, exec, bytes, Traffic::read);
  Row data;
  load_lanes<W>(data, exec, [&](unsigned lane) { return host(at.lane[lane]); });
  store_to_lds(w, data, lds_base(w, op), exec);
}

template <Width W>
void scratch_to_lds(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  Offsets at;
  const std::int64_t base = (op.saddr == no_saddr ? 0 : std::int64_t{w.s[op.saddr]}) + op.offset;
  for (unsigned lane = 0; lane < lanes; ++lane)
    at.lane[lane] = base + (op.has_vaddr ? std::int64_t{w.v[op.vaddr][lane]} : 0);
  check_scratch(w, op, at, exec, bytes, "read");
  if (w.tally) [[unlikely]]
    count_scratch(w, op, at, exec, bytes, false);
  Row data;
  scratch_load_lanes<W>(w, data, at, exec);
  store_to_lds(w, data, lds_base(w, op), exec);
}

OpInfo info(const char* name, Handler handler, Width w) {
  return {.mnemonic = name,
          .handler = handler,
          .unit = Unit::vmem,
          .dst = width_type(w),
          .flags = op_load,
          .aux = width_bytes(w)};
}

} // namespace

void store_to_lds(Wave& w, const std::uint32_t* data, std::uint32_t base, std::uint64_t exec) {
  for_each_lane(exec, [&](unsigned lane) {
    const std::uint64_t to = std::uint64_t{base} + 4 * lane;
    if (to + 4 <= w.group->lds_bytes)
      poke(w.group->lds + to, data[lane]);
  });
}

void register_lds_direct(OpTable& table) {
  using enum Width;
  table.add(info("global_load_lds_ubyte", global_to_lds<ubyte>, ubyte));
  table.add(info("global_load_lds_sbyte", global_to_lds<sbyte>, sbyte));
  table.add(info("global_load_lds_ushort", global_to_lds<ushort>, ushort));
  table.add(info("global_load_lds_sshort", global_to_lds<sshort>, sshort));
  table.add(info("global_load_lds_dword", global_to_lds<dword>, dword));
  table.add(info("scratch_load_lds_ubyte", scratch_to_lds<ubyte>, ubyte));
  table.add(info("scratch_load_lds_sbyte", scratch_to_lds<sbyte>, sbyte));
  table.add(info("scratch_load_lds_ushort", scratch_to_lds<ushort>, ushort));
  table.add(info("scratch_load_lds_sshort", scratch_to_lds<sshort>, sshort));
  table.add(info("scratch_load_lds_dword", scratch_to_lds<dword>, dword));
}

} // namespace wavesim::WAVESIM_SIMD_NS
