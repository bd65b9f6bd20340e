// `wavesim -- PROGRAM ARGS…`: starts a HIP program with wavesim's libamdhip64.so.7 in front of any
// other. Everything the library is asked to do travels in environment variables, so a program may
// also be started without this tool.
#include "checks/check_kind.hpp"
#include "counters/rules.hpp"
#include "machine/environment.hpp"
#include "model/parameters.hpp"
#include "tool/launch.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* description = "Runs a HIP program with gfx942 code objects on the CPU.\n"
                                    "The program runs unchanged; the exit code is the program's.";

constexpr const char* footer =
    "Environment read by the library (the options above set the first six; values that are not\n"
    "allowed end the program):\n"
    "  WAVESIM_THREADS=N           executor threads\n"
    "  WAVESIM_COUNTERS=1          print the counters at exit\n"
    "  WAVESIM_JSON=FILE           write the counters at exit\n"
    "  WAVESIM_PER_DISPATCH=1      list every dispatch\n"
    "  WAVESIM_CHECK=NAMES         run these checks (or: all)\n"
    "  WAVESIM_LINES=1             source lines\n"
    "  WAVESIM_SIMD=avx2|avx512    instruction set of the host to use\n"
    "  WAVESIM_BUFFER_SOFFSET=checked|unchecked\n"
    "                              whether raw buffer bounds include soffset\n"
    "  WAVESIM_MEMORY=BYTES, WAVESIM_DEVICES=N, WAVESIM_HANG_INSTRUCTIONS=N\n"
    "                              what the machine has, and when a kernel hangs\n"
    "\n"
    "Exit codes of wavesim itself: 2 bad usage, 70 the kernel cannot go on, 74 the counters cannot "
    "be\nwritten, 86 a check found something, 126 the program cannot be executed, 127 no such "
    "program.\n"
    "\n"
    "Examples: wavesim --counters --threads 2 -- ./softmax --rows 4096\n"
    "          wavesim --distances ./matmul --kernel bf16 --least-global 900";

void print_parameters() {
  fmt::print("Parameters of bound and distances\n");
  for (const auto& p : wavesim::parameters::all)
    fmt::print("  {}: {} {}\n    {}: {}\n", p.name, p.value, p.unit,
               wavesim::evidence_name(p.evidence), p.source);
}

void print_rules() {
  for (const wavesim::Rule& rule : wavesim::rules) {
    fmt::print("{}\n  {}\n  {}: {}\n", rule.counter, rule.rule,
               wavesim::evidence_name(rule.evidence), rule.source);
    if (!rule.hardware.empty())
      fmt::print("  rocprofv3: {}\n", rule.hardware);
    fmt::print("\n");
  }
}

class Help : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: wavesim [OPTIONS] -- PROGRAM [ARGUMENTS...]\n\n";
  }
};

int usage_error(const std::string& message) {
  fmt::print(stderr, "wavesim: {}\nTry 'wavesim --help'.\n", message);
  return wavesim::bad_usage_exit_code;
}

/// What is wrong with options that go without their value, which CLI11 would take from what
/// follows, be it the separator, or leave empty, and with those that have one and take none;
/// nothing where all is well.
std::string wrong_value(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc && *argv[i] == '-' && argv[i] != std::string_view("--"); ++i) {
    const std::string_view word = argv[i], name = word.substr(0, word.find('='));
    const CLI::Option* option = app.get_option_no_throw(std::string(name));
    if (!option)
      continue;
    const bool attached = name.size() != word.size();
    const bool empty = attached && name.size() + 1 == word.size();
    if (name == "--check" && empty)
      return fmt::format("--check= names no check; allowed: {}, all; or --check alone",
                         fmt::join(wavesim::check_names, ", "));
    if (option->get_items_expected_min() == 0) {
      if (attached && name != "--check")
        return fmt::format("{} takes no value", name);
      continue;
    }
    if (empty || (!attached && (++i == argc || argv[i] == std::string_view("--"))))
      return fmt::format("{} needs {}", name, // without what is allowed, which CLI11 appends
                         option->get_type_name().substr(0, option->get_type_name().find(':')));
  }
  return "";
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{description, "wavesim"};
  app.footer(footer);
  app.formatter(std::make_shared<Help>());
  wavesim::tool::Launch launch;
  bool rules = false;
  unsigned threads = 0;
  app.add_flag(
      "--counters", launch.counters,
      "At exit, print instructions, bytes, LDS clocks and bank conflicts by kernel (stderr)");
  app.add_option("--json", launch.json, "At exit, write the counters to FILE")->type_name("FILE");
  app.add_flag("--per-dispatch", launch.per_dispatch,
               "With --counters or --json: every dispatch too, not only sums by kernel");
  app.add_flag("--lines", launch.lines,
               "With --counters or --json: source lines (code compiled with -g); the table shows "
               "the ten that cost most, by unit");
  app.add_option("--threads", threads, "Executor threads (default: all processors)")
      ->type_name("N")
      ->check(CLI::Range(1u, wavesim::most_threads));
  wavesim::tool::Distances distances;
  app.add_option("--distances", distances.file,
                 "Run nothing: print, for each kernel in FILE (program, object, bundle, code "
                 "object), how much work lies between loads of its steady loop and their waits")
      ->type_name("FILE");
  app.add_option("--kernel", distances.kernel,
                 "With --distances: only kernels whose name contains TEXT")
      ->type_name("TEXT");
  app.add_flag("--every-load", distances.every_load,
               "With --distances: every load, not only the nearest of a kind");
  const CLI::Range clocks(std::int64_t{0}, std::int64_t{1} << 40);
  app.add_option("--least-global", distances.least_global,
                 "With --distances: exit 1 if a global load is nearer to its wait than CLOCKS")
      ->type_name("CLOCKS")
      ->check(clocks);
  app.add_option("--least-lds", distances.least_lds, "The same for LDS loads")
      ->type_name("CLOCKS")
      ->check(clocks);
  app.add_flag("--check{all}", launch.checks,
               "Look for faults: race, memory, uninit, wait, barrier, hazard, stream; without "
               "names all of them")
      ->type_name("[=NAME,...]");
  app.add_flag("--rules", rules, "Print how every counter is counted, and on what evidence");
  // Everything from the first word that is no option belongs to the program.
  app.prefix_command();
  if (const std::string problem = wrong_value(app, argc, argv); !problem.empty())
    return usage_error(problem);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  if (rules) {
    print_rules();
    print_parameters();
    return 0;
  }
  if (!distances.file.empty()) {
    if (!app.remaining().empty())
      return usage_error("--distances runs no program");
    distances.json = launch.json;
    return wavesim::tool::report(distances);
  }
  launch.threads = threads;
  launch.command = app.remaining();
  if (!launch.command.empty() && launch.command.front() == "--")
    launch.command.erase(launch.command.begin());
  if (launch.command.empty())
    return usage_error("no program given");
  if (launch.command.front().starts_with("-"))
    return usage_error(fmt::format("unknown option '{}'", launch.command.front()));
  for (const char* option : {"--kernel", "--every-load", "--least-global", "--least-lds"})
    if (app.count(option) != 0)
      return usage_error(fmt::format("{} needs --distances", option));
  if (launch.per_dispatch && !launch.counters && launch.json.empty())
    return usage_error("--per-dispatch needs --counters or --json");
  if (launch.lines && !launch.counters && launch.json.empty())
    return usage_error("--lines needs --counters or --json");
  if (const std::string problem = wavesim::tool::prepare(launch); !problem.empty())
    return usage_error(problem);
  return wavesim::tool::execute(launch);
}
