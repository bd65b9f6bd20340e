# Configures, builds and runs a consumer project, then checks what it got:
#
#   cmake -DWAY=<how> -DSOURCE=<wavetile> -DBUILD=<wavetile's build> -DWORK=<scratch folder>
#         -DSETTINGS=<cache settings of the parent, separated by |> -DRUNNER=<command, separated by |>
#         -P consumer.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" SETTINGS "${SETTINGS}")
string(REPLACE "|" ";" RUNNER "${RUNNER}")

file(REMOVE_RECURSE ${WORK})
if(WAY STREQUAL "find_package" OR WAY STREQUAL "twice")
  step(install COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
endif()
step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G Ninja
     -DWAY=${WAY} -DWAVETILE_SOURCE=${SOURCE} -DWAVETILE_INSTALLED=${WORK}/installed
     -DFETCHCONTENT_SOURCE_DIR_WAVETILE=${SOURCE} -DCMAKE_BUILD_TYPE=Release -DREPORT=ON ${SETTINGS})
expect_text("${configure_output}" "after: CMAKE_CXX_FLAGS=[]")
expect_text("${configure_output}" "after: CMAKE_CXX_STANDARD=[] cache=[]")
expect_text("${configure_output}" "after: BUILD_SHARED_LIBS=[] cache=[]")

file(READ ${WORK}/build/compile_commands.json commands)
compile_command("${commands}" main.cpp host_command)
compile_command("${commands}" kernel.hip device_command)
foreach(flag IN ITEMS --offload-arch -xhip "-x hip" -fgpu --rocm -Werror -Wconversion)
  expect_no_text("${host_command}" "${flag}")
endforeach()
expect_text("${device_command}" "--offload-arch=gfx942")
foreach(flag IN ITEMS -Werror -Wconversion -ffast-math)
  expect_no_text("${device_command}" "${flag}")
endforeach()

step(build COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consumer)
if(RUNNER)
  step(run COMMAND ${RUNNER} ${WORK}/build/consumer)
  expect_text("${run_output}" "0 wrong results")
endif()

# The report of the program's kernels, and contracts: one that they keep, and one that they break.
set(kernels ${WORK}/build/consumer.kernels.gfx942)
expect_text("${build_output}" "round_to_bf16")
foreach(suffix IN ITEMS txt json)
  file(READ ${kernels}.${suffix} report)
  expect_text("${report}" "round_to_bf16")
  expect_text("${report}" "softmax_wave_rows")
endforeach()
if(WAY STREQUAL "find_package")
  string(JSON registers GET "${report}" kernels 0 vgprs)
  math(EXPR more "${registers} + 1")
  set(contract ${WORK}/contract.json)
  foreach(wanted IN ITEMS ${registers} ${more})
    file(WRITE ${contract} "{\"kernels\": [{\"match\": \"round_to_bf16\", \"private_segment\": 0},
                             {\"match\": \"\", \"vgprs\": {\"least\": 1}},
                             {\"match\": \"round_to_bf16\", \"vgprs\": ${wanted}}]}")
    step(reconfigure COMMAND ${CMAKE_COMMAND} ${WORK}/build -DCONTRACT=${contract})
    set(build ${CMAKE_COMMAND} --build ${WORK}/build --target consumer)
    if(wanted EQUAL registers)
      step(build COMMAND ${build})
      expect_text("${build_output}" "0 violations")
    else()
      step(build FAILS COMMAND ${build})
      expect_text("${build_output}" "CONTRACT BROKEN: (anonymous namespace)::round_to_bf16")
      expect_text("${build_output}" "vgprs is ${registers}, the contract says ${more}")
    endif()
  endforeach()
endif()
