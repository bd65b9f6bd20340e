// FLAT loads and stores.
#include "exec/flat_access.hpp"

#include "exec/global_families.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

template <Width W>
void flat_load(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  std::uint32_t* row = register_row(w, op.data_agpr, op.dst);
  if (exec == all_lanes)
    if (const std::uint64_t base = global_run(w, op, bytes);
        base && !in_aperture(base) && in_one_range(w, op, base, lanes * bytes)) {
      if (w.tally) [[unlikely]]
        count_global_run(w, op, base, bytes, Traffic::read);
      load_run<W>(row, host(base));
      return;
    }
  FlatLanes to;
  flat_lanes(w, op, exec, bytes, Traffic::read, "read", to);
  load_lanes<W>(row, to.memory(), [&](unsigned lane) { return host(to.at.lane[lane]); });
  if (to.scratch)
    scratch_load_lanes<W>(w, row, to.offset, to.scratch);
}

template <Width W>
void flat_store(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const std::uint32_t* row = register_row(w, op.data_agpr, op.vdata);
  if (exec == all_lanes)
    if (const std::uint64_t base = global_run(w, op, bytes);
        base && !in_aperture(base) && in_one_range(w, op, base, lanes * bytes)) {
      if (w.tally) [[unlikely]]
        count_global_run(w, op, base, bytes, Traffic::write);
      store_run<W>(row, host(base));
      return;
    }
  FlatLanes to;
  flat_lanes(w, op, exec, bytes, Traffic::write, "write", to);
  store_lanes<W>(row, to.memory(), [&](unsigned lane) { return host(to.at.lane[lane]); });
  if (to.scratch)
    scratch_store_lanes<W>(w, row, to.offset, to.scratch);
}

template <Width W>
OpInfo load_info(const char* name) {
  return {.mnemonic = name,
          .handler = flat_load<W>,
          .unit = Unit::flat,
          .dst = width_type(W),
          .flags = op_load,
          .aux = width_bytes(W)};
}

template <Width W>
OpInfo store_info(const char* name) {
  return {.mnemonic = name,
          .handler = flat_store<W>,
          .unit = Unit::flat,
          .dst = width_type(W),
          .flags = op_store,
          .aux = width_bytes(W)};
}

} // namespace

void register_flat(OpTable& table) {
  using enum Width;
  table.add(load_info<ubyte>("flat_load_ubyte"));
  table.add(load_info<sbyte>("flat_load_sbyte"));
  table.add(load_info<ushort>("flat_load_ushort"));
  table.add(load_info<sshort>("flat_load_sshort"));
  table.add(load_info<ubyte_d16>("flat_load_ubyte_d16"));
  table.add(load_info<ubyte_d16_hi>("flat_load_ubyte_d16_hi"));
  table.add(load_info<sbyte_d16>("flat_load_sbyte_d16"));
  table.add(load_info<sbyte_d16_hi>("flat_load_sbyte_d16_hi"));
  table.add(load_info<short_d16>("flat_load_short_d16"));
  table.add(load_info<short_d16_hi>("flat_load_short_d16_hi"));
  table.add(load_info<dword>("flat_load_dword"));
  table.add(load_info<dwordx2>("flat_load_dwordx2"));
  table.add(load_info<dwordx3>("flat_load_dwordx3"));
  table.add(load_info<dwordx4>("flat_load_dwordx4"));

  table.add(store_info<ubyte>("flat_store_byte"));
  table.add(store_info<ubyte_d16_hi>("flat_store_byte_d16_hi"));
  table.add(store_info<ushort>("flat_store_short"));
  table.add(store_info<short_d16_hi>("flat_store_short_d16_hi"));
  table.add(store_info<dword>("flat_store_dword"));
  table.add(store_info<dwordx2>("flat_store_dwordx2"));
  table.add(store_info<dwordx3>("flat_store_dwordx3"));
  table.add(store_info<dwordx4>("flat_store_dwordx4"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
