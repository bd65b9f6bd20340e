// GLOBAL loads and stores.
#include "exec/global_access.hpp"
#include "exec/global_families.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

template <Width W>
void global_load(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  std::uint32_t* row = register_row(w, op.data_agpr, op.dst);
  if (exec == all_lanes)
    if (const std::uint64_t base = global_run(w, op, bytes);
        base && in_one_range(w, op, base, lanes * bytes)) {
      if (w.tally) [[unlikely]]
        count_global_run(w, op, base, bytes, Traffic::read);
      load_run<W>(row, host(base));
      return;
    }
  Addresses at;
  global_addresses(w, op, at);
  check_lanes(w, op, at, exec, bytes, "read");
  count_access(w, op, at, exec, bytes, Traffic::read);
  load_lanes<W>(row, exec, [&](unsigned lane) { return host(at.lane[lane]); });
}

template <Width W>
void global_store(Wave& w, const Op& op) {
  constexpr unsigned bytes = width_bytes(W);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const std::uint32_t* row = register_row(w, op.data_agpr, op.vdata);
  if (exec == all_lanes)
    if (const std::uint64_t base = global_run(w, op, bytes);
        base && in_one_range(w, op, base, lanes * bytes)) {
      if (w.tally) [[unlikely]]
        count_global_run(w, op, base, bytes, Traffic::write);
      store_run<W>(row, host(base));
      return;
    }
  Addresses at;
  global_addresses(w, op, at);
  check_lanes(w, op, at, exec, bytes, "write");
  count_access(w, op, at, exec, bytes, Traffic::write);
  store_lanes<W>(row, exec, [&](unsigned lane) { return host(at.lane[lane]); });
}

template <Width W>
OpInfo load_info(const char* name) {
  return {.mnemonic = name,
          .handler = global_load<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_load,
          .aux = width_bytes(W)};
}

template <Width W>
OpInfo store_info(const char* name) {
  return {.mnemonic = name,
          .handler = global_store<W>,
          .unit = Unit::vmem,
          .dst = width_type(W),
          .flags = op_store,
          .aux = width_bytes(W)};
}

} // namespace

void register_global(OpTable& table) {
  using enum Width;
  table.add(load_info<ubyte>("global_load_ubyte"));
  table.add(load_info<sbyte>("global_load_sbyte"));
  table.add(load_info<ushort>("global_load_ushort"));
  table.add(load_info<sshort>("global_load_sshort"));
  table.add(load_info<ubyte_d16>("global_load_ubyte_d16"));
  table.add(load_info<ubyte_d16_hi>("global_load_ubyte_d16_hi"));
  table.add(load_info<sbyte_d16>("global_load_sbyte_d16"));
  table.add(load_info<sbyte_d16_hi>("global_load_sbyte_d16_hi"));
  table.add(load_info<short_d16>("global_load_short_d16"));
  table.add(load_info<short_d16_hi>("global_load_short_d16_hi"));
  table.add(load_info<dword>("global_load_dword"));
  table.add(load_info<dwordx2>("global_load_dwordx2"));
  table.add(load_info<dwordx3>("global_load_dwordx3"));
  table.add(load_info<dwordx4>("global_load_dwordx4"));

  table.add(store_info<ubyte>("global_store_byte"));
  table.add(store_info<ubyte_d16_hi>("global_store_byte_d16_hi"));
  table.add(store_info<ushort>("global_store_short"));
  table.add(store_info<short_d16_hi>("global_store_short_d16_hi"));
  table.add(store_info<dword>("global_store_dword"));
  table.add(store_info<dwordx2>("global_store_dwordx2"));
  table.add(store_info<dwordx3>("global_store_dwordx3"));
  table.add(store_info<dwordx4>("global_store_dwordx4"));

  register_flat(table);
  register_scratch(table);
  register_global_atomics(table);
  register_lds_direct(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
