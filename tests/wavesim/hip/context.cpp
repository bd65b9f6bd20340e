// Contexts (deprecated in HIP): each device has its primary one, and a thread a stack of them.
#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/handles.hpp"
#include "hip/header_versions.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <deque>

struct ihipCtx_t {
  int device = 0;
  unsigned flags = 0;
  int references = 0; ///< of a primary context
};

namespace wavesim::hip {

namespace {

hipCtx_t primary(int device) {
  static auto* all = [] {
    auto* made = new std::deque<ihipCtx_t>(static_cast<std::size_t>(settings().devices));
    int ordinal = 0;
    for (ihipCtx_t& c : *made)
      c.device = ordinal++;
    return made;
  }();
  return &(*all)[static_cast<std::size_t>(device)];
}

bool alive(hipCtx_t context) {
  for (int device = 0; device < settings().devices; ++device)
    if (context == primary(device))
      return true;
  return handles<ihipCtx_t>().alive(context);
}

hipCtx_t current() {
  const auto& stack = thread_state().contexts;
  return stack.empty() ? primary(thread_state().device) : stack.back();
}

void use(hipCtx_t context) {
  thread_state().device = context->device;
}

template <class Body>
hipError_t on_device(int device, Body&& body) {
  return call([&] { return valid_device(device) ? body() : hipErrorInvalidDevice; });
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int flags, hipDevice_t device) {
  return on_device(device, [&] {
    if (!ctx)
      return hipErrorInvalidValue;
    auto made = std::make_unique<ihipCtx_t>();
    made->device = device;
    made->flags = flags;
    *ctx = handles<ihipCtx_t>().add(std::move(made));
    thread_state().contexts.push_back(*ctx);
    use(*ctx);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxDestroy(hipCtx_t ctx) {
  return call([&] {
    if (!ctx || !handles<ihipCtx_t>().take(ctx))
      return hipErrorInvalidValue;
    std::erase(thread_state().contexts, ctx);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxPopCurrent(hipCtx_t* ctx) {
  return call([&] {
    auto& stack = thread_state().contexts;
    if (stack.empty())
      return hipErrorInvalidContext;
    if (ctx)
      *ctx = stack.back();
    stack.pop_back();
    use(current());
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxPushCurrent(hipCtx_t ctx) {
  return call([&] {
    if (!alive(ctx))
      return hipErrorInvalidContext;
    thread_state().contexts.push_back(ctx);
    use(ctx);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxSetCurrent(hipCtx_t ctx) {
  return call([&] {
    auto& stack = thread_state().contexts;
    if (ctx && !alive(ctx))
      return hipErrorInvalidContext;
    if (!stack.empty())
      stack.pop_back();
    if (ctx) {
      stack.push_back(ctx);
      use(ctx);
    }
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetCurrent(hipCtx_t* ctx) {
  return call([&] {
    if (!ctx)
      return hipErrorInvalidValue;
    *ctx = current();
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return call([&] {
    if (!device)
      return hipErrorInvalidValue;
    *device = current()->device;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetApiVersion(hipCtx_t ctx, ApiVersion* apiVersion) {
  return call([&] {
    if (!apiVersion || (ctx && !alive(ctx)))
      return hipErrorInvalidValue;
    *apiVersion = 4;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetFlags(unsigned int* flags) {
  return call([&] {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = current()->flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetCacheConfig(hipFuncCache_t* cacheConfig) {
  return call([&] {
    if (!cacheConfig)
      return hipErrorInvalidValue;
    *cacheConfig = hipFuncCachePreferNone;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxSetCacheConfig(hipFuncCache_t) {
  return call([] { return hipSuccess; });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* pConfig) {
  return call([&] {
    if (!pConfig)
      return hipErrorInvalidValue;
    *pConfig = hipSharedMemBankSizeFourByte;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig) {
  return call([] { return hipSuccess; });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxSynchronize() {
  return call([] { return check_capture_unsafe(); });
}

WAVESIM_HIP_EXPORT hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags) {
  if (!alive(peerCtx))
    return call([] { return hipErrorInvalidContext; });
  return hipDeviceEnablePeerAccess(peerCtx->device, flags);
}

WAVESIM_HIP_EXPORT hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx) {
  if (!alive(peerCtx))
    return call([] { return hipErrorInvalidContext; });
  return hipDeviceDisablePeerAccess(peerCtx->device);
}

WAVESIM_HIP_EXPORT hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int* flags,
                                                          int* active) {
  return on_device(dev, [&] {
    if (!flags || !active)
      return hipErrorInvalidValue;
    *flags = primary(dev)->flags;
    *active = primary(dev)->references > 0;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* pctx, hipDevice_t dev) {
  return on_device(dev, [&] {
    if (!pctx)
      return hipErrorInvalidValue;
    *pctx = primary(dev);
    ++primary(dev)->references;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev) {
  return on_device(dev, [&] {
    primary(dev)->references = std::max(primary(dev)->references - 1, 0);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDevicePrimaryCtxReset(hipDevice_t dev) {
  return on_device(dev, [&] {
    DeviceMemory::instance().release_all(dev);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t dev, unsigned int flags) {
  return on_device(dev, [&] {
    primary(dev)->flags = flags;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
