# Used by the presets: takes the compiler and the HIP prefix that cmake/setup-toolchain.sh chose.
# Without its result this file sets nothing, so that CMake's own search and CXX stay in charge.
if(DEFINED ENV{WAVETILE_TOOLCHAIN_DIR})
  set(wavetile_toolchain_dir "$ENV{WAVETILE_TOOLCHAIN_DIR}")
else()
  set(wavetile_toolchain_dir "${CMAKE_CURRENT_LIST_DIR}/../build/toolchain")
endif()
include("${wavetile_toolchain_dir}/toolchain.cmake" OPTIONAL)
