#include "checks/session.hpp"

#include "checks/findings.hpp"
#include "checks/group_checks.hpp"
#include "machine/environment.hpp"
#include "machine/fault.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace wavesim {

namespace {

CheckSet read_environment() {
  // A wrong value is refused whether or not it is needed.
  Findings::instance().set_notes(environment_flag("WAVESIM_CHECK_NOTES"));
  const char* list = std::getenv("WAVESIM_CHECK");
  if (!list || !*list)
    return {};
  std::string wrong;
  const auto set = parse_checks(list, wrong);
  if (!set)
    refuse_environment("WAVESIM_CHECK", list, fmt::format("{}, all", fmt::join(check_names, ", ")));
  at_stop = finish_checks;
  return *set;
}

} // namespace

CheckSet enabled_checks() {
  static const CheckSet set = read_environment();
  return set;
}

ObserverFactory* check_observers() {
  static ObserverFactory* factory =
      enabled_checks().in_kernels() ? new CheckFactory(enabled_checks()) : nullptr;
  return factory;
}

int finish_checks(int code) {
  const Findings& findings = Findings::instance();
  const std::string summary = findings.summary();
  if (summary.empty())
    return code;
  std::fflush(stdout);
  fmt::print(stderr, "{}", summary);
  return findings.any_failing() ? findings_exit_code : code;
}

} // namespace wavesim
