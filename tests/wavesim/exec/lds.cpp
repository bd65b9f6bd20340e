// DS reads and writes.
#include "exec/lds_families.hpp"

#include "exec/lds_access.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// `run`: all lanes are active, and one behind the other.
template <Width W>
[[gnu::always_inline]] inline void read_plain(Wave& w, const std::uint32_t* address,
                                              std::uint32_t offset, std::uint32_t* row,
                                              std::uint64_t exec, bool run) {
  constexpr unsigned bytes = width_bytes(W);
  alignas(64) LaneRow sums;
  const std::uint64_t inside = lds_in_range_wrapped(w, address, offset, bytes, exec, sums);
  const std::byte* base = w.group->lds + offset;
  if (W == Width::dword && run && inside == all_lanes) {
    load_run<W>(row, base + address[0]);
    return;
  }
  load_lanes<W>(row, inside, [&](unsigned lane) { return base + address[lane]; });
  for_each_lane(exec & ~inside, [&](unsigned lane) { load_zero<W>(row, lane); });
}

template <Width W>
[[gnu::always_inline]] inline void write_plain(Wave& w, const std::uint32_t* address,
                                               std::uint32_t offset, const std::uint32_t* row,
                                               std::uint64_t exec, bool run) {
  constexpr unsigned bytes = width_bytes(W);
  alignas(64) LaneRow sums;
  const std::uint64_t inside = lds_in_range_wrapped(w, address, offset, bytes, exec, sums);
  std::byte* base = w.group->lds + offset;
  if (W == Width::dword && run && inside == all_lanes) {
    store_run<W>(row, base + address[0]);
    return;
  }
  store_lanes<W>(row, inside, [&](unsigned lane) { return base + address[lane]; });
}

// Counting has functions of its own: a call in the middle would cost those who do not count.

template <Width W>
[[gnu::noinline]] void read_counted(Wave& w, const Op& op, const std::uint32_t* address,
                                    std::uint32_t offset, std::uint32_t* row, std::uint64_t exec) {
  constexpr unsigned bytes = width_bytes(W);
  const bool run = exec == all_lanes && lds_is_run(address, bytes);
  count_lds_access<bytes>(*lds_record(w, op, exec), false, false, address, offset, exec, run);
  read_plain<W>(w, address, offset, row, exec, run);
}

template <Width W>
[[gnu::noinline]] void write_counted(Wave& w, const Op& op, const std::uint32_t* address,
                                     std::uint32_t offset, const std::uint32_t* row,
                                     std::uint64_t exec) {
  constexpr unsigned bytes = width_bytes(W);
  const bool run = exec == all_lanes && lds_is_run(address, bytes);
  count_lds_access<bytes>(*lds_record(w, op, exec), true, false, address, offset, exec, run);
  write_plain<W>(w, address, offset, row, exec, run);
}

template <Width W>
void read_at(Wave& w, const Op& op, const std::uint32_t* address, std::uint32_t offset,
             std::uint32_t* row, std::uint64_t exec) {
  if (w.tally) [[unlikely]]
    return read_counted<W>(w, op, address, offset, row, exec);
  const bool run = W == Width::dword && exec == all_lanes && lds_is_run(address, width_bytes(W));
  read_plain<W>(w, address, offset, row, exec, run);
}

template <Width W>
void write_at(Wave& w, const Op& op, const std::uint32_t* address, std::uint32_t offset,
              const std::uint32_t* row, std::uint64_t exec) {
  if (w.tally) [[unlikely]]
    return write_counted<W>(w, op, address, offset, row, exec);
  const bool run = W == Width::dword && exec == all_lanes && lds_is_run(address, width_bytes(W));
  write_plain<W>(w, address, offset, row, exec, run);
}

template <Width W>
void lds_read(Wave& w, const Op& op) {
  if (const std::uint64_t exec = w.exec())
    read_at<W>(w, op, w.v[op.vaddr], static_cast<std::uint32_t>(op.offset),
               register_row(w, op.data_agpr, op.dst), exec);
}

template <Width W>
void lds_write(Wave& w, const Op& op) {
  if (const std::uint64_t exec = w.exec())
    write_at<W>(w, op, w.v[op.vaddr], static_cast<std::uint32_t>(op.offset),
                register_row(w, op.data_agpr, op.vdata), exec);
}

/// Two accesses at address + offset0 and address + offset1, both in units of Unit bytes. Equal
/// offsets collapse to one access, which uses data0.
template <Width W, unsigned Unit>
void lds_read2(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  std::uint32_t* row = register_row(w, op.data_agpr, op.dst);
  std::uint32_t* second = row + width_dwords(W) * lanes;
  alignas(64) LaneRow address; // the first result may overwrite the address register
  copy_row(address, w.v[op.vaddr]);
  read_at<W>(w, op, address, op.offset0 * Unit, row, exec);
  if (op.offset1 != op.offset0) {
    read_at<W>(w, op, address, op.offset1 * Unit, second, exec);
    if (w.tally) [[unlikely]] // one instruction, the same lanes
      w.tally->of(op.id).lanes -= static_cast<std::uint64_t>(std::popcount(exec));
    return;
  }
  for (unsigned d = 0; d < width_dwords(W); ++d)
    store_row(second + d * lanes, row + d * lanes, exec);
}

