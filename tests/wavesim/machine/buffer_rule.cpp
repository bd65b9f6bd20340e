#include "machine/buffer_rule.hpp"

#include "machine/environment.hpp"

#include <atomic>

namespace wavesim {

namespace {

bool from_environment() {
  return environment_word("WAVESIM_BUFFER_SOFFSET", {"checked", "unchecked"}).value_or(0) == 0;
}

std::atomic<bool>& rule() {
  static std::atomic<bool> checked{from_environment()};
  return checked;
}

} // namespace

bool buffer_soffset_checked() {
  return rule().load(std::memory_order_relaxed);
}

void set_buffer_soffset_checked(bool checked) {
  rule().store(checked, std::memory_order_relaxed);
}

} // namespace wavesim
