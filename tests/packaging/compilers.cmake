# Ways to compile HIP where ROCm is installed: CMake's HIP language beside g++, amdclang++ with nothing
# but CMAKE_PREFIX_PATH to say where ROCm is, and hipcc, for which every .cpp file is HIP.
#
#   cmake -DWAY=hip_language|amdclang|hipcc -DSOURCE=<wavetile> -DWORK=<scratch folder> -DGXX=<g++>
#         -DCOMPILER=<clang++> -DROCM=<root> -DDEVICE_LIBS=<folder or empty> -DRUNTIME=<libamdhip64.so>
#         -DRUNNER=<command, separated by |> -P compilers.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/rocm_root.cmake)
string(REPLACE "|" ";" RUNNER "${RUNNER}")
file(REMOVE_RECURSE ${WORK})
rocm_root(root WORK ${WORK} ROCM ${ROCM} DEVICE_LIBS "${DEVICE_LIBS}" COMPILER ${COMPILER} RUNTIME ${RUNTIME})

if(WAY STREQUAL "hip_language")
  set(settings -DUSE_HIP_LANGUAGE=ON -DCMAKE_CXX_COMPILER=${GXX} -DCMAKE_HIP_COMPILER=${COMPILER}
      -DCMAKE_HIP_COMPILER_ROCM_ROOT=${root} -DCMAKE_HIP_FLAGS=--rocm-path=${root})
  # An architecture that nobody named, as CMake finds one, does not stop a project.
  step(found COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/found -G Ninja
       -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release ${settings}
       -DCMAKE_HIP_ARCHITECTURES=gfx906)
  string(REGEX REPLACE "[ \n]+" " " text "${found_output}") # CMake wraps it
  expect_text("${text}" "CMake Warning")
  expect_text("${text}" "there are no kernels for 'gfx906', from CMAKE_HIP_ARCHITECTURES; allowed")
  expect_text("${text}" "operators will refuse to run")
  list(APPEND settings -DCMAKE_HIP_ARCHITECTURES=gfx942)
  set(host_compiler ${GXX})
elseif(WAY STREQUAL "hipcc")
  set(settings -DUSE_HIPCC=ON -DCMAKE_CXX_COMPILER=${root}/bin/hipcc
      -DCMAKE_CXX_FLAGS=--offload-arch=gfx942)
else()
  set(settings -DCMAKE_CXX_COMPILER=${root}/bin/amdclang++ -DCMAKE_PREFIX_PATH=${root})
  set(host_compiler ${root}/bin/amdclang++)
endif()
step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G Ninja
     -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release ${settings})

# The library adds no device flag to C++ sources.
file(READ ${WORK}/build/compile_commands.json commands)
if(NOT WAY STREQUAL "hipcc")
  compile_command("${commands}" main.cpp host_command)
  compile_command("${commands}" kernel.hip device_command)
  foreach(flag IN ITEMS --offload-arch -xhip "-x hip" -fgpu --rocm)
    expect_no_text("${host_command}" "${flag}")
  endforeach()
  expect_text("${host_command}" "${host_compiler}")
  expect_text("${device_command}" "--offload-arch=gfx942")
endif()

step(build COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consumer)
step(run COMMAND ${RUNNER} ${WORK}/build/consumer)
expect_text("${run_output}" "0 wrong results")
