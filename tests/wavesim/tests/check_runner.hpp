// Runs a kernel with one fault under a check of `wavesim --check` and gives back what was found.
#pragma once

#include "checks/findings.hpp"
#include "checks/group_checks.hpp"
#include "code_object_runner.hpp"

#include <fstream>

namespace wavesim::test {

/// Number of the line of the kernels that ends in "// <mark>".
inline unsigned line_of(const std::string& mark) {
  std::ifstream file(WAVESIM_CHECK_KERNELS);
  std::string text;
  for (unsigned number = 1; std::getline(file, text); ++number)
    if (text.ends_with("// " + mark))
      return number;
  ADD_FAILURE() << "no line is marked " << mark;
  return 0;
}

class Checks : public testing::Test {
protected:
  Checks() {
    Findings::instance().clear();
    Findings::instance().set_printing(false);
  }
  ~Checks() override { Findings::instance().clear(); }

  template <class... Arguments>
  std::vector<Finding> run(const std::string& checks, const std::string& kernel, const Shape& shape,
                           Arguments... arguments) {
    std::string wrong;
    const auto set = parse_checks(checks, wrong);
    EXPECT_TRUE(set) << wrong;
    CheckFactory factory(*set);
    RunOptions options;
    options.observers = &factory;
    runner_.run(kernel, shape, options, arguments...);
    return Findings::instance().all();
  }
  Runner runner_;
};

inline void expect_line(const Finding::Side& side, const std::string& role,
                        const std::string& mark) {
  EXPECT_EQ(side.role, role);
  EXPECT_TRUE(side.source.ends_with(":" + std::to_string(line_of(mark))))
      << side.source << " is not the line marked " << mark;
}

inline std::string texts(const std::vector<Finding>& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i)
    text += to_text(findings[i], i + 1);
  return text;
}

inline constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

} // namespace wavesim::test
