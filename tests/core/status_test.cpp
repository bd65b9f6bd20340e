// What a failed call says.
#include <wavetile/core/device_check.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace wavetile {
namespace {

TEST(status, success) {
  const status s;
  EXPECT_TRUE(s);
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.code(), status_code::success);
  EXPECT_STREQ(s.message(), "success");
  EXPECT_STREQ(s.argument(), "");
  static_assert(status{}.ok());
}

TEST(status, names_argument_value_and_what_is_allowed) {
  const status s = status::failure(status_code::invalid_argument, "rows", -3, "0 or more");
  EXPECT_FALSE(s);
  EXPECT_EQ(s.code(), status_code::invalid_argument);
  EXPECT_STREQ(s.argument(), "rows");
  EXPECT_STREQ(s.message(), "invalid_argument: rows = -3, allowed: 0 or more");
}

TEST(status, names_numbers_that_no_enumerator_has) {
  enum class fruit : uint8_t { apple, pear };
  EXPECT_TRUE(detail::check_enumerator("fruit", fruit::pear, fruit::pear, "apple, pear").ok());
  const status s =
      detail::check_enumerator("fruit", static_cast<fruit>(2), fruit::pear, "apple, pear");
  EXPECT_EQ(s.code(), status_code::invalid_argument);
  EXPECT_STREQ(s.argument(), "fruit");
  EXPECT_STREQ(s.message(), "invalid_argument: fruit = 2, allowed: apple, pear");
  EXPECT_STREQ(name_of(data_type::uint64), "uint64");
  EXPECT_STREQ(name_of(static_cast<data_type>(16)), "unknown");
  EXPECT_STREQ(name_of(static_cast<data_type>(255)), "unknown");
  EXPECT_EQ(size_of(data_type::uint64), 8);
  EXPECT_EQ(size_of(static_cast<data_type>(16)), 0);
  EXPECT_STREQ(name_of(static_cast<status_code>(99)), "unknown");
  EXPECT_STREQ(detail::check_known_type("input", static_cast<data_type>(16)).message(),
               "unsupported_type: input: its elements are unknown, allowed: those of data_type");
}

TEST(status, names_both_numbers_of_a_limit) {
  const status s =
      status::above_limit(status_code::lds_limit, "dynamic LDS", 65537, 65536, "bytes");
  EXPECT_STREQ(s.message(), "lds_limit: dynamic LDS = 65537, allowed: <= 65536 bytes");
}

TEST(status, names_what_of_numbers_of_elements_is_too_large) {
  constexpr std::int64_t most = std::int64_t{1} << 58;
  const auto message = [](auto... counts) {
    return std::string(detail::check_elements("rows, columns", counts...).message());
  };
  const std::string accepted = status{}.message();
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, most}) {
    EXPECT_EQ(message(count, std::int64_t{1}), accepted);
    EXPECT_EQ(message(std::int64_t{0}, count), accepted);
  }
  EXPECT_EQ(message(std::int64_t{0}, most, most), accepted);
  const std::string start = "unsupported_shape: rows, columns: ",
                    end = "above 2^58, allowed: at most 2^58 elements";
  EXPECT_EQ(message(most, std::int64_t{2}), start + "their product is " + end);
  EXPECT_EQ(message(2 * most, std::int64_t{1}), start + "their product is " + end);
  EXPECT_EQ(message(INT64_MAX, INT64_MAX), start + "their product is " + end);
  // the product is 0
  const std::string some = start + "one of them, or a product of some, is " + end;
  EXPECT_EQ(message(std::int64_t{0}, 2 * most), some);
  EXPECT_EQ(message(2 * most, std::int64_t{0}), some);
  EXPECT_EQ(message(most, most, std::int64_t{0}), some);
}

TEST(status, powers_of_two) {
  for (int i = 0; i < 63; ++i)
    EXPECT_TRUE(detail::check_power_of_two("n", std::int64_t{1} << i).ok());
  for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-8}, std::int64_t{3}, INT64_MIN})
    EXPECT_EQ(std::string(detail::check_power_of_two("n", wrong).message()),
              "invalid_argument: n = " + std::to_string(wrong) + ", allowed: a power of two");
}

