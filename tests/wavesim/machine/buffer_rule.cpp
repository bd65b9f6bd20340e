#include "machine/buffer_rule.hpp"

#include "machine/fault.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

namespace wavesim {

namespace {

bool from_environment() {
  const char* text = std::getenv("WAVESIM_BUFFER_SOFFSET");
  const std::string rule = text ? text : "checked";
  if (rule != "checked" && rule != "unchecked")
    stop("WAVESIM_BUFFER_SOFFSET is '" + rule + "'; it must be 'checked' or 'unchecked'");
  return rule == "checked";
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
