# A compiler of host code alone, or one without HIP's headers, is told what operators need, first of all:
#   cmake -DINCLUDE=<include> -DCOMPILERS=<compiler|...> -DWORK=<scratch folder> -P host_errors.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" COMPILERS "${COMPILERS}")
file(MAKE_DIRECTORY ${WORK})
set(call [[
int main() {
  float* p = nullptr;
  auto x = wavetile::make_view(p, 4, 4);
  auto s = wavetile::softmax(x, x, {.scale = 0.5f, .causal = true}, nullptr);
  return !s;
}
]])
file(WRITE ${WORK}/umbrella.cpp "#include <wavetile/wavetile.hpp>\n")
file(WRITE ${WORK}/call.cpp "#include <wavetile/wavetile.hpp>\n${call}")

function(first_error text part)
  string(REGEX MATCH "error: [^\n]*" first "${text}")
  expect_text("${first}" "${part}")
endfunction()
foreach(compiler IN LISTS COMPILERS)
  set(command COMMAND ${compiler} -std=c++20 -I${INCLUDE} -fsyntax-only)
  step(umbrella ${command} -Wall -Wextra -Werror ${WORK}/umbrella.cpp)
  step(call FAILS ${command} ${WORK}/call.cpp)
  first_error("${call_output}" operators_need_a_device_compiler)
  foreach(header IN ITEMS attention attention_append attention_decode layer_norm matmul matmul_block_scaled matmul_grouped
                          reduce reduce_segmented rms_norm softmax)
    file(WRITE ${WORK}/header.cpp "#include <wavetile/${header}.hpp>\n")
    step(header FAILS ${command} ${WORK}/header.cpp)
    first_error("${header_output}" "operators need a device compiler: clang++, amdclang++ or hipcc")
  endforeach()
endforeach()
if(HIP_COMPILER)
  step(hip FAILS COMMAND ${HIP_COMPILER} -x hip -std=c++20 -nogpuinc -nogpulib -nostdinc --offload-arch=gfx942 -I${INCLUDE}
       -fsyntax-only ${WORK}/header.cpp)
  first_error("${hip_output}" "operators need <hip/hip_runtime_api.h>, which is on no include path")
endif()
