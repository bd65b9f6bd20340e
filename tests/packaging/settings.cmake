# Settings that cannot work stop the configuration with a line that has the name, the value and what is allowed, and
# unusual ones that can work do not:
#   cmake -DSOURCE=<wavetile> -DWORK=<scratch folder> -DSETTINGS=<cache settings, separated by |> -P settings.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" SETTINGS "${SETTINGS}")
file(REMOVE_RECURSE ${WORK})
set(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build --fresh -G Ninja
    -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release -DREPORT=ON ${SETTINGS})

function(refused setting)
  step(refused FAILS ${configure} "${setting}")
  string(REGEX REPLACE "[ \n]+" " " text "${refused_output}") # CMake wraps it
  foreach(part IN ITEMS "wavetile" "allowed" LISTS ARGN)
    expect_text("${text}" "${part}")
  endforeach()
endfunction()

refused(-DWAVETILE_HIP_LIBRARY=${WORK}/none/libamdhip64.so "WAVETILE_HIP_LIBRARY is '${WORK}/none/libamdhip64.so'")
refused("-DWAVETILE_HIP_LIBRARY=amdhip64\;${WORK}/none.so" "WAVETILE_HIP_LIBRARY is '${WORK}/none.so'")
refused(-DWAVETILE_HIP_LIBRARY=${WORK} "WAVETILE_HIP_LIBRARY is '${WORK}', which is no file")

refused("-DCMAKE_HIP_ARCHITECTURES=gfx1100\;gfx9420" "'gfx1100, gfx9420', from CMAKE_HIP_ARCHITECTURES")
# Every architecture that has a description.
file(STRINGS ${SOURCE}/include/wavetile/arch/targets.hpp names REGEX "value.name = \"gfx")
list(LENGTH names count)
if(count LESS 4)
  message(FATAL_ERROR "targets.hpp should name its architectures, this was found: ${names}")
endif()
step(refused FAILS ${configure} -DCMAKE_HIP_ARCHITECTURES=gfx908)
string(REGEX REPLACE "[ \n]+" " " text "${refused_output}")
string(REGEX MATCH "allowed, .*" allowed "${text}")
foreach(line IN LISTS names)
  string(REGEX MATCH "gfx[^\"]*" name "${line}")
  expect_text("${allowed}" " ${name}")
endforeach()

function(accepted setting)
  step(accepted ${configure} "${setting}" ${ARGN})
  set(accepted_output "${accepted_output}" PARENT_SCOPE)
endfunction()
accepted(-DCMAKE_HIP_ARCHITECTURES=gfx942:sramecc+:xnack-)
accepted(-DCMAKE_HIP_ARCHITECTURES=native)
accepted("-DCMAKE_HIP_ARCHITECTURES=gfx1100\;gfx942")
expect_text("${accepted_output}" "there are no kernels for gfx1100, operators refuse it")
accepted(-DCMAKE_HIP_ARCHITECTURES=gfx942,gfx90a)
accepted(-DWAVETILE_HIP_LIBRARY=amdhip64) # the linker knows where
accepted("-DWAVETILE_HIP_LIBRARY=-L/somewhere\;-lamdhip64")
accepted("-DWAVETILE_HIP_LIBRARY=-L/somewhere -lamdhip64")
accepted(-DWAVETILE_HIP_LIBRARY=${WORK}/build/later/libamdhip64.so) # of the project's own build

refused(-DCONTRACT=${WORK}/none.json "wavetile_kernel_report(consumer): CONTRACT is '${WORK}/none.json'")
refused(-DCONTRACT=${WORK} "CONTRACT is '${WORK}', which is no file")
accepted(-DCONTRACT=made.json -DMADE_CONTRACT=ON)
accepted(-DCONTRACT=$<CONFIG>.json)
