#include "counters/session.hpp"

#include "counters/tally.hpp"
#include "machine/environment.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace wavesim {

namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The file that WAVESIM_JSON names, refused where it cannot be written; absolute, since the
/// program may change its folder.
std::string json_file() {
  namespace fs = std::filesystem;
  const std::string text = variable("WAVESIM_JSON");
  if (text.empty())
    return "";
  std::error_code error;
  const fs::path file = fs::absolute(text, error);
  if (!fs::is_directory(file.parent_path(), error) || fs::is_directory(file, error))
    refuse_environment("WAVESIM_JSON", text, "a file in a folder that exists");
  return file.string();
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return !out.fail();
}

} // namespace

Session& session() {
  static auto* only = new Session;
  return *only;
}

Session::Session()
    : print_(environment_flag("WAVESIM_COUNTERS")), options_{.dispatches = environment_flag(
                                                                 "WAVESIM_PER_DISPATCH"),
                                                             .model = true,
                                                             .lines =
                                                                 environment_flag("WAVESIM_LINES")},
      json_(json_file()) {}

bool Session::counting() const {
  const std::lock_guard lock(mutex_);
  return print_ || !json_.empty() || window_open_;
}

void Session::add(const Dispatch& dispatch, const Tally& tally) {
  const std::lock_guard lock(mutex_);
  if (print_ || !json_.empty())
    whole_.add(dispatch, tally, options_);
  if (window_open_)
    window_.add(dispatch, tally, {});
}

bool Session::finish() {
  const std::lock_guard lock(mutex_);
  // A helper process that launches nothing must not overwrite what its parent or child has to say.
  std::error_code ignored;
  const bool silent = whole_.kernels().empty() && std::filesystem::exists(json_, ignored);
  const bool written = json_.empty() || silent || write_file(json_, to_json(whole_));
  if (!written)
    fmt::print(stderr, "wavesim: cannot write the counters to '{}': {}\n", json_,
               std::strerror(errno));
  if (print_) {
    std::fflush(stdout); // the table follows what the program printed
    fmt::print(stderr, "{}", to_text(whole_));
  }
  return written;
}

int Session::begin() {
  const std::lock_guard lock(mutex_);
  if (window_open_)
    return -1;
  window_.clear();
  window_open_ = true;
  return 0;
}

int Session::end(wavesim_counts* counts) {
  const std::lock_guard lock(mutex_);
  if (!window_open_ || (counts && counts->size != sizeof(wavesim_counts)))
    return -1;
  window_open_ = false;
  if (counts) {
    *counts = window_.total().total;
    counts->size = sizeof(wavesim_counts);
  }
  return 0;
}

std::size_t Session::instructions(wavesim_instruction* out, std::size_t capacity) const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [mangled, kernel] : window_.kernels())
    for (const auto& [offset, code] : kernel.code) {
      if (count < capacity)
        out[count] = {.kernel = kernel.name.c_str(),
                      .mnemonic = code.mnemonic.c_str(),
                      .offset = offset,
                      .executions = code.tally.executions,
                      .lanes = code.tally.lanes,
                      .lds_clocks = code.tally.lds_clocks,
                      .lds_conflicts = code.tally.lds_conflicts,
                      .bytes_read = code.tally.bytes_read,
                      .bytes_written = code.tally.bytes_written,
                      .scratch_bytes_read = code.tally.scratch_bytes_read,
                      .scratch_bytes_written = code.tally.scratch_bytes_written,
                      .tcp_accesses = code.tally.tcp_accesses};
      ++count;
    }
  return count;
}

} // namespace wavesim
