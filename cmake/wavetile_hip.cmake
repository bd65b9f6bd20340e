# Device programs without CMake's HIP language: .hip sources are compiled by the C++ compiler (clang++,
# amdclang++ or hipcc) with -x hip. In a project that has enabled HIP as a language they are left to it.
# These functions are for users too; nothing here touches a variable,
# a flag or a cache entry of the including project except the WAVETILE_* entries below.
#
#   wavetile_add_hip_executable(<name> SOURCES <file>... [LIBRARIES <lib>...] [OPTIONS <flag>...]
#                               [ARCHITECTURES <arch>...])
#   wavetile_hip_target(<target> [ARCHITECTURES <arch>...])   same treatment for an existing target
#   wavetile_find_hip(<out-var>)                              whether device code can be compiled
#
# Architectures: the argument, else CMAKE_HIP_ARCHITECTURES, else gfx942. No device is ever probed.
include_guard(GLOBAL)

# Where HIP's headers are: WAVETILE_ROCM_PATH, ROCM_PATH, HIP_PATH, CMAKE_PREFIX_PATH, /opt/rocm, /usr.
function(_wavetile_locate_rocm)
  find_path(WAVETILE_HIP_INCLUDE_DIR hip/hip_runtime.h
            HINTS ${WAVETILE_ROCM_PATH} ENV ROCM_PATH ENV HIP_PATH
            PATHS /opt/rocm PATH_SUFFIXES include
            DOC "Folder that holds hip/hip_runtime.h")
  mark_as_advanced(WAVETILE_HIP_INCLUDE_DIR)
endfunction()

function(_wavetile_rocm_root out)
  cmake_path(GET WAVETILE_HIP_INCLUDE_DIR PARENT_PATH root)
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# A function, because a variable would be known only where this file was included first.
function(_wavetile_hip_help out)
  set(${out} "Set CMAKE_PREFIX_PATH (or ROCM_PATH) to a ROCm 6.4 or newer, or run \
cmake/setup-toolchain.sh and use the presets." PARENT_SCOPE)
endfunction()

# A project may compile its device code with CMake's own HIP language instead.
function(_wavetile_uses_hip_language out)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("HIP" IN_LIST languages)
    set(${out} ON PARENT_SCOPE)
  else()
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# Device code needs HIP's headers, and a clang to compile it.
function(wavetile_find_hip out)
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    set(${out} ON PARENT_SCOPE)
    return()
  endif()
  _wavetile_locate_rocm()
  if(WAVETILE_HIP_INCLUDE_DIR AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(${out} ON PARENT_SCOPE)
  else()
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# Stops with the one message that says what to do, unless device code can be compiled for `purpose`.
function(wavetile_require_hip purpose)
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    return()
  endif()
  _wavetile_locate_rocm()
  if(NOT WAVETILE_HIP_INCLUDE_DIR)
    _wavetile_hip_help(help)
    message(FATAL_ERROR "wavetile: ${purpose} needs HIP, and hip/hip_runtime.h was not found. ${help}")
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "wavetile: ${purpose} needs HIP, which ${CMAKE_CXX_COMPILER} cannot compile. "
                        "Set CMAKE_CXX_COMPILER to clang++, amdclang++ or hipcc.")
  endif()
endfunction()

# The runtime: wavesim where this build makes one, else ROCm's library.
function(_wavetile_link_hip target)
  _wavetile_rocm_root(root)
  if(TARGET wavesim_hip)
    target_link_libraries(${target} PRIVATE wavesim_hip)
    # The program must find whatever runtime it is started with, so it carries no path to wavesim.
    set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH TRUE)
    return()
  endif()
  find_library(WAVETILE_HIP_LIBRARY amdhip64 HINTS ${root} PATH_SUFFIXES lib lib64
               DOC "The HIP runtime, libamdhip64.so")
  mark_as_advanced(WAVETILE_HIP_LIBRARY)
  if(WAVETILE_HIP_LIBRARY)
    target_link_libraries(${target} PRIVATE ${WAVETILE_HIP_LIBRARY})
  else()
    _wavetile_hip_help(help)
    message(FATAL_ERROR "wavetile: target '${target}' needs the HIP runtime libamdhip64.so, and there is "
                        "none under ${root}. ${help} On a machine without a GPU, "
                        "WAVETILE_SIM=ON builds one.")
  endif()
