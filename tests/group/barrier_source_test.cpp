// Work-items are masked, never sent away, ahead of a barrier: in every function of the headers that
// reaches one, no return, break, continue or goto stands before the last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// The text with comments, strings and preprocessor lines blanked, so that positions stay.
std::string code_of(std::string text) {
  const auto starts = [&](size_t i, const char* with) {
    return text.compare(i, std::char_traits<char>::length(with), with) == 0;
  };
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < to && i < text.size(); ++i)
      if (text[i] != '\n')
        text[i] = ' ';
    return to;
  };
  bool line_start = true;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool first_on_line = line_start;
    line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
    if (starts(i, "//") || (c == '#' && first_on_line)) {
      i = blank(i, std::min(text.find('\n', i), text.size()));
    } else if (starts(i, "/*")) {
      i = blank(i, std::min(text.find("*/", i), text.size() - 2) + 2);
    } else if (c == '"' ||
               (c == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return text;
}

/// Bodies of functions: the outermost braces that open neither a namespace nor a type.
std::vector<std::string> function_bodies(const std::string& code) {
  static const std::regex scope(R"(\b(namespace|struct|class|union|enum|concept)\b)");
  std::vector<std::string> bodies;
  size_t head = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ';' || code[i] == '}')
      head = i + 1;
    if (code[i] != '{')
      continue;
    const std::string before = code.substr(head, i - head);
    head = i + 1;
    // "template <class T> void f() {": only a type keyword after the last ')' or '>' opens a scope
    const size_t parenthesis = before.find_last_of(')');
    const bool has_parameters = parenthesis != std::string::npos;
    if (std::regex_search(before, scope) && !has_parameters)
      continue;
    size_t depth = 1, end = i + 1;
    while (end < code.size() && depth > 0) {
      depth += code[end] == '{';
      depth -= code[end] == '}';
      ++end;
    }
    bodies.push_back(code.substr(i, end - i));
    i = end - 1;
    head = end;
  }
  return bodies;
}

/// Whether the brace at `open` begins the block of a loop or a switch.
bool opens_loop(const std::string& body, size_t open) {
  size_t i = body.find_last_not_of(" \n\t", open == 0 ? 0 : open - 1);
  if (i == std::string::npos || body[i] != ')')
    return i != std::string::npos && i >= 1 && body.compare(i - 1, 2, "do") == 0;
  int depth = 0;
  do {
    depth += body[i] == ')';
    depth -= body[i] == '(';
  } while (depth > 0 && i-- > 0);
  static const std::regex keyword(R"(\b(for|while|switch)\s*$)");
  return std::regex_search(body.substr(0, i), keyword);
}

/// Whether the brace at `open` begins the body of a lambda.
bool opens_lambda(const std::string& body, size_t open) {
  static const std::regex head(R"(\]\s*(\([^{};]*\))?\s*(mutable\b)?\s*(->[^{};]*)?$)");
  const size_t from = body.find_last_of("{};", open == 0 ? 0 : open - 1);
  const size_t first = from == std::string::npos ? 0 : from + 1;
  return std::regex_search(body.substr(first, open - first), head);
}

/// End of the innermost block around `at` that `opens` accepts; that of the body when there is
/// none.
template <class Opens>
size_t block_end(const std::string& body, size_t at, Opens opens) {
  std::vector<size_t> open;
  for (size_t i = 0; i < at; ++i) {
    if (body[i] == '{')
      open.push_back(i);
    if (body[i] == '}' && !open.empty())
      open.pop_back();
  }
  while (!open.empty() && !opens(body, open.back()))
    open.pop_back();
  if (open.empty())
    return body.size();
  size_t end = open.back() + 1;
  for (int depth = 1; end < body.size() && depth > 0; ++end)
    depth += (body[end] == '{') - (body[end] == '}');
  return end;
}

/// A jump that can lead past a barrier of a body; empty when there is none.
std::string early_exit(const std::string& body) {
  static const std::regex barrier(
      R"(\b(barrier|__syncthreads|to_all|to_first|s_barrier|template all_reduce)\s*(<[^;()]*>)?\s*\()");
  static const std::regex jump(R"(\b(return|break|continue|goto)\b[^;]*;)");
  std::vector<size_t> barriers;
  for (std::sregex_iterator i(body.begin(), body.end(), barrier), none; i != none; ++i)
    barriers.push_back(static_cast<size_t>(i->position(0)));
  for (std::sregex_iterator i(body.begin(), body.end(), jump), none; i != none; ++i) {
    const auto at = static_cast<size_t>(i->position(0));
    // what a return itself evaluates comes before it
    const size_t after = at + static_cast<size_t>(i->length(0));
    const bool leaves_loop_only = i->str(1) == "break" || i->str(1) == "continue";
    const size_t end =
        leaves_loop_only ? block_end(body, at, opens_loop) : block_end(body, at, opens_lambda);
    for (const size_t reached : barriers)
      if (reached >= after && reached < end)
        return i->str(0);
  }
  return {};
}

int functions_with_barriers(const std::string& code, std::vector<std::string>& exits) {
  int count = 0;
  for (const std::string& body : function_bodies(code)) {
    const std::string found = early_exit(body);
    if (!found.empty())
      exits.push_back(found);
    count += std::regex_search(body, std::regex(R"(\b(barrier|to_all|to_first)\s*\()"));
  }
  return count;
}

TEST(barrier_source, the_check_finds_what_it_is_for) {
  std::vector<std::string> exits;
  const std::string example = code_of(R"(
namespace a {
struct s {
  template <class T> void leaves(int n) {
    if (t > n) return;
    group::barrier();
  }
};
void after() { barrier(); if (t) return; x(); }
void skips() { for (int i = 0; i < n; ++i) { if (t) continue; barrier(); } }
void skips_elsewhere() { for (int i = 0; i < n; ++i) { if (t) { continue; } } barrier(); }
void lambda() { auto f = [&](int k) { if (k) return 1; return 2; }; barrier(); }
void in_lambda() { f([&] { if (k) return; barrier(); }); }
float returns_it() { return r::to_all(x); }
/* return; */ void comment() { // return;
  barrier();
}
})");
  EXPECT_EQ(functions_with_barriers(example, exits), 8);
  EXPECT_EQ(exits, (std::vector<std::string>{"return;", "continue;", "return;"}));
}

TEST(barrier_source, headers_have_no_exit_before_a_barrier) {
  int functions = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(WAVETILE_INCLUDE_DIRECTORY)) {
    if (!entry.is_regular_file())
      continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    std::vector<std::string> exits;
    functions += functions_with_barriers(code_of(text.str()), exits);
    for (const std::string& found : exits)
      ADD_FAILURE() << entry.path().string() << ": " << found;
  }
  EXPECT_GT(functions, 3) << "no function with a barrier was found";
}

} // namespace
