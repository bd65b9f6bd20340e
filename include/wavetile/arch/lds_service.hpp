/// \file
/// How LDS serves one instruction of a wave.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile {

/// How well a hardware fact is known.
enum class evidence : uint8_t {
  measured, ///< published measurements or counters of this architecture show it
  derived,  ///< documented by the vendor, or follows by arithmetic from what is
  assumed   ///< by analogy with another instruction or architecture
};

constexpr const char* name_of(evidence tag) {
  constexpr const char* names[] = {"measured", "derived", "assumed"};
  return names[static_cast<int>(tag)];
}

/// LDS instructions by direction and bytes a lane moves to or from one address. `read2` and
/// `write2` move two elements at two addresses (ds_read2_b32, ds_write2st64_b64, …).
enum class lds_op : uint8_t {
  read_b8,
  read_b16,
  read_b32,
  read_b64,
  read_b96,
  read_b128,
  read2_b32,
  read2_b64,
  write_b8,
  write_b16,
  write_b32,
  write_b64,
  write_b96,
  write_b128,
  write2_b32,
  write2_b64,
};
inline constexpr int lds_op_count = 16;

constexpr bool is_read(lds_op op) {
  return op < lds_op::write_b8;
}

/// Addresses per lane: 2 for the read2 and write2 forms, else 1.
constexpr int addresses_of(lds_op op) {
  return static_cast<int>(op) % 8 >= 6 ? 2 : 1;
}

/// Bytes per lane at each address.
constexpr int bytes_of(lds_op op) {
  constexpr uint8_t bytes[] = {1, 2, 4, 8, 12, 16, 4, 8};
  return bytes[static_cast<int>(op) % 8];
}

/// Mnemonic on gfx9; sub-dword reads have several ("ds_read_u8", …_i8, …_d16) and name one.
constexpr const char* name_of(lds_op op) {
  constexpr const char* names[] = {
      "ds_read_u8",   "ds_read_u16",   "ds_read_b32",   "ds_read_b64",
      "ds_read_b96",  "ds_read_b128",  "ds_read2_b32",  "ds_read2_b64",
      "ds_write_b8",  "ds_write_b16",  "ds_write_b32",  "ds_write_b64",
      "ds_write_b96", "ds_write_b128", "ds_write2_b32", "ds_write2_b64"};
  return names[static_cast<int>(op)];
}

namespace detail {

/// Not `constexpr`: what is evaluated at compile time ends here with an error that shows the name,
/// a host program that comes here ends.
WAVETILE_HD inline void no_lds_instruction_moves_so_many_bytes() {
#if !WAVETILE_DEVICE_PASS
  __builtin_trap();
#endif
}

} // namespace detail

/// The one-address read or write that moves `bytes` (1, 2, 4, 8, 12 or 16; others do not compile)
/// per lane.
constexpr lds_op read_of(int bytes) {
  switch (bytes) {
  case 1:
    return lds_op::read_b8;
  case 2:
    return lds_op::read_b16;
  case 4:
    return lds_op::read_b32;
  case 8:
    return lds_op::read_b64;
  case 12:
    return lds_op::read_b96;
  case 16:
    break;
  default:
    detail::no_lds_instruction_moves_so_many_bytes();
  }
  return lds_op::read_b128;
}
constexpr lds_op write_of(int bytes) {
  return static_cast<lds_op>(static_cast<int>(read_of(bytes)) + 8);
}

/// The two-address read or write that moves `bytes` (4 or 8; others do not compile) per lane and
/// address.
constexpr lds_op read2_of(int bytes) {
  if (bytes != 4 && bytes != 8)
    detail::no_lds_instruction_moves_so_many_bytes();
  return bytes == 4 ? lds_op::read2_b32 : lds_op::read2_b64;
}
constexpr lds_op write2_of(int bytes) {
  return static_cast<lds_op>(static_cast<int>(read2_of(bytes)) + 8);
}

/// How the lanes of a wave are served for one address of one instruction: in `phases` groups, one
/// after the other. A phase takes as many clocks as the largest number of different dwords that
/// fall in one bank, at least one; lanes that ask for the same dword are served together.
/// Two-address instructions are served as two such sequences.
struct lds_service {
  int phases;        ///< 0: not known
  int banks;         ///< banks of one dword; bank = (byte address / 4) mod banks
  evidence tag;      ///< of the lane groups
  uint64_t lanes[8]; ///< lane mask of each phase
};

namespace detail {

/// `phases` runs of consecutive lanes that cover a wave.
constexpr lds_service consecutive_lanes(int phases, int banks, evidence tag, int lanes = 64) {
  lds_service service{phases, banks, tag, {}};
  const int run = lanes / phases;
  for (int phase = 0; phase < phases; ++phase)
    service.lanes[phase] = ((uint64_t{1} << run) - 1) << (run * phase);
  return service;
}

/// {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27} and the same 32 lanes on.
constexpr lds_service crossed_lanes(int banks, evidence tag) {
  lds_service service{8, banks, tag, {}};
  constexpr uint64_t group[] = {0x00F0000Full, 0x000F00F0ull, 0xF0000F00ull, 0x0F00F000ull};
  for (int phase = 0; phase < 8; ++phase)
    service.lanes[phase] = group[phase % 4] << (phase < 4 ? 0 : 32);
  return service;
}

} // namespace detail

} // namespace wavetile
