# A machine without ROCm configures the headers and the host tests; where HIP is needed, one message says
# what to set. An empty WAVETILE_HIP_INCLUDE_DIR is how a search that found nothing looks.
#   cmake -DSOURCE=<wavetile> -DWORK=<scratch folder> -DSETTINGS=<cache settings, separated by |>
#         -P without_rocm.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" SETTINGS "${SETTINGS}")
file(REMOVE_RECURSE ${WORK})
set(configure COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -G Ninja -DWAVETILE_HIP_INCLUDE_DIR= ${SETTINGS})

step(headers ${configure} -B ${WORK}/headers -DWAVETILE_BUILD_TESTS=OFF)
step(plain ${configure} -B ${WORK}/plain)
expect_text("${plain_output}" "device tests are left out")
expect_text("${plain_output}" "CMAKE_PREFIX_PATH")

foreach(part IN ITEMS BENCHMARKS EXAMPLES)
  step(refused FAILS ${configure} -B ${WORK}/${part} -DWAVETILE_BUILD_TESTS=OFF -DWAVETILE_BUILD_${part}=ON)
  expect_text("${refused_output}" "CMAKE_PREFIX_PATH")
  expect_text("${refused_output}" "WAVETILE_BUILD_${part}")
  string(REGEX MATCHALL "CMake Error" errors "${refused_output}")
  list(LENGTH errors count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "expected one error and no other, got ${count}:\n${refused_output}")
  endif()
endforeach()
