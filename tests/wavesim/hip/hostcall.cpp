#include "hip/hostcall.hpp"

#include "hip/device_printf.hpp"
#include "isa/message.hpp"
#include "machine/fault.hpp"
#include "machine/memory_map.hpp"
#include "machine/occupancy.hpp"
#include "machine/wave.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace wavesim::hip {

namespace {

struct Header {
  std::uint64_t next, active;
  std::uint32_t service, control;
};
static_assert(sizeof(Header) == 24);

struct Payload {
  std::uint64_t slots[64][8]; ///< by lane
};

struct Buffer {
  Header* headers;
  Payload* payloads;
  std::uint64_t doorbell; ///< address of a Signal
  std::uint64_t free_stack, ready_stack, index_mask;
};
static_assert(sizeof(Buffer) == 48);

/// The part of amd_signal_t that ockl writes when it rings.
struct Signal {
  std::int64_t kind, value;
  std::uint64_t mailbox;
  std::uint32_t event, unused;
  std::uint64_t rest[4];
};
static_assert(sizeof(Signal) == 64);

enum Service : std::uint32_t { service_call = 1, service_printf = 2, service_memory = 3 };

/// As many packets as waves can be resident: none ever waits for one.
constexpr std::uint64_t packets = 16384;
static_assert(packets >=
              device_limits::compute_units * device_limits::simds * device_limits::simd_waves);
static_assert((packets & (packets - 1)) == 0);
constexpr std::uint32_t ready = 1;

/// A message comes in pieces of up to seven words per lane; the first word of each piece describes
/// it.
class Messages {
public:
  /// Takes a piece; what the lane gets back replaces its first word.
  void take(std::uint64_t* slots, const std::string& place) {
    std::uint64_t& descriptor = slots[0];
    const bool begins = descriptor & 1, ends = descriptor & 2;
    const std::uint64_t words = (descriptor >> 5) & 7;
    if (begins) {
      descriptor = (descriptor & 0xfe) | ++last_ << 8;
      open_[last_].clear();
    }
    const auto it = open_.find(descriptor >> 8);
    if (it == open_.end())
      stop("a kernel continued a message to the host that it had not begun\n" + place);
    it->second.insert(it->second.end(), slots + 1, slots + 1 + words);
    if (!ends)
      return;
    descriptor = static_cast<std::uint64_t>(static_cast<std::int64_t>(print_message(it->second)));
    open_.erase(it);
  }

private:
  std::map<std::uint64_t, std::vector<std::uint64_t>> open_;
  std::uint64_t last_ = 0;
};

/// Whether the process can run code at an address (by the kernel's own list of mappings).
bool is_code_of_the_host(std::uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) == 3 &&
        address >= begin && address < end)
      return rights[2] == 'x';
  }
  return false;
}

struct Hostcall {
  Buffer* buffer = nullptr;
  Header* headers = nullptr; ///< the host's own copies: kernels can write the buffer's
  Payload* payloads = nullptr;
  Messages messages;

  Hostcall() {
    constexpr std::size_t page = 4096;
    constexpr std::size_t head = page; // Buffer, Signal and mailbox
    constexpr std::size_t header_bytes = (packets * sizeof(Header) + page - 1) / page * page;
    constexpr std::size_t bytes = head + header_bytes + packets * sizeof(Payload);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    auto* base = static_cast<std::byte*>(memory);
    buffer = new (base) Buffer;
    auto* signal = new (base + 256) Signal{};
    signal->kind = 1; // a user signal
    signal->mailbox = reinterpret_cast<std::uintptr_t>(base + 512);
    signal->event = 1;
    headers = buffer->headers = reinterpret_cast<Header*>(base + head);
    payloads = buffer->payloads = reinterpret_cast<Payload*>(base + head + header_bytes);
    buffer->doorbell = reinterpret_cast<std::uintptr_t>(signal);
    buffer->index_mask = packets - 1;
    // A pointer is an index with a tag above it, so that 0 means none.
    buffer->free_stack = packets;
    for (std::uint64_t i = 0; i + 1 < packets; ++i)
      headers[i].next = packets + i + 1;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    MemoryMap::instance().add({begin, begin + bytes, RangeKind::host, 0, 0});
  }

  /// Kernels that send messages run on one thread, so nothing changes meanwhile.
  void serve(const Wave& wave, const Op& op) {
    std::uint64_t pointer = buffer->ready_stack;
    buffer->ready_stack = 0;
    for (std::uint64_t served = 0; pointer != 0; ++served) {
      if (served == packets)
        stop(wave, op, "the list of messages to the host has no end: the kernel overwrote it");
      Header& header = headers[pointer % packets];
      Payload& payload = payloads[pointer % packets];
      pointer = header.next;
      for (unsigned lane = 0; lane < lanes; ++lane)
        if (header.active >> lane & 1)
          serve_lane(header.service, payload.slots[lane], wave, op);
      header.control &= ~ready;
    }
  }

  void serve_lane(std::uint32_t service, std::uint64_t* slots, const Wave& wave, const Op& op) {
    switch (service) {
    case service_printf:
      messages.take(slots, describe(wave, op.pc));
      return;
    case service_call: {
      using Function = void (*)(std::uint64_t*, const std::uint64_t*);
      if (!is_code_of_the_host(slots[0]))
        stop(wave, op,
             fmt::format("the kernel calls the host at {:#x}, where no function is", slots[0]));
      std::uint64_t result[2] = {0, 0};
      reinterpret_cast<Function>(slots[0])(result, slots + 1);
      slots[0] = result[0];
      slots[1] = result[1];
      return;
    }
    case service_memory:
      stop(wave, op, "malloc and free inside kernels are not supported");
    default:
      stop(wave, op,
           fmt::format("the kernel asks the host for service {}, which is unknown", service));
    }
  }
};

Hostcall& hostcall() {
  static auto* one = new Hostcall;
  return *one;
}

void on_message(Wave& wave, const Op& op, std::uint32_t message) {
  if ((message & 0xf) == message_interrupt)
    hostcall().serve(wave, op);
}

} // namespace

std::uint64_t hostcall_buffer() {
  message_hook = on_message;
  return reinterpret_cast<std::uintptr_t>(hostcall().buffer);
}

} // namespace wavesim::hip