template <Width W, unsigned Unit>
void lds_write2(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const std::uint32_t* address = w.v[op.vaddr];
  write_at<W>(w, op, address, op.offset0 * Unit, register_row(w, op.data_agpr, op.vdata), exec);
  if (op.offset1 == op.offset0)
    return;
  write_at<W>(w, op, address, op.offset1 * Unit, register_row(w, op.data_agpr, op.vdata1), exec);
  if (w.tally) [[unlikely]]
    w.tally->of(op.id).lanes -= static_cast<std::uint64_t>(std::popcount(exec));
}

/// Address of the addtid forms: M0[15:0] + lane * 4 (+ offset).
void addtid(const Wave& w, std::uint32_t* address) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    address[lane] = (w.s[code_m0] & 0xffff) + 4 * lane;
}

void lds_read_addtid(Wave& w, const Op& op) {
  alignas(64) LaneRow address;
  addtid(w, address);
  if (const std::uint64_t exec = w.exec())
    read_at<Width::dword>(w, op, address, static_cast<std::uint32_t>(op.offset),
                          register_row(w, op.data_agpr, op.dst), exec);
}

void lds_write_addtid(Wave& w, const Op& op) {
  alignas(64) LaneRow address;
  addtid(w, address);
  if (const std::uint64_t exec = w.exec())
    write_at<Width::dword>(w, op, address, static_cast<std::uint32_t>(op.offset),
                           register_row(w, op.data_agpr, op.vdata), exec);
}

void lds_nop(Wave&, const Op&) {}

template <Width W>
OpInfo read_info(const char* name) {
  return {.mnemonic = name,
          .handler = lds_read<W>,
          .unit = Unit::lds,
          .dst = width_type(W),
          .flags = op_load,
          .aux = width_bytes(W)};
}

template <Width W>
OpInfo write_info(const char* name) {
  return {.mnemonic = name,
          .handler = lds_write<W>,
          .unit = Unit::lds,
          .dst = width_type(W),
          .flags = op_store,
          .aux = width_bytes(W)};
}

/// `aux` of a two-address form is the bytes of one of its accesses.
OpInfo pair_info(const char* name, Handler handler, Width w, std::uint32_t flag) {
  return {.mnemonic = name,
          .handler = handler,
          .unit = Unit::lds,
          .dst = width_type(w),
          .flags = flag,
          .aux = width_bytes(w)};
}

} // namespace

void register_lds(OpTable& table) {
  using enum Width;
  table.add(read_info<ubyte>("ds_read_u8"));
  table.add(read_info<sbyte>("ds_read_i8"));
  table.add(read_info<ushort>("ds_read_u16"));
  table.add(read_info<sshort>("ds_read_i16"));
  table.add(read_info<ubyte_d16>("ds_read_u8_d16"));
  table.add(read_info<ubyte_d16_hi>("ds_read_u8_d16_hi"));
  table.add(read_info<sbyte_d16>("ds_read_i8_d16"));
  table.add(read_info<sbyte_d16_hi>("ds_read_i8_d16_hi"));
  table.add(read_info<short_d16>("ds_read_u16_d16"));
  table.add(read_info<short_d16_hi>("ds_read_u16_d16_hi"));
  table.add(read_info<dword>("ds_read_b32"));
  table.add(read_info<dwordx2>("ds_read_b64"));
  table.add(read_info<dwordx3>("ds_read_b96"));
  table.add(read_info<dwordx4>("ds_read_b128"));

  table.add(write_info<ubyte>("ds_write_b8"));
  table.add(write_info<ushort>("ds_write_b16"));
  table.add(write_info<ubyte_d16_hi>("ds_write_b8_d16_hi"));
  table.add(write_info<short_d16_hi>("ds_write_b16_d16_hi"));
  table.add(write_info<dword>("ds_write_b32"));
  table.add(write_info<dwordx2>("ds_write_b64"));
  table.add(write_info<dwordx3>("ds_write_b96"));
  table.add(write_info<dwordx4>("ds_write_b128"));

  table.add(pair_info("ds_read2_b32", lds_read2<dword, 4>, dword, op_load));
  table.add(pair_info("ds_read2_b64", lds_read2<dwordx2, 8>, dwordx2, op_load));
  table.add(pair_info("ds_read2st64_b32", lds_read2<dword, 4 * 64>, dword, op_load));
  table.add(pair_info("ds_read2st64_b64", lds_read2<dwordx2, 8 * 64>, dwordx2, op_load));
  table.add(pair_info("ds_write2_b32", lds_write2<dword, 4>, dword, op_store));
  table.add(pair_info("ds_write2_b64", lds_write2<dwordx2, 8>, dwordx2, op_store));
  table.add(pair_info("ds_write2st64_b32", lds_write2<dword, 4 * 64>, dword, op_store));
  table.add(pair_info("ds_write2st64_b64", lds_write2<dwordx2, 8 * 64>, dwordx2, op_store));

  table.add(pair_info("ds_read_addtid_b32", lds_read_addtid, dword, op_load));
  table.add(pair_info("ds_write_addtid_b32", lds_write_addtid, dword, op_store));
  table.add({.mnemonic = "ds_nop", .handler = lds_nop, .unit = Unit::lds});
  register_lds_atomics(table);
  register_lds_lanes(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
