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
# Architectures: the argument, else CMAKE_HIP_ARCHITECTURES, else gfx942. No device is ever probed. An argument that
# is not known, or a keyword with nothing behind it, is an error; kernels without optimisation are a warning.
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
  set(help "Set CMAKE_PREFIX_PATH (or ROCM_PATH) to a ROCm 6.4 or newer, or, without ROCm, run ")
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH checkout)
  if(NOT EXISTS ${checkout}/cmake/setup-toolchain.sh) # an installed package
    set(checkout "<checkout of wavetile>")
  endif()
  if(CMAKE_SOURCE_DIR STREQUAL checkout)
    string(APPEND help "cmake/setup-toolchain.sh and use the presets.")
  else()
    string(APPEND help "${checkout}/cmake/setup-toolchain.sh and configure this project anew with "
                       "-DCMAKE_TOOLCHAIN_FILE=${checkout}/build/toolchain/toolchain.cmake; the runtime is then "
                       "wavesim's, which the target wavesim_hip of the checkout's preset sim builds: "
                       "-DWAVETILE_HIP_LIBRARY=${checkout}/build/sim/wavesim/libamdhip64.so.")
  endif()
  set(${out} "${help}" PARENT_SCOPE)
endfunction()

# Stops where the caller was given what cmake_parse_arguments, with the prefix "arg", did not understand, or a keyword
# without what belongs behind it.
macro(_wavetile_check_arguments subject allowed)
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS ", " _wavetile_text)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION}(${subject}): unknown ${_wavetile_text}; allowed: ${allowed}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES ", " _wavetile_text)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION}(${subject}): nothing follows ${_wavetile_text}; leave it out, or name "
                        "what it takes")
  endif()
endmacro()

# Without a build type CMake optimises nothing, and kernels of -O0 are of no use: said once for each project.
function(_wavetile_check_optimisation target)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_property(said GLOBAL PROPERTY WAVETILE_SAID_OPTIMISATION)
  if(multi_config OR said OR NOT "${CMAKE_BUILD_TYPE}" STREQUAL "")
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(NOT " ${CMAKE_CXX_FLAGS} ${CMAKE_HIP_FLAGS} ${options}" MATCHES "[ ;:,]-O")
    set_property(GLOBAL PROPERTY WAVETILE_SAID_OPTIMISATION ON)
    message(WARNING "wavetile: target '${target}': kernels are compiled with -O0, as CMAKE_BUILD_TYPE is empty and no "
                    "flag says -O; configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
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
  # Flags, and names without a folder, are the linker's, and what lies in this project's build tree may be made later.
  foreach(part IN LISTS WAVETILE_HIP_LIBRARY)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${part}" NORMALIZE made_here)
    if(IS_DIRECTORY "${part}" OR (part MATCHES "^[^-$][^$]*/|^/" AND NOT made_here AND NOT EXISTS "${part}"))
      message(FATAL_ERROR "wavetile: WAVETILE_HIP_LIBRARY is '${part}', which is no file; allowed: the HIP runtime, a "
                          "libamdhip64.so that is there (wavesim's once a checkout of wavetile has built it: "
                          "cmake --preset sim && cmake --build --preset sim --target wavesim_hip)")
    endif()
  endforeach()
  if(WAVETILE_HIP_LIBRARY)
    target_link_libraries(${target} PRIVATE ${WAVETILE_HIP_LIBRARY})
  else()
    _wavetile_hip_help(help)
    message(FATAL_ERROR "wavetile: target '${target}' needs the HIP runtime libamdhip64.so, and there is "
                        "none under ${root}. ${help} On a machine without a GPU, "
                        "WAVETILE_SIM=ON builds one; WAVETILE_HIP_LIBRARY names one that is there.")
  endif()
endfunction()

# Those of a list that the library has no kernels for. Beside one with kernels others may stand, and operators refuse to
# run there. Where that is all of them it says so by a message of type `severity`.
function(_wavetile_without_kernels architectures why severity out)
  set(allowed gfx90a gfx942 gfx950 gfx9-4-generic) # those of include/wavetile/arch/targets.hpp
  string(REPLACE "," ";" architectures "${architectures}") # as clang's --offload-arch takes them
  set(without)
  foreach(architecture IN LISTS architectures)
    string(REGEX REPLACE ":.*" "" name "${architecture}") # features, as in gfx942:sramecc+:xnack-
    if(NOT name IN_LIST allowed AND NOT name MATCHES "^native$|[$]<")
      list(APPEND without ${architecture})
    endif()
  endforeach()
  if("${without}" STREQUAL "${architectures}")
    list(JOIN architectures ", " text)
    list(JOIN allowed ", " allowed)
    set(hint)
    if(severity STREQUAL WARNING)
      set(hint "; operators will refuse to run. CMake takes what it finds where none is named: "
               "-DCMAKE_HIP_ARCHITECTURES=gfx942 is for an MI300X")
    endif()
    message(${severity} "wavetile: there are no kernels for '${text}', ${why}; allowed, with or without features, and "
                        "with others beside: ${allowed}" ${hint})
  endif()
  set(${out} "${without}" PARENT_SCOPE)
endfunction()

# Says once for each choice what device code is compiled for and why, and what a generic one leaves out. Without a
# flag clang takes gfx906, which none of this is for, so a target of ours always has one. A third argument: how severe it
# is that none has kernels, FATAL_ERROR else.
function(_wavetile_say_architectures architectures why)
  set(severity FATAL_ERROR)
  if(ARGC GREATER 2)
    set(severity ${ARGV2})
  endif()
  _wavetile_without_kernels("${architectures}" "${why}" ${severity} without)
  list(JOIN architectures ", " text)
  set(text "${text}, ${why}")
  if(without)
    list(JOIN without ", " without)
    string(APPEND text "; there are no kernels for ${without}, operators refuse it")
  endif()
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
  _wavetile_check_arguments(${target} "ARCHITECTURES <arch>...")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "wavetile_hip_target: '${target}' is no target")
  endif()
  if(WAVETILE_PLATFORM STREQUAL "cuda")
    wavetile_cuda_target(${target})
    return()
  endif()
  _wavetile_check_optimisation(${target})
  get_target_property(sources ${target} SOURCES)
  _wavetile_uses_hip_language(hip_language)
  if(hip_language)
    # The project has enabled HIP: .hip files are HIP already, and CMake brings the runtime.
    if(arg_ARCHITECTURES)
      set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES "${arg_ARCHITECTURES}")
      _wavetile_say_architectures("${arg_ARCHITECTURES}" "as the target '${target}' asks for")
    elseif(CMAKE_HIP_ARCHITECTURES)
      # which CMake itself may have filled
      _wavetile_say_architectures("${CMAKE_HIP_ARCHITECTURES}" "from CMAKE_HIP_ARCHITECTURES" WARNING)
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
  _wavetile_check_arguments(${name} "SOURCES <file>..., LIBRARIES <lib>..., OPTIONS <flag>..., ARCHITECTURES <arch>...")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "wavetile_add_hip_executable(${name}): no SOURCES")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE wavetile::wavetile ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if(arg_ARCHITECTURES)
    list(PREPEND arg_ARCHITECTURES ARCHITECTURES)
  endif()
  wavetile_hip_target(${name} ${arg_ARCHITECTURES})
endfunction()
