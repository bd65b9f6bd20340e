// MUBUF read-modify-write instructions. sc0 set: the old value replaces the data register.
#include "exec/buffer_access.hpp"
#include "exec/buffer_families.hpp"
#include "exec/memory_atomics.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

namespace {

template <Atomic A, class T>
void buffer_atomic(Wave& w, const Op& op) {
  constexpr unsigned bytes = sizeof(T);
  const std::uint64_t exec = w.exec();
  if (!exec)
    return;
  BufferLanes to;
  buffer_lanes(w, op, exec, 1, bytes, to);
  const std::uint64_t inside = to.inside[0];
  admit_buffer_lanes(w, op, to, 1, bytes, op.sc0 ? Traffic::read_write : Traffic::write, "write");
  for_each_lane(inside, [&](unsigned lane) {
    if (to.at.lane[lane] % bytes) [[unlikely]]
      stop_misaligned_atomic(w, op, lane, to.at.lane[lane], bytes);
  });
  std::uint32_t* data = register_row(w, op.data_agpr, op.vdata);
  AtomicRows rows;
  rows.a = data;
  rows.b = data + bytes / 4 * lanes; // cmpswap: new value in the low registers, compare above
  if (op.sc0)
    rows.result = data;
  atomic_lanes<A, T>(to.at.lane, inside, rows, Denormals{}, w.group->concurrent);
  if (op.sc0)
    for_each_lane(exec & ~inside, [&](unsigned lane) {
      for (unsigned d = 0; d < bytes / 4; ++d)
        data[d * lanes + lane] = 0;
    });
}

template <Atomic A, class T>
OpInfo info(const char* name) {
  constexpr bool is_float = std::floating_point<T> || std::is_same_v<T, packed_f16>;
  return {.mnemonic = name,
          .handler = buffer_atomic<A, T>,
          .unit = Unit::vmem,
          .dst = sizeof(T) == 4 ? Type::b32 : Type::b64,
          .flags = op_atomic | (is_float ? op_float_atomic : 0u),
          .aux = sizeof(T)};
}

} // namespace

void register_buffer_atomics(OpTable& table) {
  using enum Atomic;
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  using u64 = std::uint64_t;
  using i64 = std::int64_t;
  table.add(info<swap, u32>("buffer_atomic_swap"));
  table.add(info<cmpswap, u32>("buffer_atomic_cmpswap"));
  table.add(info<add, u32>("buffer_atomic_add"));
  table.add(info<sub, u32>("buffer_atomic_sub"));
  table.add(info<min, i32>("buffer_atomic_smin"));
  table.add(info<min, u32>("buffer_atomic_umin"));
  table.add(info<max, i32>("buffer_atomic_smax"));
  table.add(info<max, u32>("buffer_atomic_umax"));
  table.add(info<bit_and, u32>("buffer_atomic_and"));
  table.add(info<bit_or, u32>("buffer_atomic_or"));
  table.add(info<bit_xor, u32>("buffer_atomic_xor"));
  table.add(info<inc, u32>("buffer_atomic_inc"));
  table.add(info<dec, u32>("buffer_atomic_dec"));
  table.add(info<add, float>("buffer_atomic_add_f32"));
  table.add(info<add, packed_f16>("buffer_atomic_pk_add_f16"));
  table.add(info<add, double>("buffer_atomic_add_f64"));
  table.add(info<min, double>("buffer_atomic_min_f64"));
  table.add(info<max, double>("buffer_atomic_max_f64"));
  table.add(info<swap, u64>("buffer_atomic_swap_x2"));
  table.add(info<cmpswap, u64>("buffer_atomic_cmpswap_x2"));
  table.add(info<add, u64>("buffer_atomic_add_x2"));
  table.add(info<sub, u64>("buffer_atomic_sub_x2"));
  table.add(info<min, i64>("buffer_atomic_smin_x2"));
  table.add(info<min, u64>("buffer_atomic_umin_x2"));
  table.add(info<max, i64>("buffer_atomic_smax_x2"));
  table.add(info<max, u64>("buffer_atomic_umax_x2"));
  table.add(info<bit_and, u64>("buffer_atomic_and_x2"));
  table.add(info<bit_or, u64>("buffer_atomic_or_x2"));
  table.add(info<bit_xor, u64>("buffer_atomic_xor_x2"));
  table.add(info<inc, u64>("buffer_atomic_inc_x2"));
  table.add(info<dec, u64>("buffer_atomic_dec_x2"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
