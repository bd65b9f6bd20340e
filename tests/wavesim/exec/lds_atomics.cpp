// DS read-modify-write instructions.
#include "exec/lds_access.hpp"
#include "exec/lds_families.hpp"
#include "exec/memory_atomics.hpp"
#include "machine/memory_stops.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// One atomic access at address + offset. Lanes out of range do nothing and return zero.
template <Atomic A, class T>
void atomic_at(Wave& w, const Op& op, const std::uint32_t* address, std::uint32_t offset,
               const AtomicRows& rows, std::uint64_t exec) {
  constexpr unsigned bytes = sizeof(T);
  if (w.tally) [[unlikely]]
    count_lds_access<bytes>(w.tally->of(op.id), true, true, address, offset, exec,
                            exec == all_lanes && lds_is_run(address, bytes));
  alignas(64) LaneRow sums;
  const std::uint64_t inside = lds_in_range_wrapped(w, address, offset, bytes, exec, sums);
  alignas(64) std::uint64_t host[lanes];
  const auto base = reinterpret_cast<std::uint64_t>(w.group->lds) + offset;
  for (unsigned lane = 0; lane < lanes; ++lane)
    host[lane] = base + address[lane];
  for_each_lane(inside, [&](unsigned lane) {
    if ((address[lane] + offset) % bytes) [[unlikely]]
      stop_misaligned_atomic(w, op, lane, address[lane] + offset, bytes);
  });
  constexpr unsigned denormal_field = std::is_same_v<T, float> ? 4 : 6;
  // A workgroup runs on one thread: nobody else sees its LDS.
  atomic_lanes<A, T>(host, inside, rows, mode_denormals(w, denormal_field), false);
  if (rows.result)
    for_each_lane(exec & ~inside, [&](unsigned lane) {
      for (unsigned d = 0; d < bytes / 4; ++d)
        rows.result[d * lanes + lane] = 0;
    });
}

template <Atomic A, class T, bool Returns>
void lds_atomic(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  lds_record(w, op, exec);
  AtomicRows rows;
  rows.a = register_row(w, op.data_agpr, op.vdata);
  rows.b = register_row(w, op.data_agpr, op.vdata1);
  if (A == Atomic::cmpswap) // ds_cmpst: data0 is compared with, data1 is the new value
    std::swap(rows.a, rows.b);
  if (Returns)
    rows.result = register_row(w, op.data_agpr, op.dst);
  alignas(64) LaneRow address; // the result may overwrite the address register
  copy_row(address, w.v[op.vaddr]);
  atomic_at<A, T>(w, op, address, static_cast<std::uint32_t>(op.offset), rows, exec);
}

/// Two exchanges at address + offset0 and + offset1 in units of Unit bytes; equal offsets collapse
/// to one, which uses data0 (its old value is returned twice).
template <class T, unsigned Unit>
void exchange2(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  lds_record(w, op, exec);
  constexpr unsigned rows_each = sizeof(T) / 4;
  alignas(64) LaneRow address;
  alignas(64) std::uint32_t data[rows_each][lanes]; // the first result may overwrite data1
  copy_row(address, w.v[op.vaddr]);
  std::memcpy(data, register_row(w, op.data_agpr, op.vdata1), sizeof data);
  std::uint32_t* result = register_row(w, op.data_agpr, op.dst);
  std::uint32_t* second = result + rows_each * lanes;
  atomic_at<Atomic::swap, T>(w, op, address, op.offset0 * Unit,
                             {register_row(w, op.data_agpr, op.vdata), nullptr, result}, exec);
  if (op.offset1 != op.offset0)
    atomic_at<Atomic::swap, T>(w, op, address, op.offset1 * Unit, {data[0], nullptr, second}, exec);
  else
    for (unsigned d = 0; d < rows_each; ++d)
      store_row(second + d * lanes, result + d * lanes, exec);
}

/// append adds the number of active lanes to the dword at M0[15:0] + offset, consume subtracts it;
/// every active lane gets the value from before. LLVM puts the LDS address into M0.
template <bool Append>
void count_lanes(Wave& w, const Op& op) {
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const auto count = static_cast<std::uint32_t>(std::popcount(exec));
  const std::uint32_t at = (w.s[code_m0] & 0xffff) + static_cast<std::uint32_t>(op.offset);
  if (OpTally* record = lds_record(w, op, exec))
    record->lds_clocks += 1;
  std::uint32_t old = 0;
  if (std::uint64_t{at} + 4 <= w.group->lds_bytes) {
    if (at % 4)
      stop_misaligned_atomic(w, op, 0, at, 4);
    old = peek<std::uint32_t>(w.group->lds + at);
    poke(w.group->lds + at, Append ? old + count : old - count);
  }
  Row out;
  spread(out, old);
  store_row(register_row(w, op.data_agpr, op.dst), out, exec);
}

