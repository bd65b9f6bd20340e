// MUBUF loads and stores. vdata is the data register of both.
#include "exec/buffer_access.hpp"
#include "exec/buffer_families.hpp"
#include "exec/lds_direct.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

template <Width W>
constexpr unsigned pieces = width_dwords(W);
template <Width W>
constexpr unsigned piece_bytes = width_bytes(W) / pieces<W>;

/// Loads what is in bounds and zero where it is not.
template <Width W>
void load_clamped(Wave& w, const Op& op, std::uint64_t exec, std::uint32_t* row) {
  BufferLanes to;
  buffer_lanes(w, op, exec, pieces<W>, piece_bytes<W>, to);
  admit_buffer_lanes(w, op, to, pieces<W>, piece_bytes<W>, Traffic::read, "read");
  const std::uint64_t whole = to.inside[pieces<W> - 1];
  load_lanes<W>(row, whole, [&](unsigned lane) { return host(to.at.lane[lane]); });
  for_each_lane(exec & ~whole, [&](unsigned lane) {
    load_zero<W>(row, lane);
    if constexpr (pieces < W >> 1)
      for (unsigned d = 0; d + 1 < pieces<W> && to.inside[d] >> lane & 1; ++d)
        row[d * lanes + lane] = peek<std::uint32_t>(host(to.at.lane[lane]) + 4 * d);
  });
}

template <Width W>
void buffer_load(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  if (!op.lds) {
    load_clamped<W>(w, op, exec, register_row(w, op.data_agpr, op.vdata));
    return;
  }
  if constexpr (pieces<W> == 1) { // LDS address: M0[15:0] + the instruction's offset + 4 * lane
    Row data;
    spread(data, 0);
    load_clamped<W>(w, op, exec, data);
    const std::uint32_t base = (w.s[code_m0] & 0xffff) + static_cast<std::uint32_t>(op.offset);
    store_to_lds(w, data, base, exec);
  } else {
    stop_memory(w, op, "gfx942 has no load of more than one dword into LDS");
  }
}

template <Width W>
void buffer_store(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const std::uint32_t* row = register_row(w, op.data_agpr, op.vdata);
  BufferLanes to;
  buffer_lanes(w, op, exec, pieces<W>, piece_bytes<W>, to);
  admit_buffer_lanes(w, op, to, pieces<W>, piece_bytes<W>, Traffic::write, "write");
  const std::uint64_t whole = to.inside[pieces<W> - 1];
  if (whole == exec) {
    store_lanes<W>(row, exec, [&](unsigned lane) { return host(to.at.lane[lane]); });
    return;
  }
  for_each_lane(exec, [&](unsigned lane) { // lowest lane first, whatever is clamped
    if (whole >> lane & 1)
      store_lane<W>(row, lane, host(to.at.lane[lane]));
    else if constexpr (pieces<W> > 1)
      for (unsigned d = 0; d < pieces<W> && to.inside[d] >> lane & 1; ++d)
        poke(host(to.at.lane[lane]) + 4 * d, row[d * lanes + lane]);
  });
}

/// Memory is coherent here, so write-backs and invalidations have nothing to do.
void cache_control(Wave&, const Op&) {}

template <Width W>
OpInfo load_info(const char* name) {
  return {.mnemonic = name,
          .handler = buffer_load<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_load,
          .aux = width_bytes(W)};
}

template <Width W>
OpInfo store_info(const char* name) {
  return {.mnemonic = name,
          .handler = buffer_store<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_store,
          .aux = width_bytes(W)};
}

} // namespace

// buffer_load_format_* and buffer_store_format_* have no entry: they stop with their text.
void register_buffer(OpTable& table) {
  using enum Width;
  table.add(load_info<ubyte>("buffer_load_ubyte"));
  table.add(load_info<sbyte>("buffer_load_sbyte"));
  table.add(load_info<ushort>("buffer_load_ushort"));
  table.add(load_info<sshort>("buffer_load_sshort"));
  table.add(load_info<ubyte_d16>("buffer_load_ubyte_d16"));
  table.add(load_info<ubyte_d16_hi>("buffer_load_ubyte_d16_hi"));
  table.add(load_info<sbyte_d16>("buffer_load_sbyte_d16"));
  table.add(load_info<sbyte_d16_hi>("buffer_load_sbyte_d16_hi"));
  table.add(load_info<short_d16>("buffer_load_short_d16"));
  table.add(load_info<short_d16_hi>("buffer_load_short_d16_hi"));
  table.add(load_info<dword>("buffer_load_dword"));
  table.add(load_info<dwordx2>("buffer_load_dwordx2"));
  table.add(load_info<dwordx3>("buffer_load_dwordx3"));
  table.add(load_info<dwordx4>("buffer_load_dwordx4"));

  table.add(store_info<ubyte>("buffer_store_byte"));
  table.add(store_info<ubyte_d16_hi>("buffer_store_byte_d16_hi"));
  table.add(store_info<ushort>("buffer_store_short"));
  table.add(store_info<short_d16_hi>("buffer_store_short_d16_hi"));
  table.add(store_info<dword>("buffer_store_dword"));
  table.add(store_info<dwordx2>("buffer_store_dwordx2"));
  table.add(store_info<dwordx3>("buffer_store_dwordx3"));
  table.add(store_info<dwordx4>("buffer_store_dwordx4"));

  table.add({.mnemonic = "buffer_wbl2", .handler = cache_control, .unit = Unit::vmem});
  table.add({.mnemonic = "buffer_inv", .handler = cache_control, .unit = Unit::vmem});
  register_buffer_atomics(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
