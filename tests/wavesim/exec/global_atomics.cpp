// GLOBAL and FLAT read-modify-write instructions. sc0 set: the old value is returned.
#include "exec/flat_access.hpp"
#include "exec/global_families.hpp"
#include "exec/memory_atomics.hpp"
#include "machine/memory_stops.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

/// Denormals are kept in every type: LLVM says so of gfx942's fp32 atomic add too (the ISA manual's
/// audit says they are flushed), and compiled programs rely on LLVM's word.
constexpr Denormals keep_denormals{};

template <Atomic A, class T>
void memory_atomic(Wave& w, const Op& op) {
  constexpr unsigned bytes = sizeof(T);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  const Traffic traffic = op.sc0 ? Traffic::read_write : Traffic::write;
  FlatLanes to;
  if (op.segment == Segment::flat) {
    flat_lanes(w, op, exec, bytes, traffic, "write", to);
  } else {
    global_addresses(w, op, to.at);
    to.global = exec;
    check_lanes(w, op, to.at, exec, bytes, "write");
    count_access(w, op, to.at, exec, bytes, traffic);
  }
  if (to.scratch)
    stop_memory(w, op, "an atomic on private memory is not implemented");
  for_each_lane(to.memory(), [&](unsigned lane) {
    if (to.at.lane[lane] % bytes) [[unlikely]]
      stop_misaligned_atomic(w, op, lane, to.at.lane[lane], bytes);
  });
  AtomicRows rows;
  rows.a = register_row(w, op.data_agpr, op.vdata);
  rows.b = rows.a + bytes / 4 * lanes; // cmpswap: new value in the low registers, compare above
  if (op.sc0)
    rows.result = register_row(w, op.data_agpr, op.dst);
  atomic_lanes<A, T>(to.at.lane, to.memory(), rows, keep_denormals, w.group->concurrent);
}

template <Atomic A, class T>
OpInfo info(const char* name, Unit unit) {
  constexpr bool is_float =
      std::floating_point<T> || std::is_same_v<T, packed_f16> || std::is_same_v<T, packed_bf16>;
  return {.mnemonic = name,
          .handler = memory_atomic<A, T>,
          .unit = unit,
          .dst = sizeof(T) == 4 ? Type::b32 : Type::b64,
          .flags = op_atomic | (is_float ? op_float_atomic : 0u),
          .aux = sizeof(T)};
}

} // namespace

void register_global_atomics(OpTable& table) {
  using enum Atomic;
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  using u64 = std::uint64_t;
  using i64 = std::int64_t;
#define WAVESIM_ATOMIC(name, operation, type)                                                      \
  table.add(info<operation, type>("global_atomic_" name, Unit::vmem));                             \
  table.add(info<operation, type>("flat_atomic_" name, Unit::flat))
  WAVESIM_ATOMIC("swap", swap, u32);
  WAVESIM_ATOMIC("cmpswap", cmpswap, u32);
  WAVESIM_ATOMIC("add", add, u32);
  WAVESIM_ATOMIC("sub", sub, u32);
  WAVESIM_ATOMIC("smin", min, i32);
  WAVESIM_ATOMIC("umin", min, u32);
  WAVESIM_ATOMIC("smax", max, i32);
  WAVESIM_ATOMIC("umax", max, u32);
  WAVESIM_ATOMIC("and", bit_and, u32);
  WAVESIM_ATOMIC("or", bit_or, u32);
  WAVESIM_ATOMIC("xor", bit_xor, u32);
  WAVESIM_ATOMIC("inc", inc, u32);
  WAVESIM_ATOMIC("dec", dec, u32);
  WAVESIM_ATOMIC("add_f32", add, float);
  WAVESIM_ATOMIC("pk_add_f16", add, packed_f16);
  WAVESIM_ATOMIC("pk_add_bf16", add, packed_bf16);
  WAVESIM_ATOMIC("add_f64", add, double);
  WAVESIM_ATOMIC("min_f64", min, double);
  WAVESIM_ATOMIC("max_f64", max, double);
  WAVESIM_ATOMIC("swap_x2", swap, u64);
  WAVESIM_ATOMIC("cmpswap_x2", cmpswap, u64);
  WAVESIM_ATOMIC("add_x2", add, u64);
  WAVESIM_ATOMIC("sub_x2", sub, u64);
  WAVESIM_ATOMIC("smin_x2", min, i64);
  WAVESIM_ATOMIC("umin_x2", min, u64);
  WAVESIM_ATOMIC("smax_x2", max, i64);
  WAVESIM_ATOMIC("umax_x2", max, u64);
  WAVESIM_ATOMIC("and_x2", bit_and, u64);
  WAVESIM_ATOMIC("or_x2", bit_or, u64);
  WAVESIM_ATOMIC("xor_x2", bit_xor, u64);
  WAVESIM_ATOMIC("inc_x2", inc, u64);
  WAVESIM_ATOMIC("dec_x2", dec, u64);
#undef WAVESIM_ATOMIC
}

} // namespace wavesim::WAVESIM_SIMD_NS
