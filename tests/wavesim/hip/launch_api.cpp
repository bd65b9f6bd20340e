#include "hip/entry.hpp"
#include "hip/handles.hpp"
#include "hip/kernel_launch.hpp"
#include "hip/registry.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <fmt/format.h>

namespace wavesim::hip {

namespace {

struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
  void* const* arguments = nullptr;
  void* const* extra = nullptr;
  bool cooperative = false;
  hipEvent_t start = nullptr, stop = nullptr;
};

/// A launch that never came as far as its kernel's own checks.
hipError_t refused(hipError_t error, const std::string& why) {
  note("launch refused: " + why);
  return error;
}

hipError_t refused_handle(const void* handle, const char* what) {
  return refused(hipErrorInvalidHandle, fmt::format("{} is {}", handle, what));
}

hipError_t launch(ihipModuleSymbol_t& function, const void* given, const Launch& what,
                  LaunchCall call_family) {
  WAVESIM_HIP_TRY(check_launch(function, what.grid, what.block, what.shared_bytes, what.cooperative,
                               call_family));
  for (const hipEvent_t event : {what.start, what.stop})
    if (event && !handles<ihipEvent_t>().alive(event))
      return refused_handle(event, "no event");
  KernelOperation operation;
  operation.function = &function;
  operation.given_function = given;
  operation.grid = what.grid;
  operation.block = what.block;
  operation.shared_bytes = static_cast<unsigned>(what.shared_bytes);
  operation.cooperative = what.cooperative;
  WAVESIM_HIP_TRY(
      gather_arguments(*function.kernel, what.arguments, what.extra, operation.arguments));
  if (what.start)
    WAVESIM_HIP_TRY(enqueue(what.stream, EventRecordOperation{what.start}));
  WAVESIM_HIP_TRY(enqueue(what.stream, std::move(operation)));
  return what.stop ? enqueue(what.stream, EventRecordOperation{what.stop}) : hipSuccess;
}

hipError_t launch_stub(const void* host_function, const Launch& what) {
  const ihipStream_t* stream = stream_of(what.stream);
  if (!stream)
    return refused_handle(what.stream, "no stream");
  ihipModuleSymbol_t* function = nullptr;
  if (const hipError_t error = registered_function(host_function, stream->device, function);
      error != hipSuccess)
    return refused(
        error, fmt::format("{} is no kernel of this program with code for gfx942", host_function));
  return launch(*function, host_function, what, LaunchCall::runtime);
}

hipError_t launch_handle(hipFunction_t function, const Launch& what) {
  ihipModuleSymbol_t* found = nullptr;
  const ihipStream_t* stream = stream_of(what.stream);
  if (!stream)
    return refused_handle(what.stream, "no stream");
  if (!function || resolve_function(function, stream->device, found) != hipSuccess)
    return refused_handle(function, "no kernel");
  return launch(*found, function, what, LaunchCall::module);
}

/// Dimensions given in work-items, as the Ext calls do.
hipError_t launch_items(hipFunction_t function, dim3 items, Launch what) {
  const dim3 b = what.block;
  if (b.x == 0 || b.y == 0 || b.z == 0)
    return refused(hipErrorInvalidValue,
                   fmt::format("block ({}, {}, {}) has no work-items", b.x, b.y, b.z));
  if (items.x % b.x != 0 || items.y % b.y != 0 || items.z % b.z != 0)
    return refused(hipErrorInvalidValue,
                   fmt::format("({}, {}, {}) work-items are no multiple of the block ({}, {}, {})",
                               items.x, items.y, items.z, b.x, b.y, b.z));
  what.grid = dim3(items.x / b.x, items.y / b.y, items.z / b.z);
  return launch_handle(function, what);
}

Launch make_launch(dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream,
                   void* const* arguments, void* const* extra = nullptr, bool cooperative = false) {
  Launch what;
  what.grid = grid;
  what.block = block;
  what.shared_bytes = shared_bytes;
  what.stream = stream;
  what.arguments = arguments;
  what.extra = extra;
  what.cooperative = cooperative;
  return what;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                                         size_t sharedMem, hipStream_t stream) {
  return call_without_device([&] {
    thread_state().configurations.push_back({gridDim, blockDim, sharedMem, stream});
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t __hipPopCallConfiguration(dim3* gridDim, dim3* blockDim,
                                                        size_t* sharedMem, hipStream_t* stream) {
  return call_without_device([&] {
    auto& stack = thread_state().configurations;
    if (stack.empty())
      return hipErrorMissingConfiguration;
    *gridDim = stack.back().grid;
    *blockDim = stack.back().block;
    *sharedMem = stack.back().shared_bytes;
    *stream = stack.back().stream;
    stack.pop_back();
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchKernel(const void* function_address, dim3 numBlocks,
                                              dim3 dimBlocks, void** args, size_t sharedMemBytes,
                                              hipStream_t stream) {
  return call_at_once([&] {
    return launch_stub(function_address,
                       make_launch(numBlocks, dimBlocks, sharedMemBytes, stream, args));
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchKernel_spt(const void* function_address, dim3 numBlocks,
                                                  dim3 dimBlocks, void** args,
                                                  size_t sharedMemBytes, hipStream_t stream) {
  return hipLaunchKernel(function_address, numBlocks, dimBlocks, args, sharedMemBytes,
                         stream ? stream : hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipExtLaunchKernel(const void* function_address, dim3 numBlocks,
                                                 dim3 dimBlocks, void** args, size_t sharedMemBytes,
                                                 hipStream_t stream, hipEvent_t startEvent,
                                                 hipEvent_t stopEvent, int /*flags*/) {
  return call_at_once([&] {
    Launch what = make_launch(numBlocks, dimBlocks, sharedMemBytes, stream, args);
    what.start = startEvent;
    what.stop = stopEvent;
    return launch_stub(function_address, what);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchCooperativeKernel(const void* f, dim3 gridDim,
                                                         dim3 blockDimX, void** kernelParams,
                                                         unsigned int sharedMemBytes,
                                                         hipStream_t stream) {
  return call_at_once([&] {
    return launch_stub(
        f, make_launch(gridDim, blockDimX, sharedMemBytes, stream, kernelParams, nullptr, true));
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchCooperativeKernel_spt(const void* f, dim3 gridDim,
                                                             dim3 blockDim, void** kernelParams,
                                                             unsigned int sharedMemBytes,
                                                             hipStream_t hStream) {
  return hipLaunchCooperativeKernel(f, gridDim, blockDim, kernelParams, sharedMemBytes,
                                    hStream ? hStream : hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX,
                                                    unsigned int gridDimY, unsigned int gridDimZ,
                                                    unsigned int blockDimX, unsigned int blockDimY,
                                                    unsigned int blockDimZ,
                                                    unsigned int sharedMemBytes, hipStream_t stream,
                                                    void** kernelParams, void** extra) {
  return call_at_once([&] {
    return launch_handle(f, make_launch(dim3(gridDimX, gridDimY, gridDimZ),
                                        dim3(blockDimX, blockDimY, blockDimZ), sharedMemBytes,
                                        stream, kernelParams, extra));
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleLaunchCooperativeKernel(
    hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
    unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
    unsigned int sharedMemBytes, hipStream_t stream, void** kernelParams) {
  return call_at_once([&] {
    return launch_handle(f, make_launch(dim3(gridDimX, gridDimY, gridDimZ),
                                        dim3(blockDimX, blockDimY, blockDimZ), sharedMemBytes,
                                        stream, kernelParams, nullptr, true));
  });
}

WAVESIM_HIP_EXPORT hipError_t hipExtModuleLaunchKernel(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void** kernelParams, void** extra,
    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t /*flags*/) {
  return call_at_once([&] {
    Launch what = make_launch({}, dim3(localWorkSizeX, localWorkSizeY, localWorkSizeZ),
                              sharedMemBytes, hStream, kernelParams, extra);
    what.start = startEvent;
    what.stop = stopEvent;
    return launch_items(f, dim3(globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ), what);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipHccModuleLaunchKernel(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void** kernelParams, void** extra,
    hipEvent_t startEvent, hipEvent_t stopEvent) {
  return hipExtModuleLaunchKernel(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ,
                                  localWorkSizeX, localWorkSizeY, localWorkSizeZ, sharedMemBytes,
                                  hStream, kernelParams, extra, startEvent, stopEvent, 0);
}

// ROCm's library has the two above under their C++ names as well.
extern "C" {
__attribute__((visibility("default"), alias("hipExtModuleLaunchKernel"))) hipError_t
ext_module_launch_mangled() __asm__(
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihip"
    "Stream_tPPvS4_P11ihipEvent_tS6_j");
__attribute__((visibility("default"), alias("hipHccModuleLaunchKernel"))) hipError_t
hcc_module_launch_mangled() __asm__(
    "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihip"
    "Stream_tPPvS4_P11ihipEvent_tS6_");
}

#if HIP_VERSION >= 70000000
namespace {

bool is_cooperative(const hipLaunchAttribute* attributes, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (attributes[i].id == hipLaunchAttributeCooperative && attributes[i].val.cooperative)
      return true;
  return false;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* config, const void* fPtr,
                                                 void** args) {
  return call_at_once([&] {
    if (!config || !fPtr || (config->numAttrs != 0 && !config->attrs))
      return hipErrorInvalidValue;
    return launch_stub(fPtr, make_launch(config->gridDim, config->blockDim,
                                         config->dynamicSmemBytes, config->stream, args, nullptr,
                                         is_cooperative(config->attrs, config->numAttrs)));
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* config, hipFunction_t f,
                                                   void** params, void** extra) {
  return call_at_once([&] {
    if (!config || (config->numAttrs != 0 && !config->attrs))
      return hipErrorInvalidValue;
    return launch_handle(f,
                         make_launch(dim3(config->gridDimX, config->gridDimY, config->gridDimZ),
                                     dim3(config->blockDimX, config->blockDimY, config->blockDimZ),
                                     config->sharedMemBytes, config->hStream, params, extra,
                                     is_cooperative(config->attrs, config->numAttrs)));
  });
}
#endif

} // namespace wavesim::hip
