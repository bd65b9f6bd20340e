# A project outside the checkout on a machine without ROCm: the command of README.md, to the letter, configures one for
# the toolchain that was set up and for wavesim's runtime:
#   cmake -DSOURCE=<wavetile> -DBUILD=<wavetile's build> -DWORK=<scratch folder> -P outside.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK})
file(READ ${SOURCE}/README.md text)
if(NOT text MATCHES "\n    cmake -S \\. -B build ([^\n]*)\n")
  message(FATAL_ERROR "README.md has no line 'cmake -S . -B build ...'")
endif()
set(arguments "${CMAKE_MATCH_1}")
foreach(part IN ITEMS CMAKE_TOOLCHAIN_FILE WAVETILE_HIP_LIBRARY CMAKE_BUILD_TYPE)
  expect_text("${arguments}" "-D${part}=")
endforeach()
string(REPLACE "<checkout>/build/sim" "${BUILD}" arguments "${arguments}")
string(REPLACE "<checkout>" "${SOURCE}" arguments "${arguments}")
separate_arguments(arguments UNIX_COMMAND "${arguments}")
step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G Ninja
     -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} ${arguments})
foreach(word IN ITEMS Warning "not used by the project")
  expect_no_text("${configure_output}" "${word}")
endforeach()
file(READ ${WORK}/build/compile_commands.json commands)
compile_command("${commands}" kernel.hip command)
foreach(flag IN ITEMS --offload-arch=gfx942 --rocm-path= -O3)
  expect_text("${command}" "${flag}")
endforeach()
file(READ ${WORK}/build/build.ninja rules)
expect_text("${rules}" "${BUILD}/wavesim/libamdhip64.so")

# Without the runtime's path, the error names it.
list(FILTER arguments EXCLUDE REGEX "WAVETILE_HIP_LIBRARY")
step(refused FAILS COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/refused -G Ninja
     -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} ${arguments})
string(REGEX REPLACE "[ \n]+" " " refused_output "${refused_output}") # CMake wraps it
foreach(part IN ITEMS "needs the HIP runtime" "-DCMAKE_TOOLCHAIN_FILE=${SOURCE}/build/toolchain/toolchain.cmake"
                      "-DWAVETILE_HIP_LIBRARY=${SOURCE}/build/sim/wavesim/libamdhip64.so")
  expect_text("${refused_output}" "${part}")
endforeach()
expect_no_text("${refused_output}" "presets")
