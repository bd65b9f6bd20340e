// Copies. All run when they are called; what a call waits for is done already.
#include "hip/copy_forms.hpp"
#include "hip/entry.hpp"
#include "hip/header_versions.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

namespace wavesim::hip {

namespace {

hipStream_t per_thread(hipStream_t stream) {
  return stream ? stream : hipStreamPerThread;
}

/// The plain copies: only those whose name says so leave their work behind.
hipError_t copy(void* dst, const void* src, size_t bytes, hipMemcpyKind kind, hipStream_t stream,
                bool waits = true) {
  return call_at_once([&] { return submit(plain_copy(dst, src, bytes, kind), stream, waits); });
}

hipError_t copy_rows(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                     size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return call([&] {
    CopyOperation operation;
    WAVESIM_HIP_TRY(copy_2d(dst, dpitch, src, spitch, width, height, kind, operation));
    return submit(operation, stream);
  });
}

template <class Parameters, class Convert>
hipError_t copy_box(const Parameters* p, hipStream_t stream, Convert&& convert) {
  return call([&] {
    CopyOperation operation;
    WAVESIM_HIP_TRY(convert(p, operation));
    return submit(operation, stream);
  });
}

hipError_t rows_2d(const hip_Memcpy2D* p, CopyOperation& operation) {
  return copy_2d(p, operation);
}
hipError_t box_3d(const hipMemcpy3DParms* p, CopyOperation& operation) {
  return copy_3d(p, operation);
}
hipError_t box_driver(const HIP_MEMCPY3D* p, CopyOperation& operation) {
  return copy_3d(p, operation);
}

hipError_t to_symbol(const void* symbol, const void* src, size_t bytes, size_t offset,
                     hipMemcpyKind kind, hipStream_t stream) {
  return call([&] {
    const ihipStream_t* found = stream_of(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (!src)
      return hipErrorInvalidValue;
    CopyOperation operation;
    WAVESIM_HIP_TRY(
        copy_symbol(symbol, offset, nullptr, src, bytes, kind, found->device, operation));
    return submit(operation, stream);
  });
}

hipError_t from_symbol(void* dst, const void* symbol, size_t bytes, size_t offset,
                       hipMemcpyKind kind, hipStream_t stream) {
  return call([&] {
    const ihipStream_t* found = stream_of(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (!dst)
      return hipErrorInvalidValue;
    CopyOperation operation;
    WAVESIM_HIP_TRY(
        copy_symbol(symbol, offset, dst, nullptr, bytes, kind, found->device, operation));
    return submit(operation, stream);
  });
}

hipError_t copy_peer(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                     hipStream_t stream) {
  return call([&] {
    if (!valid_device(dst_device) || !valid_device(src_device))
      return hipErrorInvalidDevice;
    return submit(plain_copy(dst, src, bytes, hipMemcpyDeviceToDevice), stream);
  });
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipMemcpy(void* dst, const void* src, size_t sizeBytes,
                                        hipMemcpyKind kind) {
  return copy(dst, src, sizeBytes, kind, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy_spt(void* dst, const void* src, size_t sizeBytes,
                                            hipMemcpyKind kind) {
  return copy(dst, src, sizeBytes, kind, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t sizeBytes,
                                                  hipMemcpyKind kind, hipStream_t stream) {
  return copy(dst, src, sizeBytes, kind, stream);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyAsync(void* dst, const void* src, size_t sizeBytes,
                                             hipMemcpyKind kind, hipStream_t stream) {
  return copy(dst, src, sizeBytes, kind, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyAsync_spt(void* dst, const void* src, size_t sizeBytes,
                                                 hipMemcpyKind kind, hipStream_t stream) {
  return copy(dst, src, sizeBytes, kind, per_thread(stream), false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, HostSource src, size_t sizeBytes) {
  return copy(dst, src, sizeBytes, hipMemcpyHostToDevice, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, HostSource src,
                                                 size_t sizeBytes, hipStream_t stream) {
  return copy(dst, src, sizeBytes, hipMemcpyHostToDevice, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes) {
  return copy(dst, src, sizeBytes, hipMemcpyDeviceToHost, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t sizeBytes,
                                                 hipStream_t stream) {
  return copy(dst, src, sizeBytes, hipMemcpyDeviceToHost, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src,
                                            size_t sizeBytes) {
  return copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src,
                                                 size_t sizeBytes, hipStream_t stream) {
  return copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch,
                                          size_t width, size_t height, hipMemcpyKind kind) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy2D_spt(void* dst, size_t dpitch, const void* src,
                                              size_t spitch, size_t width, size_t height,
                                              hipMemcpyKind kind) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy2DAsync(void* dst, size_t dpitch, const void* src,
                                               size_t spitch, size_t width, size_t height,
                                               hipMemcpyKind kind, hipStream_t stream) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, stream);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy2DAsync_spt(void* dst, size_t dpitch, const void* src,
                                                   size_t spitch, size_t width, size_t height,
                                                   hipMemcpyKind kind, hipStream_t stream) {
  return copy_rows(dst, dpitch, src, spitch, width, height, kind, per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyParam2D(const hip_Memcpy2D* pCopy) {
  return copy_box(pCopy, nullptr, rows_2d);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* pCopy, hipStream_t stream) {
  return copy_box(pCopy, stream, rows_2d);
}

WAVESIM_HIP_EXPORT hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* pCopy) {
  return copy_box(pCopy, nullptr, rows_2d);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy3D(const struct hipMemcpy3DParms* p) {
  return copy_box(p, nullptr, box_3d);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms* p) {
  return copy_box(p, hipStreamPerThread, box_3d);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms* p,
                                               hipStream_t stream) {
  return copy_box(p, stream, box_3d);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* p, hipStream_t stream) {
  return copy_box(p, per_thread(stream), box_3d);
}

WAVESIM_HIP_EXPORT hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* pCopy) {
  return copy_box(pCopy, nullptr, box_driver);
}

WAVESIM_HIP_EXPORT hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* pCopy, hipStream_t stream) {
  return copy_box(pCopy, stream, box_driver);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyToSymbol(const void* symbol, const void* src,
                                                size_t sizeBytes, size_t offset,
                                                hipMemcpyKind kind) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyFromSymbol(void* dst, const void* symbol, size_t sizeBytes,
                                                  size_t offset, hipMemcpyKind kind) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* src,
                                                    size_t sizeBytes, size_t offset,
                                                    hipMemcpyKind kind) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyFromSymbol_spt(void* dst, const void* symbol,
                                                      size_t sizeBytes, size_t offset,
                                                      hipMemcpyKind kind) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* src,
                                                     size_t sizeBytes, size_t offset,
                                                     hipMemcpyKind kind, hipStream_t stream) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, stream);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyFromSymbolAsync(void* dst, const void* symbol,
                                                       size_t sizeBytes, size_t offset,
                                                       hipMemcpyKind kind, hipStream_t stream) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, stream);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* src,
                                                         size_t sizeBytes, size_t offset,
                                                         hipMemcpyKind kind, hipStream_t stream) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyFromSymbolAsync_spt(void* dst, const void* symbol,
                                                           size_t sizeBytes, size_t offset,
                                                           hipMemcpyKind kind, hipStream_t stream) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyPeer(void* dst, int dstDeviceId, const void* src,
                                            int srcDeviceId, size_t sizeBytes) {
  return copy_peer(dst, dstDeviceId, src, srcDeviceId, sizeBytes, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemcpyPeerAsync(void* dst, int dstDeviceId, const void* src,
                                                 int srcDevice, size_t sizeBytes,
                                                 hipStream_t stream) {
  return copy_peer(dst, dstDeviceId, src, srcDevice, sizeBytes, stream);
}

} // namespace wavesim::hip
