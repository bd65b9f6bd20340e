// Functions looked up by name, small services, and launches in the style of the first HIP versions.
#include "hip/copy_forms.hpp"
#include "hip/entry.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <cstring>
#include <dlfcn.h>
#include <string>

namespace wavesim::hip {

namespace {

/// Our own function of that name: the structure layouts of the headers in use need the versioned
/// one.
void* find_function(const char* name, bool per_thread) {
  Dl_info own = {};
  if (dladdr(reinterpret_cast<const void*>(&find_function), &own) == 0)
    return nullptr;
  void* library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return nullptr;
  void* found = nullptr;
  for (const char* suffix : {per_thread ? "_spt" : "R0600", per_thread ? "R0600" : "", ""}) {
    found = dlsym(library, (std::string(name) + suffix).c_str());
    if (found)
      break;
  }
  dlclose(library);
  return found;
}

struct OldStyleLaunch {
  CallConfiguration configuration;
  std::vector<std::byte> arguments;
};
OldStyleLaunch& old_style() {
  thread_local OldStyleLaunch launch;
  return launch;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion,
                                                uint64_t flags,
                                                hipDriverProcAddressQueryResult* symbolStatus) {
  return call_without_device([&] {
    constexpr uint64_t per_thread = 2; // HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
    static_cast<void>(hipVersion);
    if (!symbol || !pfn)
      return hipErrorInvalidValue;
    *pfn = find_function(symbol, flags == per_thread);
    if (symbolStatus)
      *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn ? hipSuccess : hipErrorInvalidValue;
  });
}

#if HIP_VERSION >= 70100000
namespace {

hipError_t entry_point(const char* symbol, void** function, bool per_thread,
                       hipDriverEntryPointQueryResult* status) {
  return call_without_device([&] {
    if (!symbol || !function)
      return hipErrorInvalidValue;
    *function = find_function(symbol, per_thread);
    if (status)
      *status = *function ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
    return *function ? hipSuccess : hipErrorInvalidValue;
  });
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                                     unsigned long long flags,
                                                     hipDriverEntryPointQueryResult* driverStatus) {
  return entry_point(symbol, funcPtr, flags == hipEnablePerThreadDefaultStream, driverStatus);
}

WAVESIM_HIP_EXPORT hipError_t
hipGetDriverEntryPoint_spt(const char* symbol, void** funcPtr, unsigned long long flags,
                           hipDriverEntryPointQueryResult* driverStatus) {
  return entry_point(symbol, funcPtr, flags != hipEnableLegacyStream, driverStatus);
}
#endif

WAVESIM_HIP_EXPORT hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                               hipStream_t stream) {
  return call([&] {
    old_style() = {{gridDim, blockDim, sharedMem, stream}, {}};
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipSetupArgument(const void* arg, size_t size, size_t offset) {
  return call([&] {
    constexpr std::size_t most = 1 << 16;
    if (!arg || offset > most || size > most - offset)
      return hipErrorInvalidValue;
    auto& arguments = old_style().arguments;
    if (arguments.size() < offset + size)
      arguments.resize(offset + size);
    std::memcpy(arguments.data() + offset, arg, size);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchByPtr(const void* func) {
  hipFunction_t function = nullptr;
  if (const hipError_t result = hipGetFuncBySymbol(&function, func); result != hipSuccess)
    return result;
  const CallConfiguration& c = old_style().configuration;
  std::size_t bytes = old_style().arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, old_style().arguments.data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  return hipModuleLaunchKernel(function, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y,
                               c.block.z, static_cast<unsigned>(c.shared_bytes), c.stream, nullptr,
                               extra);
}

namespace {

hipError_t write_value(hipStream_t stream, void* pointer, const void* value, std::size_t bytes) {
  return call([&] {
    const ihipStream_t* found = stream_of(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (!pointer)
      return hipErrorInvalidValue;
    if (found->capture)
      return hipErrorStreamCaptureUnsupported;
    return submit(plain_copy(pointer, value, bytes, hipMemcpyDefault), stream);
  });
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipStreamWriteValue32(hipStream_t stream, void* ptr, uint32_t value,
                                                    unsigned int) {
  return write_value(stream, ptr, &value, sizeof value);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamWriteValue64(hipStream_t stream, void* ptr, uint64_t value,
                                                    unsigned int) {
  return write_value(stream, ptr, &value, sizeof value);
}

WAVESIM_HIP_EXPORT const char* hipApiName(uint32_t) {
  return "unknown";
}

WAVESIM_HIP_EXPORT hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w,
                                                             hipChannelFormatKind f) {
  return {x, y, z, w, f};
}

} // namespace wavesim::hip

// clang's half-precision helpers, which ROCm's runtime exports as well.
WAVESIM_HIP_EXPORT float __gnu_h2f_ieee(unsigned short h) {
  _Float16 half;
  std::memcpy(&half, &h, sizeof half);
  return static_cast<float>(half);
}

WAVESIM_HIP_EXPORT unsigned short __gnu_f2h_ieee(float f) {
  const auto half = static_cast<_Float16>(f);
  unsigned short h;
  std::memcpy(&h, &half, sizeof h);
  return h;
}
