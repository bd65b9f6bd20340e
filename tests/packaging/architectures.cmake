# CMAKE_HIP_ARCHITECTURES of the user wins, is never written by wavetile, and stands for gfx942 when unset:
#   cmake -DSOURCE=<wavetile> -DWORK=<scratch folder> -DSETTINGS=<cache settings, separated by |>
#         -P architectures.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" SETTINGS "${SETTINGS}")
file(REMOVE_RECURSE ${WORK})

function(check name expected)
  step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/${name} -G Ninja
       -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} ${SETTINGS} ${ARGN})
  foreach(word IN ITEMS Warning warning rocminfo amdgpu-arch rocm_agent_enumerator)
    expect_no_text("${configure_output}" ${word})
  endforeach()
  file(READ ${WORK}/${name}/compile_commands.json commands)
  compile_command("${commands}" kernel.hip command)
  string(REGEX MATCHALL "--offload-arch=[^ ]+" found "${command}")
  list(TRANSFORM found REPLACE "--offload-arch=" "")
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${name}: compiled for '${found}' instead of '${expected}'")
  endif()
  set(configure_output "${configure_output}" PARENT_SCOPE)
endfunction()

check(of_user gfx90a -DCMAKE_HIP_ARCHITECTURES=gfx90a -DCMAKE_BUILD_TYPE=Release)
expect_text("${configure_output}" "after: CMAKE_HIP_ARCHITECTURES=[gfx90a] cache=[gfx90a]")
expect_text("${configure_output}" "wavetile: device code for gfx90a, from CMAKE_HIP_ARCHITECTURES")
check(unset gfx942 -DCMAKE_CXX_FLAGS=-O2)
expect_text("${configure_output}" "wavetile: device code for gfx942, as none is named")
expect_text("${configure_output}" "after: CMAKE_HIP_ARCHITECTURES=[] cache=[]")
check(several "gfx942;gfx950" "-DCMAKE_HIP_ARCHITECTURES=gfx942\;gfx950" -DCMAKE_BUILD_TYPE=Debug)
expect_text("${configure_output}" "after: CMAKE_HIP_ARCHITECTURES=[gfx942;gfx950] cache=[gfx942;gfx950]")

# What is compiled for, and why, is said once; a generic architecture is warned about, and so is
# a project that has neither a build type nor a flag for optimisation.
step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/generic -G Ninja
     -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} ${SETTINGS} -DCMAKE_HIP_ARCHITECTURES=gfx9-4-generic)
expect_text("${configure_output}" "neither") # CMake wraps the warning
string(REGEX REPLACE "[ \n]+" " " text "${configure_output}")
expect_text("${text}" "kernels are compiled with -O0, as CMAKE_BUILD_TYPE is empty")
