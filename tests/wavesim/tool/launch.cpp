#include "tool/launch.hpp"

#include "checks/check_kind.hpp"
#include "model/static_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace wavesim::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* library = "libamdhip64.so.7";

/// The folder of wavesim's library: beside this tool in the build tree, or where it is installed.
std::string library_folder(std::string& problem) {
  std::error_code error;
  const fs::path tool = fs::read_symlink("/proc/self/exe", error);
  std::string looked;
  for (const char* place : {"../wavesim", "../lib/wavesim"}) {
    const fs::path folder = (tool.parent_path() / place).lexically_normal();
    if (fs::exists(folder / library, error))
      return folder.string();
    looked += fmt::format("{}'{}'", looked.empty() ? "" : " and ", folder.string());
  }
  problem = fmt::format("{} not found; looked in {}", library, looked);
  return "";
}

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

/// Whether there is a program of the name that may be run.
bool can_start(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0)
      return true;
  return false;
}

/// What an earlier run left must not pass for this one's counts. Links stay, and so do pipes and
/// devices.
void remove_earlier(const std::string& json) {
  std::error_code error;
  if (fs::is_regular_file(json, error))
    fs::remove(fs::canonical(json, error), error);
}

} // namespace

std::string prepare(Launch& launch) {
  std::string problem;
  const std::string folder = library_folder(problem);
  if (!problem.empty())
    return problem;
  if (!launch.json.empty()) {
    // The program may change its folder before the library writes.
    std::error_code error;
    const fs::path file = fs::absolute(launch.json, error);
    if (!fs::is_directory(file.parent_path(), error))
      return fmt::format("--json '{}': there is no folder '{}'", launch.json,
                         file.parent_path().string());
    if (fs::is_directory(file, error))
      return fmt::format("--json '{}' is a folder", launch.json);
    set("WAVESIM_JSON", file.string());
  }
  if (launch.counters)
    set("WAVESIM_COUNTERS", "1");
  if (launch.per_dispatch)
    set("WAVESIM_PER_DISPATCH", "1");
  if (!launch.checks.empty()) {
    std::string wrong;
    if (!parse_checks(launch.checks, wrong))
      return fmt::format("--check: there is no check '{}'; allowed are {}", wrong,
                         fmt::join(check_names, ", "));
    set("WAVESIM_CHECK", launch.checks);
  }
  if (launch.lines)
    set("WAVESIM_LINES", "1");
  if (launch.threads != 0)
    set("WAVESIM_THREADS", std::to_string(launch.threads));
  const char* before = std::getenv("LD_LIBRARY_PATH");
  set("LD_LIBRARY_PATH", before && *before ? folder + ":" + before : folder);
  if (!launch.json.empty() && can_start(launch.command.front()))
    remove_earlier(launch.json);
  return "";
}

int execute(const Launch& launch) {
  constexpr int not_executable = 126, not_found = 127;
  std::vector<char*> arguments;
  for (const std::string& word : launch.command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  fmt::print(stderr, "wavesim: cannot run '{}': {}\n", launch.command[0], std::strerror(error));
  if (std::ranges::find(check_names, launch.command[0]) != std::end(check_names))
    fmt::print(stderr, "a check is named behind '=': --check={}\n", launch.command[0]);
  return error == ENOENT ? not_found : not_executable;
}

int report(const Distances& distances) {
  constexpr int unusable = 2;
  std::string problem;
  const std::string folder = library_folder(problem);
  void* wavesim = nullptr;
  if (problem.empty()) {
    wavesim = dlopen((folder + "/" + library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!wavesim)
      problem = dlerror();
  }
  void* entry = wavesim ? dlsym(wavesim, "wavesim_distances") : nullptr;
  if (!entry) {
    fmt::print(stderr, "wavesim: {}\n", problem.empty() ? "the library is too old" : problem);
    return unusable;
  }
  const wavesim_distance_request request{.file = distances.file.c_str(),
                                         .kernel = distances.kernel.c_str(),
                                         .json = distances.json.c_str(),
                                         .every_load = distances.every_load ? 1 : 0,
                                         .least_global = distances.least_global,
                                         .least_lds = distances.least_lds};
  return reinterpret_cast<int (*)(const wavesim_distance_request*)>(entry)(&request);
}

} // namespace wavesim::tool
