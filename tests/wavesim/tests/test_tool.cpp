// The `wavesim` command: exit codes, messages, environment, and the reports of a counted program.
#include "tests/shell.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using wavesim::test::Outcome;
using wavesim::test::shell;

Outcome run_tool(const std::string& arguments) {
  return shell(std::string(WAVESIM_TOOL) + " " + arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Tool, ExitCodeIsTheProgramsOwn) {
  EXPECT_EQ(run_tool("-- sh -c 'exit 0'").code, 0);
  EXPECT_EQ(run_tool("-- sh -c 'exit 41'").code, 41);
  EXPECT_EQ(run_tool("sh -c 'exit 41'").code, 41); // the separator may be left out
}

TEST(Tool, PassesArgumentsUnchanged) {
  const Outcome o = run_tool("--threads 2 -- printf '<%s>' a 'b c' --json -- -x");
  EXPECT_EQ(o.text, "<a><b c><--json><--><-x>");
}

TEST(Tool, BadUsage) {
  for (const char* arguments :
       {"", "--counters", "--", "--bogus -- true", "--threads -- true", "--threads 0 -- true",
        "--threads x -- true", "--json /no/such/folder/f -- true", "--json / -- true",
        "--per-dispatch -- true", "--counters=xml -- true", "--lines= --json x -- true",
        "--kernel x -- true", "--every-load -- true", "--least-global 5 -- true",
        "--least-lds 5 -- true"}) {
    const Outcome o = run_tool(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_TRUE(o.text.starts_with("wavesim: ")) << o.text;
  }
  EXPECT_TRUE(contains(run_tool("--bogus -- true").text, "--bogus"));
  EXPECT_TRUE(contains(run_tool("--counters=xml -- true").text, "--counters takes no value"));
  EXPECT_TRUE(contains(run_tool("--least-lds 5 -- true").text, "--least-lds needs --distances"));
  EXPECT_TRUE(contains(run_tool("--json /no/such/folder/f -- true").text, "/no/such/folder"));
}

/// The separator and nothing are no values; what follows an option that needs none is its own.
TEST(Tool, OptionsWithoutTheirValue) {
  for (const char* option : {"--json", "--threads", "--distances", "--kernel", "--least-global",
                             "--least-lds", "--counters --json"})
    for (const char* rest : {" -- true", "= -- true", ""}) {
      const Outcome o = run_tool(std::string(option) + rest);
      const std::string name = option == std::string("--counters --json") ? "--json" : option;
      EXPECT_EQ(o.code, 2) << option << rest << "\n" << o.text;
      EXPECT_TRUE(contains(o.text, "wavesim: " + name + " needs ")) << option << rest << "\n"
                                                                    << o.text;
    }
  EXPECT_TRUE(contains(run_tool("--json -- true").text, "--json needs FILE"));
  const Outcome empty = run_tool("--check= -- true");
  EXPECT_EQ(empty.code, 2) << empty.text;
  EXPECT_TRUE(contains(empty.text, "--check= names no check; allowed: race, ")) << empty.text;
  EXPECT_EQ(run_tool("--check -- true").code, 0);
  EXPECT_EQ(run_tool("--check=race, -- true").code, 2);
}

TEST(Tool, ProgramThatCannotRun) {
  const Outcome missing = run_tool("-- /no/such/program");
  EXPECT_EQ(missing.code, 127);
  EXPECT_TRUE(contains(missing.text, "/no/such/program")) << missing.text;
  EXPECT_EQ(run_tool("-- /etc/passwd").code, 126);
  // the space makes a program of it
  const Outcome check = run_tool("--check hazard -- true");
  EXPECT_EQ(check.code, 127);
  EXPECT_TRUE(contains(check.text, "--check=hazard")) << check.text;
}

TEST(Tool, HelpAndRules) {
  const Outcome help = run_tool("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* part : {"Usage: wavesim", "--counters", "--json", "--threads", "Example"})
    EXPECT_TRUE(contains(help.text, part)) << part;
  const Outcome rules = run_tool("--rules");
  EXPECT_EQ(rules.code, 0);
  EXPECT_TRUE(contains(rules.text, "SQ_LDS_BANK_CONFLICT"));
}

TEST(Tool, Environment) {
  const Outcome o = shell("LD_LIBRARY_PATH=/before " + std::string(WAVESIM_TOOL) +
                          " --counters --threads 3 --per-dispatch -- sh -c 'echo "
                          "$LD_LIBRARY_PATH $WAVESIM_COUNTERS $WAVESIM_THREADS "
                          "$WAVESIM_PER_DISPATCH'");
  EXPECT_EQ(o.text, std::string(WAVESIM_LIBRARY_FOLDER) + ":/before 1 3 1\n");
}

#ifdef WAVESIM_TEST_PROGRAM

class CountedProgram : public testing::Test {
protected:
  fs::path file_ =
      fs::temp_directory_path() / ("wavesim_tool_" + std::to_string(getpid()) + ".json");
  ~CountedProgram() override { fs::remove(file_); }
  json read() const { return json::parse(std::ifstream(file_)); }
};

TEST_F(CountedProgram, Json) {
  json documents[2];
  for (const int threads : {1, 2}) {
    const Outcome o = run_tool("--json " + file_.string() + " --per-dispatch --threads " +
                               std::to_string(threads) + " -- " WAVESIM_TEST_PROGRAM);
    ASSERT_EQ(o.code, 0) << o.text;
    documents[threads - 1] = read();
  }
  EXPECT_EQ(documents[0], documents[1]);
  const json& d = documents[0];
  EXPECT_EQ(d["schema"], "wavesim-counters");
  EXPECT_EQ(d["version"], 1);
  ASSERT_EQ(d["kernels"].size(), 3u);
  ASSERT_EQ(d["dispatches"].size(), 4u);
  EXPECT_EQ(d["total"]["dispatches"], 4);
  for (const json& kernel : d["kernels"]) {
    std::uint64_t executions = 0, units = 0, clocks = 0;
    for (const json& i : kernel["code"]) {
      executions += i["executions"].get<std::uint64_t>();
      clocks += i.value("lds_clocks", std::uint64_t{0});
    }
    for (const auto& [unit, n] : kernel["instructions"].items())
      units += n.get<std::uint64_t>();
    EXPECT_EQ(executions, units);
    EXPECT_EQ(clocks, kernel["lds"]["clocks"]);
    if (kernel["name"].get<std::string>().find("copy_rows") != std::string::npos) {
      constexpr int bytes = 2 * 32 * 256 * 16;
      EXPECT_EQ(kernel["global"]["bytes_read"], bytes);
      EXPECT_EQ(kernel["global"]["read_by_width"]["16"], bytes);
      EXPECT_EQ(kernel["global"]["bytes_written"], bytes);
    }
  }
  EXPECT_GT(d["rules"].size(), 10u);
}

TEST_F(CountedProgram, Table) {
  const Outcome o = run_tool("--counters -- " WAVESIM_TEST_PROGRAM);
  ASSERT_EQ(o.code, 0) << o.text;
  for (const char* part : {"kernel ", "copy_rows", "2 dispatches, 64 workgroups, 256 waves",
                           "read 262,144 B (all in 16-byte accesses)",
                           "1,056 clocks, of these 992 lost", "all kernels"})
    EXPECT_TRUE(contains(o.text, part)) << part << "\n" << o.text;
}

// The library refuses settings that are not allowed before it does anything under others.
TEST(Settings, AreRefusedByNameAndValue) {
  const struct {
    const char* name;
    const char* value;
    const char* allowed;
  } cases[] = {
      {"WAVESIM_MEMORY", "-1", "a number from 1048576 to"},
      {"WAVESIM_MEMORY", "4096", "a number from 1048576 to"},
      {"WAVESIM_MEMORY", "8G", "bytes"},
      {"WAVESIM_THREADS", "0", "a number from 1 to 256"},
      {"WAVESIM_THREADS", "257", "a number from 1 to 256"},
      {"WAVESIM_THREADS", "two", "a number from 1 to 256"},
      {"WAVESIM_DEVICES", "65", "a number from 0 to 64"},
      {"WAVESIM_HANG_INSTRUCTIONS", "99999999999999999999", "a number from 1 to"},
      {"WAVESIM_SIMD", "sse", "avx2, avx512"},
      {"WAVESIM_BUFFER_SOFFSET", "foo", "checked, unchecked"},
      {"WAVESIM_COUNTERS", "yes", "0, 1"},
      {"WAVESIM_PER_DISPATCH", "-1", "0, 1"},
      {"WAVESIM_LINES", "2", "0, 1"},
      {"WAVESIM_JSON", "/no/such/folder/f", "a file in a folder that exists"},
      {"WAVESIM_JSON", "/", "a file in a folder that exists"},
      {"WAVESIM_CHECK_NOTES", "2", "0, 1"},
      {"WAVESIM_CHECK", "race,foo", "race, memory, uninit, wait, barrier, hazard, stream, all"},
  };
  for (const auto& c : cases) {
    const Outcome o = shell(std::string(c.name) + "='" + c.value + "' " + WAVESIM_TOOL +
                            " -- " WAVESIM_TEST_PROGRAM);
    EXPECT_EQ(o.code, 2) << c.name << "=" << c.value << "\n" << o.text;
    const std::string line = std::string("wavesim: ") + c.name + " is '" + c.value + "'; allowed: ";
    EXPECT_TRUE(contains(o.text, line)) << o.text;
    EXPECT_TRUE(contains(o.text, c.allowed)) << o.text;
    EXPECT_FALSE(contains(o.text, "[       OK ]")) << o.text;
  }
  for (const char* good : {"WAVESIM_SIMD=avx2", "WAVESIM_THREADS=256", "WAVESIM_COUNTERS=",
                           "WAVESIM_MEMORY=1073741824", "WAVESIM_BUFFER_SOFFSET=unchecked"}) {
    const Outcome o = shell(std::string(good) + " " + WAVESIM_TOOL + " -- " WAVESIM_TEST_PROGRAM);
    EXPECT_EQ(o.code, 0) << good << "\n" << o.text;
  }
}

/// 86 when a check finds something, whatever the program says; else the program's own code.
TEST(Tool, ExitCodeOfFindings) {
  const struct {
    const char* options;
    const char* arguments;
    int code;
  } cases[] = {{"--check", "0 race", 86},
               {"--check", "41 race", 86},
               {"--check=race", "0 race", 86},
               {"--check=wait", "0 race", 0},
               {"--check", "0 none", 0},
               {"--check", "41 none", 41},
               {"--check", "41 same", 41},
               {"--check", "0 past", 86},
               {"--check=memory", "3 past", 86},
               {"--check=stream", "0 race", 0},
               {"", "41 race", 41},
               {"", "0 past", 70},
               {"--check", "0 stale", 86},
               {"--check=race", "0 stale", 0}};
  for (const auto& c : cases) {
    const Outcome o =
        run_tool(std::string(c.options) + " -- " WAVESIM_FAULTY_PROGRAM " " + c.arguments);
    EXPECT_EQ(o.code, c.code) << c.options << " " << c.arguments << "\n" << o.text;
    EXPECT_EQ(contains(o.text, "wavesim: the checks found 1 fault\n"), c.code == 86) << o.text;
  }
}

/// Writes of the same value are reported, but are not called faults.
TEST(Tool, HarmlessSightingsAreCalledHarmless) {
  for (const auto& [fault, found] : {std::pair("same", "1 harmless sighting\n"),
                                     std::pair("same_race", "1 fault and 1 harmless sighting\n")}) {
    const Outcome o = run_tool("--check -- " WAVESIM_FAULTY_PROGRAM " 0 " + std::string(fault));
    EXPECT_EQ(o.code, std::string_view(fault) == "same" ? 0 : 86) << o.text;
    EXPECT_TRUE(contains(o.text, "wavesim: the checks found " + std::string(found))) << o.text;
    EXPECT_TRUE(contains(o.text, " (harmless: does not count for the exit code)")) << o.text;
  }
}

/// Notes are not called faults.
TEST(Tool, NotesAreCalledNotes) {
  for (const auto& [fault, code] : {std::pair("odd", 0), std::pair("odd_race", 86)}) {
    const Outcome o = shell("WAVESIM_CHECK_NOTES=1 " + std::string(WAVESIM_TOOL) +
                            " --check -- " WAVESIM_FAULTY_PROGRAM " 0 " + fault);
    EXPECT_EQ(o.code, code) << o.text;
    EXPECT_TRUE(contains(o.text, code == 0 ? "wavesim: the checks found 1 note\n"
                                           : "wavesim: the checks found 1 fault and 1 note\n"))
        << o.text;
    EXPECT_TRUE(contains(o.text, " (a note: legal, but odd)")) << o.text;
  }
}

/// A name that no file can have: nothing is wrong until it is opened.
TEST(Tool, CountersThatCannotBeWritten) {
  const Outcome o =
      run_tool("--json " + std::string(300, 'x') + " -- " WAVESIM_FAULTY_PROGRAM " 0 none");
  EXPECT_EQ(o.code, 74) << o.text;
  EXPECT_TRUE(contains(o.text, "wavesim: cannot write the counters to '")) << o.text;
}

/// The line that reads a column of the 32-wide tile has all conflicts of its kernel.
TEST_F(CountedProgram, Lines) {
  const Outcome o =
      run_tool("--counters --lines --json " + file_.string() + " -- " WAVESIM_TEST_PROGRAM);
  ASSERT_EQ(o.code, 0) << o.text;
  std::uint64_t line = 0, number = 0;
  std::ifstream source(WAVESIM_TEST_PROGRAM_SOURCE);
  for (std::string text; std::getline(source, text);) {
    ++number;
    if (contains(text, "= tile[threadIdx.x % 32 * Pitch + column]"))
      line = number;
  }
  ASSERT_NE(line, 0u);
  const std::string expected = "counters_api.hip:" + std::to_string(line);
  bool found = false;
  const json document = read();
  for (const json& kernel : document["kernels"]) {
    if (!contains(kernel["name"], "transpose<32u>"))
      continue;
    for (const json& i : kernel["code"])
      if (i.value("lds_conflicts", 0) != 0) {
        EXPECT_TRUE(contains(i["line"], expected)) << i;
        found = true;
      }
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(contains(o.text, "costliest")) << o.text;
  EXPECT_TRUE(contains(o.text, expected)) << o.text;
  EXPECT_EQ(run_tool("--lines -- true").code, 2);
}

/// Counters go where a link leads and into pipes; what is no file stays what it is, and without a
/// run nothing is lost.
TEST_F(CountedProgram, OnlyAnEarlierFileIsReplaced) {
  const auto kept = [&] {
    std::string text;
    std::getline(std::ifstream(file_), text);
    return text == "kept";
  };
  std::ofstream(file_) << "kept";
  const std::string to_file = "--json " + file_.string();
  EXPECT_EQ(run_tool(to_file + " -- no_such_program").code, 127);
  EXPECT_EQ(run_tool(to_file + " -- /no/such/program").code, 127);
  EXPECT_EQ(run_tool(to_file + " --check=nothing -- true").code, 2);
  EXPECT_TRUE(kept());
  EXPECT_EQ(run_tool(to_file + " -- true").code, 0);
  EXPECT_FALSE(fs::exists(file_)) << "counts of an earlier run";

  const fs::path link = file_.string() + ".link", pipe = file_.string() + ".pipe";
  std::ofstream(file_) << "kept";
  fs::create_symlink(file_, link);
  const Outcome linked = run_tool("--json " + link.string() + " -- " WAVESIM_TEST_PROGRAM);
  EXPECT_EQ(linked.code, 0) << linked.text;
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read()["schema"], "wavesim-counters");
  fs::remove(link);

  const Outcome piped =
      shell("mkfifo " + pipe.string() + "; cat " + pipe.string() + " > " + file_.string() +
            " & " WAVESIM_TOOL " --json " + pipe.string() + " -- " WAVESIM_TEST_PROGRAM "; wait");
  EXPECT_TRUE(fs::is_fifo(pipe)) << piped.text;
  EXPECT_EQ(read()["schema"], "wavesim-counters") << piped.text;
  fs::remove(pipe);
}

TEST_F(CountedProgram, WithoutLaunchesNothingIsOverwritten) {
  std::ofstream(file_) << "kept";
  const Outcome o =
      shell("WAVESIM_JSON=" + file_.string() + " LD_LIBRARY_PATH=" + WAVESIM_LIBRARY_FOLDER + " " +
            WAVESIM_TEST_PROGRAM " --gtest_list_tests");
  ASSERT_EQ(o.code, 0) << o.text;
  std::string text;
  std::getline(std::ifstream(file_), text);
  EXPECT_EQ(text, "kept");
}

#endif

} // namespace
