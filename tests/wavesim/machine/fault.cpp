#include "machine/fault.hpp"

#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/freed_ranges.hpp"
#include "machine/memory_map.hpp"
#include "machine/wave.hpp"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <mutex>

namespace wavesim {

int (*at_stop)(int code) = nullptr;

namespace {

[[noreturn]] void end_process(const std::string& text) {
  // The first stop wins: other workers wait here until the process is gone.
  static std::mutex once;
  once.lock();
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  std::_Exit(at_stop ? at_stop(stop_exit_code) : stop_exit_code);
}

const char* kind_name(RangeKind kind) {
  switch (kind) {
  case RangeKind::device:
    return "device allocation";
  case RangeKind::host:
    return "host allocation";
  case RangeKind::managed:
    return "managed allocation";
  case RangeKind::code:
    return "code of a code object";
  case RangeKind::kernarg:
    return "kernel arguments";
  case RangeKind::global_variable:
    return "device variables of a code object";
  }
  return "memory";
}

std::string range_text(const Range& r) {
  return fmt::format("{} #{} ({} bytes at {:#x})", kind_name(r.kind), r.serial, r.end - r.begin,
                     r.begin);
}

/// What lies at or nearest to an address: the sentence a person needs to find the wild pointer.
std::string surroundings(const MemorySnapshot& memory, std::uint64_t address) {
  const Range* below = nullptr;
  const Range* above = nullptr;
  for (const Range& r : memory.ranges()) {
    if (r.begin > address) {
      above = &r;
      break;
    }
    below = &r;
  }
  if (below && address < below->end)
    return fmt::format("it starts {} bytes before the end of {}", below->end - address,
                       range_text(*below));
  if (const auto gone = find_freed(address))
    return fmt::format("it lies {} bytes into {}, which has been freed", address - gone->begin,
                       range_text(*gone));
  // Further away than this, the neighbour is a coincidence.
  constexpr std::uint64_t near = 1 << 20;
  if (below && address - below->end < near &&
      !(above && above->begin - address < address - below->end))
    return fmt::format("{} bytes past the end of {}", address - below->end, range_text(*below));
  if (above && above->begin - address < near)
    return fmt::format("{} bytes before {}", above->begin - address, range_text(*above));
  if (address < 4096)
    return "a null pointer";
  return "no memory the device can see is near: is it a pointer of the host, or freed?";
}

} // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (!text)
    return name;
  std::string result(text);
  std::free(text);
  return result;
}

std::string describe(const Wave& wave, std::uint64_t pc) {
  const Workgroup* group = wave.group;
  const Dispatch* dispatch = group ? group->dispatch : nullptr;
  const Kernel* kernel = dispatch ? dispatch->kernel : nullptr;
  std::string text;
  if (kernel)
    text += fmt::format("  kernel      {}\n", demangled(kernel->name));
  if (group)
    text +=
        fmt::format("  workgroup   ({}, {}, {}) of ({}, {}, {}), wave {}\n", group->id[0],
                    group->id[1], group->id[2], dispatch ? dispatch->grid[0] : 0,
                    dispatch ? dispatch->grid[1] : 0, dispatch ? dispatch->grid[2] : 0, wave.index);
  text += fmt::format("  EXEC        {:#018x}\n", wave.exec());
  const CodeObject* object = kernel ? kernel->object : nullptr;
  if (!object)
    return text;
  const std::string function = object->function_name(pc);
  text += fmt::format("  instruction {} (text+{:#x}{}{})\n", object->text(pc),
                      pc - object->text_begin(), function.empty() ? "" : " in ", function);
  const std::string line = object->source_line(pc);
  if (!line.empty())
    text += fmt::format("  source      {}\n", line);
  return text;
}

void stop(const Wave& wave, std::uint64_t pc, const std::string& why) {
  end_process(fmt::format("wavesim: stop: {}\n{}", why, describe(wave, pc)));
}

void stop(const Wave& wave, const Op& op, const char* why) {
  stop(wave, op, std::string(why));
}

void stop(const Wave& wave, const Op& op, const char* why, std::uint64_t number) {
  std::string text(why);
  if (const auto at = text.find("{}"); at != std::string::npos)
    text.replace(at, 2, std::to_string(number));
  stop(wave, op, text);
}

void stop(const Wave& wave, const Op& op, const std::string& why) {
  stop(wave, op.pc, why);
}

void stop(const std::string& why) {
  end_process(fmt::format("wavesim: stop: {}\n", why));
}

void memory_fault(const Wave& wave, const Op& op, unsigned lane, std::uint64_t address,
                  unsigned bytes, const char* what) {
  const Dispatch* dispatch = wave.group ? wave.group->dispatch : nullptr;
  std::string where;
  if (dispatch && dispatch->memory)
    where = surroundings(*dispatch->memory, address);
  if (wave.group && wave.group->throws_faults)
    throw MemoryFault{lane, address, bytes, what, where};
  std::string why = fmt::format("memory fault: lane {} {}s {} bytes at address {:#x}", lane, what,
                                bytes, address);
  if (!where.empty())
    why += "; " + where;
  stop(wave, op, why);
}

} // namespace wavesim
