# For this project's own targets only: warnings as errors, output folders, tests.
#
#   wavetile_add_host_test(<name> SOURCES <file>... [LIBRARIES <lib>...] [OPTIONS <flag>...]
#                          [LABELS <label>...])
#   wavetile_add_hip_test(<name> SOURCES <file>... [LIBRARIES <lib>...] [OPTIONS <flag>...]
#                         [LABELS <label>...] [ARCHITECTURES <arch>...] [TIMEOUT <seconds>] [AMD_ONLY]
#                         [ENVIRONMENT <name=value>...])
#
#   wavetile_hip_command(<out-var>)   the compiler and its flags for a HIP file, without an architecture
#
# With WAVETILE_SIM a device test is registered as <name>.threads1 and <name>.threads2, each started
# by wavesim with that many executor threads, and as <name>.checked under all of wavesim's checks;
# otherwise as <name>, started directly.
include_guard(GLOBAL)
# Registered with what is known to be found, by tests/peers/CMakeLists.txt.
set(wavetile_checked_elsewhere peers_rocprim_select)
# Cases that run without checks. tests/wavesim/checks/README.md says why for each, and the test
# checked_programs compares the two.
set(wavetile_checked_filter_matmul_rules_test -matmul_batches.one_more_than_65535)
set(wavetile_checked_filter_wavesim_hip_faults
    -Faults.OutOfBounds:Faults.FreedAndHostMemory:Faults.StackOverflow)
set(wavetile_checked_filter_wavesim_hip_streams -Events.ElapsedTimeIsTheHostsClock)
find_package(Threads REQUIRED)
if(WAVETILE_BUILD_TESTS)
  if(WAVETILE_GOOGLETEST_SOURCE) # where it is not installed: its sources
    add_subdirectory(${WAVETILE_GOOGLETEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  else()
    find_package(GTest REQUIRED)
  endif()
endif()

function(wavetile_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX,HIP>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-restrict;-Werror=all-warnings>)
endfunction()

# Settings shared by every program this project builds for itself.
function(wavetile_own_program target)
  wavetile_warnings(${target})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF
                                             RUNTIME_OUTPUT_DIRECTORY ${wavetile_BINARY_DIR}/bin)
endfunction()

function(wavetile_add_host_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;OPTIONS;LABELS")
  _wavetile_check_arguments(${name} "SOURCES, LIBRARIES, OPTIONS, LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE wavetile::wavetile ${arg_LIBRARIES} GTest::gtest_main
                                        Threads::Threads)
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  wavetile_own_program(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "host;${arg_LABELS}" TIMEOUT 300)
endfunction()

# The real operators, called on a host runtime that only records (tests/launch/mock_runtime.hpp).
function(wavetile_add_recorded_test name)
  if(NOT TARGET mock_runtime OR NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;ARCHITECTURES")
  _wavetile_check_arguments(${name} "SOURCES, ARCHITECTURES")
  if(arg_ARCHITECTURES)
    list(PREPEND arg_ARCHITECTURES ARCHITECTURES)
  endif()
  add_library(${name}_objects OBJECT ${arg_SOURCES})
  target_link_libraries(${name}_objects PRIVATE wavetile::wavetile mock_runtime GTest::gtest)
  target_include_directories(${name}_objects PRIVATE ${wavetile_SOURCE_DIR}/tests/launch)
  wavetile_hip_target(${name}_objects ${arg_ARCHITECTURES})
  wavetile_warnings(${name}_objects)
  wavetile_add_host_test(${name} SOURCES $<TARGET_OBJECTS:${name}_objects> LIBRARIES mock_runtime)
  # All its sources are objects: nothing else tells CMake how to link.
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# For tests that run the compiler themselves.
function(wavetile_hip_command out)
  _wavetile_rocm_root(root)
  set(command ${CMAKE_CXX_COMPILER} -x hip --rocm-path=${root} -isystem ${root}/include
              -D__HIP_PLATFORM_AMD__)
  if(WAVETILE_DEVICE_LIB_PATH)
    list(APPEND command --rocm-device-lib-path=${WAVETILE_DEVICE_LIB_PATH})
  endif()
  set(${out} ${command} PARENT_SCOPE)
endfunction()

# Registers an already built device program with CTest; extra arguments go to the program.
function(wavetile_register_hip_test name target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "LABELS;ARGS;ENVIRONMENT")
  _wavetile_check_arguments(${name} "TIMEOUT, LABELS, ARGS, ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  if(TARGET wavesim)
    foreach(threads IN ITEMS 1 2)
      add_test(NAME ${name}.threads${threads}
               COMMAND wavesim --threads ${threads} -- $<TARGET_FILE:${target}> ${arg_ARGS})
      set_tests_properties(${name}.threads${threads}
                           PROPERTIES LABELS "hip;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                                      PROCESSORS ${threads} ENVIRONMENT "${arg_ENVIRONMENT}")
    endforeach()
    if(NOT name IN_LIST wavetile_checked_elsewhere)
      set(filter)
      if(wavetile_checked_filter_${name})
        set(filter --gtest_filter=${wavetile_checked_filter_${name}})
      endif()
      add_test(NAME ${name}.checked
               COMMAND wavesim --check --threads 2 -- $<TARGET_FILE:${target}> ${arg_ARGS} ${filter})
      set_tests_properties(${name}.checked
                           PROPERTIES LABELS "hip;checked;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                                      PROCESSORS 2 ENVIRONMENT "${arg_ENVIRONMENT}")
    endif()
  else()
    add_test(NAME ${name} COMMAND ${target} ${arg_ARGS})
    set_tests_properties(${name} PROPERTIES LABELS "hip;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                                            ENVIRONMENT "${arg_ENVIRONMENT}")
    if(arg_ENVIRONMENT MATCHES "WAVESIM_MEMORY") # needs much memory: one of these at a time, beside all others
      set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu_memory)
    endif()
  endif()
endfunction()

function(wavetile_add_hip_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AMD_ONLY" "TIMEOUT"
                        "SOURCES;LIBRARIES;OPTIONS;LABELS;ARCHITECTURES;ENVIRONMENT")
  _wavetile_check_arguments(${name} "SOURCES, LIBRARIES, OPTIONS, LABELS, ARCHITECTURES, TIMEOUT, AMD_ONLY, ENVIRONMENT")
  if(arg_AMD_ONLY AND WAVETILE_PLATFORM STREQUAL "cuda")
    return()
  endif()
  wavetile_find_hip(hip_ready)
  if(NOT hip_ready)
    set_property(GLOBAL APPEND PROPERTY WAVETILE_SKIPPED_HIP_TESTS ${name})
    return()
  endif()
  foreach(keyword IN ITEMS OPTIONS ARCHITECTURES TIMEOUT LABELS ENVIRONMENT) # those that are there, passed on
    if(DEFINED arg_${keyword})
      list(PREPEND arg_${keyword} ${keyword})
    endif()
  endforeach()
  wavetile_add_hip_executable(${name} SOURCES ${arg_SOURCES}
                              LIBRARIES ${arg_LIBRARIES} GTest::gtest_main Threads::Threads
                              ${arg_OPTIONS} ${arg_ARCHITECTURES})
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    target_include_directories(${name} PRIVATE ${wavetile_SOURCE_DIR}/tests/support/cuda)
  endif()
  wavetile_own_program(${name})
  set_property(GLOBAL APPEND PROPERTY WAVETILE_HIP_TESTS ${name})
  wavetile_register_hip_test(${name} ${name} ${arg_TIMEOUT} ${arg_LABELS} ${arg_ENVIRONMENT})
endfunction()
