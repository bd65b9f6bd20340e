#include "hip/runtime.hpp"

#include "checks/findings.hpp"
#include "checks/session.hpp"
#include "counters/session.hpp"
#include "hip/entry.hpp"
#include "isa/op_table.hpp"
#include "machine/buffer_rule.hpp"
#include "machine/environment.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <sys/sysinfo.h>
#include <thread>
#include <unistd.h>

namespace wavesim::hip {

namespace {

/// Memory of the machine, or of the container this runs in.
std::uint64_t host_memory() {
  struct sysinfo host = {};
  sysinfo(&host);
  std::uint64_t bytes = std::uint64_t{host.totalram} * host.mem_unit;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(path) >> limit && limit != 0)
      bytes = std::min(bytes, limit);
  }
  return bytes;
}

Settings read_settings() {
  Settings s;
  // A device is one ordinal; all share the executor. A system with hundreds is a typing error.
  constexpr std::uint64_t most_devices = 64;
  s.devices = static_cast<int>(environment_number("WAVESIM_DEVICES", 0, most_devices).value_or(1));
  for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
    if (const char* list = std::getenv(variable))
      s.devices = visible_devices(list, s.devices);
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, most_threads);
  s.threads =
      static_cast<unsigned>(environment_number("WAVESIM_THREADS", 1, most_threads).value_or(cores));
  // An MI300X has 192 GiB; half of what the host has is what we may take.
  constexpr std::uint64_t mi300x = std::uint64_t{192} << 30;
  constexpr std::uint64_t least_memory = std::uint64_t{1} << 20,
                          most_memory = std::uint64_t{1} << 44;
  s.memory = environment_number("WAVESIM_MEMORY", least_memory, most_memory, "bytes")
                 .value_or(std::min(host_memory() / 2, mi300x));
  s.hang_instructions = environment_number("WAVESIM_HANG_INSTRUCTIONS", 1, UINT64_MAX)
                            .value_or(RunOptions().hang_instructions);
  // What is needed only later is refused now, too.
  simd_level();
  buffer_soffset_checked();
  session();
  enabled_checks();
  return s;
}

/// Counters are reported when the process ends, after the program's own exit handlers; not by a
/// child that fork() made of it.
const pid_t process = getpid();

__attribute__((destructor)) void report_counters() {
  if (getpid() != process)
    return;
  const int code = finish_checks(session().finish() ? 0 : unwritten_exit_code);
  // An exit handler cannot change the exit code but by ending the process itself.
  if (code != 0) {
    std::fflush(nullptr);
    _exit(code);
  }
}

} // namespace

int visible_devices(const char* list, int present) {
  int count = 0;
  std::string_view rest(list);
  while (!rest.empty() && count < present) {
    const auto comma = rest.find(',');
    const std::string entry(rest.substr(0, comma));
    char* end = nullptr;
    const long ordinal = std::strtol(entry.c_str(), &end, 10);
    if (end == entry.c_str() || *end != '\0' || ordinal < 0 || ordinal >= present)
      break;
    ++count;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return count;
}

const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

std::uint64_t device_memory_bytes() {
  return settings().memory / static_cast<std::uint64_t>(std::max(settings().devices, 1)) / 4096 *
         4096;
}

std::mutex& execution_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

bool valid_device(int device) {
  return device >= 0 && device < settings().devices;
}

void note(const std::string& text) {
  std::fprintf(stderr, "wavesim: %s\n", text.c_str());
}

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

ThreadState::~ThreadState() = default;

hipError_t record(hipError_t result) {
  ThreadState& state = thread_state();
  state.last_result = result;
  if (result != hipSuccess && result != hipErrorNotReady)
    state.last_error = result;
  return result;
}

hipError_t need_device() {
  return settings().devices > 0 ? hipSuccess : hipErrorNoDevice;
}

} // namespace wavesim::hip