endfunction()

# Says once for each choice what device code is compiled for and why, and what a generic one leaves out. Without a
# flag clang takes gfx906, which none of this is for, so a target of ours always has one.
function(_wavetile_say_architectures architectures why)
  list(JOIN architectures ", " text)
  set(text "${text}, ${why}")
  get_property(said GLOBAL PROPERTY WAVETILE_SAID_ARCHITECTURES)
  if("${text}" IN_LIST said)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY WAVETILE_SAID_ARCHITECTURES "${text}")
  message(STATUS "wavetile: device code for ${text}")
  if(architectures MATCHES "generic")
    message(WARNING "wavetile: device code for ${text}: a generic architecture has neither fp8 nor xf32 matrix "
                    "instructions, and what the library knows of a gfx942 is not used; name gfx942 for an MI300X")
  endif()
endfunction()

function(wavetile_hip_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARCHITECTURES")
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    wavetile_cuda_target(${target})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  _wavetile_uses_hip_language(hip_language)
  if(hip_language)
    # The project has enabled HIP: .hip files are HIP already, and CMake brings the runtime.
    if(arg_ARCHITECTURES)
      set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES "${arg_ARCHITECTURES}")
      _wavetile_say_architectures("${arg_ARCHITECTURES}" "as the target '${target}' asks for")
    elseif(CMAKE_HIP_ARCHITECTURES)
      _wavetile_say_architectures("${CMAKE_HIP_ARCHITECTURES}" "from CMAKE_HIP_ARCHITECTURES")
    else()
      set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES gfx942)
      _wavetile_say_architectures(gfx942 "as none is named (CMAKE_HIP_ARCHITECTURES does)")
    endif()
    return()
  endif()
  wavetile_require_hip("target '${target}'")

  if(arg_ARCHITECTURES)
    set(architectures ${arg_ARCHITECTURES})
    _wavetile_say_architectures("${architectures}" "as the target '${target}' asks for")
  elseif(CMAKE_HIP_ARCHITECTURES)
    set(architectures ${CMAKE_HIP_ARCHITECTURES})
    _wavetile_say_architectures("${architectures}" "from CMAKE_HIP_ARCHITECTURES")
  else()
    set(architectures gfx942)
    _wavetile_say_architectures("${architectures}" "as none is named (CMAKE_HIP_ARCHITECTURES does)")
  endif()
  list(TRANSFORM architectures PREPEND "--offload-arch=")
  _wavetile_rocm_root(root)
  set(options ${architectures} --rocm-path=${root})
  if(WAVETILE_DEVICE_LIB_PATH)
    list(APPEND options --rocm-device-lib-path=${WAVETILE_DEVICE_LIB_PATH})
  endif()
  set_target_properties(${target} PROPERTIES WAVETILE_HIP_OPTIONS "${options}")
  target_compile_definitions(${target} PRIVATE __HIP_PLATFORM_AMD__)
  target_include_directories(${target} SYSTEM PRIVATE ${WAVETILE_HIP_INCLUDE_DIR})

  # A source may serve several targets, so what differs between them is read from the target.
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.hip$")
      get_source_file_property(present ${source} COMPILE_OPTIONS)
      if(NOT present)
        set(present "")
      endif()
      if(NOT "-xhip" IN_LIST present)
        list(APPEND present -xhip $<TARGET_PROPERTY:WAVETILE_HIP_OPTIONS>)
      endif()
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${present}")
    endif()
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY")
    get_target_property(compile_options ${target} COMPILE_OPTIONS)
    if("-fgpu-rdc" IN_LIST compile_options) # device code is then linked too; the runtime is named below
      target_link_options(${target} PRIVATE --hip-link -fgpu-rdc -no-hip-rt ${options})
    endif()
    _wavetile_link_hip(${target})
  endif()
endfunction()

function(wavetile_add_hip_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;OPTIONS;ARCHITECTURES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE wavetile::wavetile ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  wavetile_hip_target(${name} ARCHITECTURES ${arg_ARCHITECTURES})
endfunction()
