#include "machine/start_wave.hpp"

#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"

#include <algorithm>

namespace wavesim {

namespace {

// Bits of kernel_code_properties, in the order their SGPRs are given out.
enum Property : std::uint16_t {
  private_segment_buffer = 1u << 0,
  dispatch_ptr = 1u << 1,
  queue_ptr = 1u << 2,
  kernarg_ptr = 1u << 3,
  dispatch_id = 1u << 4,
  flat_scratch_init = 1u << 5,
  private_segment_size = 1u << 6,
};

constexpr unsigned bits(std::uint32_t word, unsigned low, unsigned count) {
  return (word >> low) & ((1u << count) - 1u);
}

void fill_rows(std::uint32_t (*rows)[lanes], unsigned count) {
  std::fill_n(&rows[0][0], std::size_t{count} * lanes, poison);
}

class ScalarWriter {
public:
  explicit ScalarWriter(Wave& wave) : wave_(wave) {}
  void put(std::uint32_t x) {
    if (next_ < code_flat_scratch)
      wave_.s[next_++] = x;
  }
  void put64(std::uint64_t x) {
    put(static_cast<std::uint32_t>(x));
    put(static_cast<std::uint32_t>(x >> 32));
  }
  void move_to(unsigned code) { next_ = code; }

private:
  Wave& wave_;
  unsigned next_ = 0;
};

void user_scalars(ScalarWriter& out, const Dispatch& dispatch, const Wave& wave) {
  const Kernel& kernel = *dispatch.kernel;
  const auto has = [&](Property p) { return (kernel.properties & p) != 0; };
  if (has(private_segment_buffer)) // unused with architected flat scratch, but it takes its place
    out.put64(0), out.put64(0);
  if (has(dispatch_ptr))
    out.put64(dispatch.packet);
  if (has(queue_ptr))
    out.put64(dispatch.queue);
  if (has(kernarg_ptr))
    out.put64(reinterpret_cast<std::uintptr_t>(dispatch.kernarg));
  if (has(dispatch_id))
    out.put64(dispatch.serial);
  if (has(flat_scratch_init))
    out.put64(0);
  if (has(private_segment_size))
    out.put(wave.scratch_bytes);
  const unsigned preload_count = bits(kernel.kernarg_preload, 0, 7);
  const unsigned preload_offset = bits(kernel.kernarg_preload, 7, 9);
  for (unsigned i = 0; i < preload_count; ++i) {
    std::uint32_t word = 0;
    const std::size_t at = 4 * std::size_t{preload_offset + i};
    if (dispatch.kernarg && at + 4 <= kernel.kernarg_bytes)
      std::memcpy(&word, dispatch.kernarg + at, 4);
    out.put(word);
  }
}

void system_scalars(ScalarWriter& out, const Kernel& kernel, const Workgroup& group) {
  out.move_to(bits(kernel.rsrc2, 1, 5));
  for (unsigned axis = 0; axis < 3; ++axis)
    if (bits(kernel.rsrc2, 7 + axis, 1))
      out.put(group.id[axis]);
  if (bits(kernel.rsrc2, 10, 1)) // workgroup info: number of waves
    out.put(group.wave_count);
}

/// VGPR0 packs x[9:0], y[19:10], z[29:20]; axes the kernel did not ask for read as zero.
void work_item_ids(Wave& wave, const Kernel& kernel, const std::uint32_t block[3]) {
  const unsigned axes = bits(kernel.rsrc2, 11, 2);
  const std::uint32_t threads = block[0] * block[1] * block[2]; // at most 1024
  const std::uint32_t first = std::uint32_t{wave.index} * lanes;
  const std::uint32_t count = first < threads ? std::min(threads - first, lanes) : 0;
  wave.live = count == lanes ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  std::uint32_t x = first % block[0], y = first / block[0] % block[1],
                z = first / (block[0] * block[1]);
  const std::uint32_t y_mask = axes >= 1 ? ~0u : 0u, z_mask = axes >= 2 ? ~0u : 0u;
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    wave.v[0][lane] = x | (y << 10 & y_mask) | (z << 20 & z_mask);
    if (++x == block[0]) {
      x = 0;
      if (++y == block[1]) {
        y = 0;
        ++z;
      }
    }
  }
}

} // namespace

void start_wave(Wave& wave, Workgroup& group, unsigned index, unsigned& used_vgprs,
                unsigned& used_agprs) {
  const Dispatch& dispatch = *group.dispatch;
  const Kernel& kernel = *dispatch.kernel;

  // Only what this kernel or the one before it could have written needs to be set.
  const unsigned vgprs = std::clamp(kernel.vgprs, 1u, 256u);
  const unsigned agprs = std::min(kernel.agprs, 256u);
  fill_rows(wave.v, std::max(vgprs, used_vgprs));
  fill_rows(wave.a, std::max(agprs, used_agprs));
  used_vgprs = vgprs;
  used_agprs = agprs;
  std::fill(std::begin(wave.s), std::end(wave.s), poison);
  wave.set_s64(code_flat_scratch, std::uint64_t{Dispatch::private_aperture} << 32);
  wave.set_s64(code_xnack_mask, 0);
  for (unsigned i = code_ttmp0; i < code_m0; ++i)
    wave.s[i] = 0;

  wave.pc = kernel.entry;
  wave.scc = 0;
  // MODE takes FLOAT_MODE, DX10_CLAMP, IEEE and FP16_OVFL from rsrc1.
  wave.mode = bits(kernel.rsrc1, 12, 8) | bits(kernel.rsrc1, 21, 1) << 8 |
              bits(kernel.rsrc1, 23, 1) << 9 | bits(kernel.rsrc1, 26, 1) << 23;
  wave.status = WaveStatus::running;
  wave.index = static_cast<std::uint8_t>(index);
  wave.retired = 0;
  wave.gpr_index = 0;
  wave.group = &group;

  ScalarWriter scalars(wave);
  user_scalars(scalars, dispatch, wave);
  system_scalars(scalars, kernel, group);
  work_item_ids(wave, kernel, dispatch.block);
  wave.set_exec(wave.live);
}

} // namespace wavesim
