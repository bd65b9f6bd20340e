# What the compiler made of a target's kernels, after every build of it.
#
#   wavetile_kernel_report(<target> [CONTRACT <file>] [SELECT <regex>] [ARCHITECTURES <arch>...])
#
# Writes <target>.kernels.<arch>.txt and .json into the target's binary folder and prints a line for each kernel:
# registers, private segment, LDS, waves a SIMD; the files have the instruction mix of the kernel and of its hottest
# loop, and issue-to-wait distances. With CONTRACT the build fails when a kernel breaks it; what can stand in a
# contract is explained in kernel_report/contract.py, and `kernel_report/report.py --write-contract` writes one.
# SELECT: only kernels whose demangled name this finds. Architectures: gfx942 unless given.
#
# For executables, shared and module libraries with HIP device code. Needs python3 (3.9 or newer) and the LLVM tools of
# the compiler (llvm-readelf, llvm-objdump, llvm-cxxfilt, which ROCm brings); no GPU, and nothing else of wavetile.
include_guard(GLOBAL)

function(wavetile_kernel_report target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONTRACT;SELECT" "ARCHITECTURES")
  _wavetile_check_arguments(${target} "CONTRACT <file>, SELECT <regex>, ARCHITECTURES <arch>...")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "wavetile_kernel_report: '${target}' is no target")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
    message(FATAL_ERROR "wavetile_kernel_report: '${target}' is of type ${type}; "
                        "allowed: executables, shared and module libraries")
  endif()
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    message(STATUS "wavetile_kernel_report: nothing to report of '${target}', it is compiled for CUDA")
    return()
  endif()
  find_program(WAVETILE_PYTHON NAMES python3 python DOC "Python 3.9 or newer, for kernel reports")
  mark_as_advanced(WAVETILE_PYTHON)
  if(NOT WAVETILE_PYTHON)
    message(FATAL_ERROR "wavetile_kernel_report: no python3 was found; set WAVETILE_PYTHON")
  endif()
  set(compiler ${CMAKE_CXX_COMPILER})
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("HIP" IN_LIST languages)
    set(compiler ${CMAKE_HIP_COMPILER})
  endif()
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES gfx942)
  endif()
  set(options)
  if(arg_CONTRACT)
    cmake_path(ABSOLUTE_PATH arg_CONTRACT BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    # what lies in the build tree may be made later
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${arg_CONTRACT}" NORMALIZE made_here)
    if(IS_DIRECTORY "${arg_CONTRACT}"
       OR NOT (EXISTS "${arg_CONTRACT}" OR made_here OR "${arg_CONTRACT}" MATCHES "[$]<"))
      message(FATAL_ERROR "wavetile_kernel_report(${target}): CONTRACT is '${arg_CONTRACT}', which is no file; allowed: a "
                          "file that is there, or one in the build tree that is made later")
    endif()
    list(APPEND options --contract ${arg_CONTRACT})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${arg_CONTRACT}) # a new contract is checked, too
  endif()
  if(arg_SELECT)
    list(APPEND options --select ${arg_SELECT})
  endif()
  foreach(arch IN LISTS arg_ARCHITECTURES)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels.${arch})
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${WAVETILE_PYTHON} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernel_report/report.py --compiler ${compiler}
              --arch ${arch} --table --text ${file}.txt --json ${file}.json ${options} $<TARGET_FILE:${target}>
      COMMENT "Kernels of ${target} for ${arch}" VERBATIM)
  endforeach()
endfunction()
