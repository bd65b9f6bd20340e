// SCRATCH loads and stores.
#include "exec/scratch_access.hpp"

#include "exec/global_access.hpp"
#include "exec/global_families.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// Offset = VGPR + SGPR + immediate; each of the two registers may be absent.
std::int64_t scalar_part(const Wave& w, const Op& op) {
  const std::int64_t base = op.saddr == no_saddr ? 0 : std::int64_t{w.s[op.saddr]};
  return base + op.offset;
}

void scratch_offsets(const Wave& w, const Op& op, Offsets& out) {
  const std::int64_t base = scalar_part(w, op);
  const std::uint32_t* vector = w.v[op.vaddr];
  for (unsigned lane = 0; lane < lanes; ++lane)
    out.lane[lane] = base + (op.has_vaddr ? std::int64_t{vector[lane]} : 0);
}

/// Whether all lanes access whole dwords at one offset inside their memory: then they are rows.
template <Width W>
bool is_row(const Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::int64_t at = scalar_part(w, op);
  return bytes >= 4 && !op.has_vaddr && !w.tally && at >= 0 && at % 4 == 0 &&
         at + bytes <= w.scratch_bytes;
}

/// Moves the lanes of `exec` between two rows, which need not be aligned.
void move_row(std::byte* to, const std::byte* from, std::uint64_t exec) {
  if (exec == all_lanes)
    std::memcpy(to, from, sizeof(LaneRow));
  else
    for_each_lane(
        exec, [&](unsigned lane) { poke(to + 4 * lane, peek<std::uint32_t>(from + 4 * lane)); });
}

std::byte* row_bytes(std::uint32_t* row, unsigned dword) {
  return reinterpret_cast<std::byte*>(row + dword * lanes);
}
const std::byte* row_bytes(const std::uint32_t* row, unsigned dword) {
  return reinterpret_cast<const std::byte*>(row + dword * lanes);
}

template <Width W>
void scratch_load(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  std::uint32_t* row = register_row(w, op.data_agpr, op.dst);
  if (is_row<W>(w, op)) {
    const std::byte* from = scratch_dword(w, static_cast<std::uint64_t>(scalar_part(w, op)) / 4, 0);
    for (unsigned d = 0; d < width_dwords(W); ++d)
      move_row(row_bytes(row, d), from + d * sizeof(LaneRow), exec);
    return;
  }
  Offsets at;
  scratch_offsets(w, op, at);
  check_scratch(w, op, at, exec, bytes, "read");
  if (w.tally) [[unlikely]]
    count_scratch(w, op, at, exec, bytes, false);
  scratch_load_lanes<W>(w, row, at, exec);
}

template <Width W>
void scratch_store(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const std::uint32_t* row = register_row(w, op.data_agpr, op.vdata);
  if (is_row<W>(w, op)) {
    std::byte* to = scratch_dword(w, static_cast<std::uint64_t>(scalar_part(w, op)) / 4, 0);
    for (unsigned d = 0; d < width_dwords(W); ++d)
      move_row(to + d * sizeof(LaneRow), row_bytes(row, d), exec);
    return;
  }
  Offsets at;
  scratch_offsets(w, op, at);
  check_scratch(w, op, at, exec, bytes, "write");
  if (w.tally) [[unlikely]]
    count_scratch(w, op, at, exec, bytes, true);
  scratch_store_lanes<W>(w, row, at, exec);
}

template <Width W>
OpInfo load_info(const char* name) {
  return {.mnemonic = name,
          .handler = scratch_load<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_load,
          .aux = width_bytes(W)};
}

template <Width W>
OpInfo store_info(const char* name) {
  return {.mnemonic = name,
          .handler = scratch_store<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_store,
          .aux = width_bytes(W)};
}

} // namespace

void register_scratch(OpTable& table) {
  using enum Width;
  table.add(load_info<ubyte>("scratch_load_ubyte"));
  table.add(load_info<sbyte>("scratch_load_sbyte"));
  table.add(load_info<ushort>("scratch_load_ushort"));
  table.add(load_info<sshort>("scratch_load_sshort"));
  table.add(load_info<ubyte_d16>("scratch_load_ubyte_d16"));
  table.add(load_info<ubyte_d16_hi>("scratch_load_ubyte_d16_hi"));
  table.add(load_info<sbyte_d16>("scratch_load_sbyte_d16"));
  table.add(load_info<sbyte_d16_hi>("scratch_load_sbyte_d16_hi"));
  table.add(load_info<short_d16>("scratch_load_short_d16"));
  table.add(load_info<short_d16_hi>("scratch_load_short_d16_hi"));
  table.add(load_info<dword>("scratch_load_dword"));
  table.add(load_info<dwordx2>("scratch_load_dwordx2"));
  table.add(load_info<dwordx3>("scratch_load_dwordx3"));
  table.add(load_info<dwordx4>("scratch_load_dwordx4"));

  table.add(store_info<ubyte>("scratch_store_byte"));
  table.add(store_info<ubyte_d16_hi>("scratch_store_byte_d16_hi"));
  table.add(store_info<ushort>("scratch_store_short"));
  table.add(store_info<short_d16_hi>("scratch_store_short_d16_hi"));
  table.add(store_info<dword>("scratch_store_dword"));
  table.add(store_info<dwordx2>("scratch_store_dwordx2"));
  table.add(store_info<dwordx3>("scratch_store_dwordx3"));
  table.add(store_info<dwordx4>("scratch_store_dwordx4"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