TEST(status, carries_64_bit_values) {
  const status s = status::failure(status_code::unsupported_shape, "columns", INT64_MIN, "x");
  EXPECT_STREQ(s.message(), "unsupported_shape: columns = -9223372036854775808, allowed: x");
}

TEST(status, takes_further_parts) {
  status s = status::failure(status_code::runtime_error, "launch", "hipErrorNoBinaryForGpu");
  s.append(" on device ").append(3);
  EXPECT_STREQ(s.message(), "runtime_error: launch: hipErrorNoBinaryForGpu on device 3");
}

TEST(status, cuts_long_text_visibly) {
  const std::string text(1000, 'x');
  const status s = status::failure(status_code::invalid_argument, text.c_str(), text.c_str());
  EXPECT_LT(std::string(s.message()).size(), 320u);
  EXPECT_EQ(std::string(s.message()).substr(std::string(s.message()).size() - 3), "...");
  EXPECT_LT(std::string(s.argument()).size(), 32u);
}

TEST(status, every_failure_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(status_code::runtime_error); ++code)
    names.insert(name_of(static_cast<status_code>(code)));
  EXPECT_EQ(names.size(), static_cast<size_t>(status_code::runtime_error) + 1);
}

TEST(text, copies_are_equal_and_go_on) {
  fixed_text<12> first;
  first.append("abc");
  fixed_text<12> second = first;
  EXPECT_STREQ(second.append("def").c_str(), "abcdef");
  EXPECT_STREQ(first.c_str(), "abc");
  const fixed_text<12>& same = second;
  second = same;
  EXPECT_STREQ(second.c_str(), "abcdef");
  second = first; // shorter than what was there
  EXPECT_STREQ(second.append(7).c_str(), "abc7");
  EXPECT_EQ(second.length(), 4);
  second.append("much too long");
  const fixed_text<12> cut = second;
  EXPECT_STREQ(cut.c_str(), second.c_str());
  EXPECT_STREQ(cut.c_str(), "abc7much...");
  static_assert(fixed_text<12>(fixed_text<12>().append("x")).length() == 1);
  constexpr status outcome = status::failure(status_code::null_pointer, "x", "null");
  static_assert(outcome.message()[0] == 'n' && status(outcome).argument()[0] == 'x');
}

TEST(text, formats_numbers) {
  fixed_text<64> text;
  text.append(0).append(' ').append(-1).append(' ').append(~uint64_t{0});
  EXPECT_STREQ(text.c_str(), "0 -1 18446744073709551615");
  EXPECT_EQ(text.length(), 25);
  text.append(static_cast<const char*>(nullptr));
  EXPECT_EQ(text.length(), 25);
}

TEST(device_check, names_both_architectures) {
  const status s = check_device(describe_device("gfx1100", 48));
  EXPECT_EQ(s.code(), status_code::wrong_architecture);
  EXPECT_STREQ(
      s.message(),
      "wrong_architecture: device: it is gfx1100, there is code for gfx90a, gfx942, gfx950");
  const status compiled = check_device(describe_device("gfx1100", 48), "gfx90a");
  EXPECT_NE(std::string(compiled.message()).find("gfx90a"), std::string::npos);
}

TEST(device_check, accepts_known_devices) {
  EXPECT_TRUE(check_device(describe_device("gfx942:sramecc+:xnack-", 304, 8)));
  EXPECT_TRUE(check_device(describe_device("gfx90a:sramecc+:xnack-", 104)));
}

TEST(device_check, refuses_another_wave_size) {
  device_info device = describe_device("gfx942", 304, 8);
  device.wave_size = 32;
  const status s = check_device(device);
  EXPECT_EQ(s.code(), status_code::wrong_architecture);
  EXPECT_NE(std::string(s.message()).find("32 lanes"), std::string::npos);
  EXPECT_NE(std::string(s.message()).find("needs 64"), std::string::npos);
}

} // namespace
} // namespace wavetile
