# Arguments that the CMake functions do not know, and keywords with nothing behind them, stop with a line that names
# the function, its target and the argument:   cmake -DSOURCE=<wavetile> -P arguments.cmake
cmake_minimum_required(VERSION 3.25)
if(CALL) # one call in a process of its own
  function(find_package) # needs a project
  endfunction()
  foreach(file IN ITEMS hip kernel_report dev)
    include(${SOURCE}/cmake/wavetile_${file}.cmake)
  endforeach()
  cmake_language(EVAL CODE "${CALL}")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

function(refused call)
  step(refused FAILS COMMAND ${CMAKE_COMMAND} -DSOURCE=${SOURCE} "-DCALL=${call}" -P ${CMAKE_CURRENT_LIST_DIR}/arguments.cmake)
  string(REGEX REPLACE "[ \n]+" " " text "${refused_output}") # CMake wraps it
  foreach(part IN LISTS ARGN)
    expect_text("${text}" "${part}")
  endforeach()
endfunction()

refused("wavetile_hip_target(mine ARCHITECTURE gfx90a)"
        "wavetile_hip_target(mine): unknown ARCHITECTURE, gfx90a" "allowed: ARCHITECTURES <arch>")
refused("wavetile_hip_target(mine ARCHITECTURES)" "wavetile_hip_target(mine): nothing follows ARCHITECTURES")
refused("wavetile_hip_target(mine)" "'mine' is no target")
refused("wavetile_add_hip_executable(mine SOURCE a.hip)"
        "wavetile_add_hip_executable(mine): unknown SOURCE, a.hip" "allowed: SOURCES <file>..., LIBRARIES")
refused("wavetile_add_hip_executable(mine SOURCES a.hip OPTIONS LIBRARIES)" "nothing follows" "OPTIONS" "LIBRARIES")
refused("wavetile_add_hip_executable(mine)" "wavetile_add_hip_executable(mine): no SOURCES")
refused("wavetile_kernel_report(mine CONTRAKT a.json)"
        "wavetile_kernel_report(mine): unknown CONTRAKT, a.json" "allowed: CONTRACT <file>")
refused("wavetile_kernel_report(mine CONTRACT)" "wavetile_kernel_report(mine): nothing follows CONTRACT")
foreach(kind IN ITEMS host hip)
  refused("wavetile_add_${kind}_test(mine LABEL x)" "wavetile_add_${kind}_test(mine): unknown LABEL, x"
          "SOURCES, LIBRARIES")
  refused("wavetile_add_${kind}_test(mine SOURCES)" "wavetile_add_${kind}_test(mine): nothing follows SOURCES")
endforeach()