template <Atomic A, class T, bool Returns>
OpInfo info(const char* name) {
  constexpr bool is_float =
      std::floating_point<T> || std::is_same_v<T, packed_f16> || std::is_same_v<T, packed_bf16>;
  return {.mnemonic = name,
          .handler = lds_atomic<A, T, Returns>,
          .unit = Unit::lds,
          .dst = sizeof(T) == 4 ? Type::b32 : Type::b64,
          .flags = op_atomic | (is_float ? op_float_atomic : 0u),
          .aux = sizeof(T)};
}

OpInfo pair_info(const char* name, Handler handler, unsigned bytes) {
  return {.mnemonic = name,
          .handler = handler,
          .unit = Unit::lds,
          .dst = bytes == 4 ? Type::b32 : Type::b64,
          .flags = op_atomic,
          .aux = bytes};
}

} // namespace

void register_lds_atomics(OpTable& table) {
  using enum Atomic;
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  using u64 = std::uint64_t;
  using i64 = std::int64_t;
#define WAVESIM_DS(name, suffix, operation, type)                                                  \
  table.add(info<operation, type, false>("ds_" name "_" suffix));                                  \
  table.add(info<operation, type, true>("ds_" name "_rtn_" suffix))
  WAVESIM_DS("add", "u32", add, u32);
  WAVESIM_DS("sub", "u32", sub, u32);
  WAVESIM_DS("rsub", "u32", rsub, u32);
  WAVESIM_DS("inc", "u32", inc, u32);
  WAVESIM_DS("dec", "u32", dec, u32);
  WAVESIM_DS("min", "i32", min, i32);
  WAVESIM_DS("max", "i32", max, i32);
  WAVESIM_DS("min", "u32", min, u32);
  WAVESIM_DS("max", "u32", max, u32);
  WAVESIM_DS("and", "b32", bit_and, u32);
  WAVESIM_DS("or", "b32", bit_or, u32);
  WAVESIM_DS("xor", "b32", bit_xor, u32);
  WAVESIM_DS("mskor", "b32", mask_or, u32);
  WAVESIM_DS("cmpst", "b32", cmpswap, u32);
  WAVESIM_DS("cmpst", "f32", cmpswap, float);
  WAVESIM_DS("min", "f32", min, float);
  WAVESIM_DS("max", "f32", max, float);
  WAVESIM_DS("add", "f32", add, float);
  WAVESIM_DS("pk_add", "f16", add, packed_f16);
  WAVESIM_DS("pk_add", "bf16", add, packed_bf16);
  WAVESIM_DS("add", "u64", add, u64);
  WAVESIM_DS("sub", "u64", sub, u64);
  WAVESIM_DS("rsub", "u64", rsub, u64);
  WAVESIM_DS("inc", "u64", inc, u64);
  WAVESIM_DS("dec", "u64", dec, u64);
  WAVESIM_DS("min", "i64", min, i64);
  WAVESIM_DS("max", "i64", max, i64);
  WAVESIM_DS("min", "u64", min, u64);
  WAVESIM_DS("max", "u64", max, u64);
  WAVESIM_DS("and", "b64", bit_and, u64);
  WAVESIM_DS("or", "b64", bit_or, u64);
  WAVESIM_DS("xor", "b64", bit_xor, u64);
  WAVESIM_DS("mskor", "b64", mask_or, u64);
  WAVESIM_DS("cmpst", "b64", cmpswap, u64);
  WAVESIM_DS("cmpst", "f64", cmpswap, double);
  WAVESIM_DS("min", "f64", min, double);
  WAVESIM_DS("max", "f64", max, double);
  WAVESIM_DS("add", "f64", add, double);
#undef WAVESIM_DS
  table.add(info<swap, u32, true>("ds_wrxchg_rtn_b32"));
  table.add(info<swap, u64, true>("ds_wrxchg_rtn_b64"));
  table.add(info<wrap, u32, true>("ds_wrap_rtn_b32"));
  table.add(info<cond_swap, u64, true>("ds_condxchg32_rtn_b64"));
  table.add(pair_info("ds_wrxchg2_rtn_b32", exchange2<u32, 4>, 4));
  table.add(pair_info("ds_wrxchg2st64_rtn_b32", exchange2<u32, 4 * 64>, 4));
  table.add(pair_info("ds_wrxchg2_rtn_b64", exchange2<u64, 8>, 8));
  table.add(pair_info("ds_wrxchg2st64_rtn_b64", exchange2<u64, 8 * 64>, 8));
  table.add(pair_info("ds_append", count_lanes<true>, 4));
  table.add(pair_info("ds_consume", count_lanes<false>, 4));
}

} // namespace wavesim::WAVESIM_SIMD_NS
