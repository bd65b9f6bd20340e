# A g++ project that has enabled CMake's HIP language: the library adds no device flag to C++ sources.
#
#   cmake -DSOURCE=<wavetile> -DWORK=<scratch folder> -DGXX=<g++> -DHIPCXX=<clang++> -DROCM=<root>
#         -DDEVICE_LIBS=<folder or empty> -DRUNTIME=<libamdhip64.so> -DRUNNER=<command, separated by |>
#         -P hip_language.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
string(REPLACE "|" ";" RUNNER "${RUNNER}")
file(REMOVE_RECURSE ${WORK})

# CMake looks for <root>/lib/cmake/hip-lang and a runtime library. Debian's packages have the former in a
# multiarch folder (and count folders from there) and the latter elsewhere, so they get a root made of links.
set(root ${ROCM})
file(GLOB debian_package ${ROCM}/lib/*/cmake/hip-lang)
if(NOT EXISTS ${ROCM}/lib/cmake/hip-lang AND debian_package)
  set(root ${WORK}/rocm)
  file(GLOB library_dir RELATIVE ${ROCM} ${ROCM}/lib/*-linux-gnu)
  file(MAKE_DIRECTORY ${root} ${WORK}/${library_dir})
  foreach(folder IN ITEMS include share)
    file(CREATE_LINK ${ROCM}/${folder} ${root}/${folder} SYMBOLIC)
    file(CREATE_LINK ${ROCM}/${folder} ${WORK}/${folder} SYMBOLIC)
  endforeach()
  file(COPY ${debian_package} DESTINATION ${root}/lib/cmake)
  file(GLOB targets ${debian_package}/hip-lang-targets-*.cmake)
  file(STRINGS ${targets} location REGEX "IMPORTED_LOCATION")
  string(REGEX REPLACE ".*/(libamdhip64[^\"]*)\".*" "\\1" library "${location}")
  file(CREATE_LINK ${RUNTIME} ${WORK}/${library_dir}/${library} SYMBOLIC)
  file(CREATE_LINK ${RUNTIME} ${root}/lib/libamdhip64.so SYMBOLIC)
endif()
set(flags --rocm-path=${root})
if(DEVICE_LIBS)
  string(APPEND flags " --rocm-device-lib-path=${DEVICE_LIBS}")
endif()

step(configure COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G Ninja
     -DUSE_HIP_LANGUAGE=ON -DWAY=add_subdirectory -DWAVETILE_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release
     -DCMAKE_CXX_COMPILER=${GXX} -DCMAKE_HIP_COMPILER=${HIPCXX} -DCMAKE_HIP_COMPILER_ROCM_ROOT=${root}
     -DCMAKE_HIP_FLAGS=${flags} -DCMAKE_HIP_ARCHITECTURES=gfx942)
file(READ ${WORK}/build/compile_commands.json commands)
compile_command("${commands}" main.cpp host_command)
compile_command("${commands}" kernel.hip device_command)
foreach(flag IN ITEMS --offload-arch -xhip "-x hip" -fgpu --rocm)
  expect_no_text("${host_command}" "${flag}")
endforeach()
expect_text("${host_command}" "${GXX}")
expect_text("${device_command}" "--offload-arch=gfx942")

step(build COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consumer)
step(run COMMAND ${RUNNER} ${WORK}/build/consumer)
expect_text("${run_output}" "0 wrong results")
