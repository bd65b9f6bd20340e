// `memory`: LDS outside what the workgroup has, misaligned accesses, and global or private memory
// outside allocations. The executor itself finds the last; here they become findings instead of
// stops.
#pragma once

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

namespace wavesim {

struct MemoryFault;
struct LdsRow;

/// What an address must be a multiple of. Wider loads and stores work at any dword; atomics do not.
inline unsigned alignment_of(const OpFacts& facts) {
  return facts.atomic || facts.bytes < 4 ? facts.bytes : 4;
}

/// Bytes of LDS that the kernel declared and the launch added.
std::uint64_t declared_lds(const Workgroup& group);

/// A DS instruction about to run.
void check_lds_memory(const Wave& wave, const Op& op, const OpFacts& facts, const LdsRow* rows);

/// A FLAT instruction about to run: its lanes that go to LDS.
void check_flat_lds(const Wave& wave, const Op& op, const OpFacts& facts);

/// A FLAT, GLOBAL or MUBUF instruction about to run: alignment only.
void check_alignment(const Wave& wave, const Op& op, const OpFacts& facts);

void report_fault(const Wave& wave, const Op& op, const MemoryFault& fault, std::uint64_t mask);

} // namespace wavesim
