// The headers hold no 32-bit lane mask and no use of the compiler's or HIP's own wave size.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

TEST(headers, have_no_32_bit_lane_masks_and_no_built_in_wave_size) {
  // A literal of 32 ones on a line that deals with lanes. Fields of HIP's property struct
  // (".warpSize") are what the device reports at run time and are allowed.
  const std::regex forbidden(
      "0[xX][fF]{8}([^0-9a-fA-F].*|$)(lane|ballot|sh(u)?f(f)?l|mask|vote|mbcnt)"
      "|(lane|ballot|sh(u)?f(f)?l|mask|vote|mbcnt).*0[xX][fF]{8}([^0-9a-fA-F]|$)"
      "|(^|[^.\\w])warpSize"
      "|__AMDGCN_WAVEFRONT_SIZE"
      "|__builtin_amdgcn_wavefrontsize");
  // The pattern itself must catch what it is for.
  for (const char* bad : {"ballot(p) & 0xFFFFFFFF;", "lane_mask x = 0xffffffffu",
                          "int a[warpSize];", "__shfl_xor_sync(0xffffffff, v, 1)",
                          "f(0xFFFFFFFFull, mask)", "#if __AMDGCN_WAVEFRONT_SIZE__ == 64"})
    EXPECT_TRUE(std::regex_search(bad, forbidden)) << bad;
  for (const char* good : {"mask = 0xFFFFFFFFFFFFFFFFull", "lane & 0x7FFFFFFFu",
                           "properties.warpSize", "low = a & 0xFFFFFFFFull"})
    EXPECT_FALSE(std::regex_search(good, forbidden)) << good;

  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(WAVETILE_INCLUDE_DIRECTORY)) {
    if (!entry.is_regular_file())
      continue;
    ++files;
    std::ifstream file(entry.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number)
      EXPECT_FALSE(std::regex_search(line, forbidden))
          << entry.path().string() << ':' << number << ": " << line;
  }
  EXPECT_GT(files, 20) << "the headers were not found";
}

} // namespace
