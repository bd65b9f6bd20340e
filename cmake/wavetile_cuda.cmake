# Device code with nvcc instead of a HIP compiler: .hip sources are compiled as CUDA C++, and HIP's names come
# from a mapping of ours (or from HIP's own, where hip/hip_runtime.h for NVIDIA is on the include path).
#
#   wavetile_cuda_target(<target>)   flags and language of an existing target
#
# Architectures: CMAKE_CUDA_ARCHITECTURES, else 80 and 90a. No device is ever probed. Only code for 90a has wgmma, by
# which 16-bit products and attention are computed on H100 and H200; that for 90 takes mma.sync.
include_guard(GLOBAL)

if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90a)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

function(wavetile_cuda_target target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.hip$")
      set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    endif()
  endforeach()
  # Not CUDA_STANDARD: CMake 3.25 does not know that nvcc 13 has C++20.
  # 554: a conversion that its own constraint excludes; 128: loops after
  # "if constexpr ... return"; 177: functors that only kernels call
  target_compile_options(${target} PRIVATE
                         "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr;--diag-suppress=554,128,177>")
  target_link_libraries(${target} PRIVATE CUDA::cudart)
endfunction()
