// Scalar memory: loads, stores, buffer loads and the clocks.
#include "exec/scalar_op.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"
#include "machine/memory_map.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Scalar accesses are dword aligned: the hardware drops the two lowest address bits.
constexpr std::uint64_t dword_aligned(std::uint64_t address) {
  return address & ~std::uint64_t{3};
}

std::uint64_t offset_of(const Wave& w, const Op& op) {
  const std::uint64_t immediate = static_cast<std::uint64_t>(std::int64_t{op.offset});
  return immediate + (op.soffset.kind == Source::Kind::none ? 0 : scalar32(w, op.soffset));
}

void check(Wave& w, const Op& op, std::uint64_t address, unsigned bytes, const char* what) {
  const MemorySnapshot* memory = w.group->dispatch->memory.get();
  const Range* range = memory ? memory->find(address) : nullptr;
  if (!range || !range->contains(address, bytes))
    memory_fault(w, op, 0, address, bytes, what);
}

void check_registers(Wave& w, const Op& op, unsigned count) {
  if (op.dst + count > 128)
    stop(w, op, "scalar registers past the end of the file");
}

template <unsigned Dwords>
void load(Wave& w, const Op& op) {
  const std::uint64_t address = dword_aligned(w.s64(op.saddr) + offset_of(w, op));
  check(w, op, address, 4 * Dwords, "read");
  check_registers(w, op, Dwords);
  std::memcpy(&w.s[op.dst], reinterpret_cast<const void*>(address), 4 * Dwords);
}

template <unsigned Dwords>
void store(Wave& w, const Op& op) {
  const std::uint64_t address = dword_aligned(w.s64(op.saddr) + offset_of(w, op));
  check(w, op, address, 4 * Dwords, "write");
  check_registers(w, op, Dwords);
  std::memcpy(reinterpret_cast<void*>(address), &w.s[op.dst], 4 * Dwords);
}

/// Through a buffer resource: each dword past the end reads as zero.
template <unsigned Dwords>
void buffer_load(Wave& w, const Op& op) {
  const std::uint32_t* resource = &w.s[op.saddr];
  const std::uint64_t base = resource[0] | std::uint64_t{resource[1] & 0xffff} << 32;
  const std::uint64_t stride = resource[1] >> 16 & 0x3fff;
  const std::uint64_t bytes = stride ? stride * resource[2] : resource[2];
  const std::uint64_t offset = dword_aligned(static_cast<std::uint32_t>(offset_of(w, op)));
  check_registers(w, op, Dwords);
  std::uint32_t values[Dwords] = {};
  for (unsigned i = 0; i < Dwords; ++i) {
    const std::uint64_t at = offset + 4 * i;
    if (at + 4 > bytes)
      continue;
    const std::uint64_t address = dword_aligned(base) + at;
    check(w, op, address, 4, "read");
    std::memcpy(&values[i], reinterpret_cast<const void*>(address), 4);
  }
  std::memcpy(&w.s[op.dst], values, sizeof values);
}

// The clocks run on instructions: four core clocks each (one VALU issue), at 2.1 GHz; the real-time
// clock counts at 100 MHz.
constexpr std::uint64_t clocks_per_instruction = 4, core_clocks_per_tick = 21;

void core_clock(Wave& w, const Op& op) {
  w.set_s64(op.dst, w.retired * clocks_per_instruction);
}
void real_time_clock(Wave& w, const Op& op) {
  w.set_s64(op.dst, w.retired * clocks_per_instruction / core_clocks_per_tick);
}

OpInfo memory_op(const char* mnemonic, Handler handler, Type type, std::uint32_t flags) {
  return scalar_op(mnemonic, handler, Unit::smem, flags, type);
}

} // namespace

void register_smem(OpTable& t) {
  t.add(memory_op("s_load_dword", load<1>, Type::b32, op_load));
  t.add(memory_op("s_load_dwordx2", load<2>, Type::b64, op_load));
  t.add(memory_op("s_load_dwordx4", load<4>, Type::b128, op_load));
  t.add(memory_op("s_load_dwordx8", load<8>, Type::b256, op_load));
  t.add(memory_op("s_load_dwordx16", load<16>, Type::b512, op_load));
  t.add(memory_op("s_store_dword", store<1>, Type::b32, op_store));
  t.add(memory_op("s_store_dwordx2", store<2>, Type::b64, op_store));
  t.add(memory_op("s_store_dwordx4", store<4>, Type::b128, op_store));
  t.add(memory_op("s_buffer_load_dword", buffer_load<1>, Type::b32, op_load));
  t.add(memory_op("s_buffer_load_dwordx2", buffer_load<2>, Type::b64, op_load));
  t.add(memory_op("s_buffer_load_dwordx4", buffer_load<4>, Type::b128, op_load));
  t.add(memory_op("s_buffer_load_dwordx8", buffer_load<8>, Type::b256, op_load));
  t.add(memory_op("s_buffer_load_dwordx16", buffer_load<16>, Type::b512, op_load));
  t.add(memory_op("s_memtime", core_clock, Type::b64, 0));
  t.add(memory_op("s_memrealtime", real_time_clock, Type::b64, 0));
  // One coherent memory: nothing to write back or to invalidate.
  for (const char* mnemonic :
       {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol", "s_dcache_discard",
        "s_dcache_discard_x2", "s_atc_probe", "s_atc_probe_buffer"})
    t.add(memory_op(
        mnemonic, [](Wave&, const Op&) {}, Type::none, 0));
}

} // namespace wavesim::WAVESIM_SIMD_NS
