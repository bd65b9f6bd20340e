// Fills.
#include "hip/copy_forms.hpp"
#include "hip/entry.hpp"
#include "hip/stream.hpp"

namespace wavesim::hip {

namespace {

hipStream_t per_thread(hipStream_t stream) {
  return stream ? stream : hipStreamPerThread;
}

hipError_t fill_rows(void* dst, size_t pitch, unsigned value, unsigned element_bytes, size_t width,
                     size_t rows, hipStream_t stream, bool waits = true) {
  return call_at_once([&] {
    FillOperation operation;
    WAVESIM_HIP_TRY(fill_2d(dst, pitch, value, element_bytes, width, rows, operation));
    return submit(operation, stream, waits);
  });
}

hipError_t fill(void* dst, unsigned value, unsigned element_bytes, size_t count, hipStream_t stream,
                bool waits = true) {
  return fill_rows(dst, 0, value, element_bytes, count, 1, stream, waits);
}

hipError_t fill_box(const hipPitchedPtr& p, int value, const hipExtent& extent,
                    hipStream_t stream) {
  return call([&] {
    FillOperation operation;
    const bool empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
    if (empty)
      return hipSuccess;
    if (extent.width > p.pitch || (extent.depth > 1 && extent.height > p.ysize))
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(fill_2d(p.ptr, p.pitch, static_cast<unsigned>(value), 1, extent.width,
                            extent.height, operation));
    operation.slices = extent.depth;
    operation.slice = p.pitch * p.ysize;
    return submit(operation, stream);
  });
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipMemset(void* dst, int value, size_t sizeBytes) {
  return fill(dst, static_cast<unsigned>(value), 1, sizeBytes, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset2D(void* dst, size_t pitch, int value, size_t width,
                                          size_t height) {
  return fill_rows(dst, pitch, static_cast<unsigned>(value), 1, width, height, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value,
                                          hipExtent extent) {
  return fill_box(pitchedDevPtr, value, extent, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset_spt(void* dst, int value, size_t sizeBytes) {
  return fill(dst, static_cast<unsigned>(value), 1, sizeBytes, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset2D_spt(void* dst, size_t pitch, int value, size_t width,
                                              size_t height) {
  return fill_rows(dst, pitch, static_cast<unsigned>(value), 1, width, height, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value,
                                              hipExtent extent) {
  return fill_box(pitchedDevPtr, value, extent, hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetAsync(void* dst, int value, size_t sizeBytes,
                                             hipStream_t stream) {
  return fill(dst, static_cast<unsigned>(value), 1, sizeBytes, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width,
                                               size_t height, hipStream_t stream) {
  return fill_rows(dst, pitch, static_cast<unsigned>(value), 1, width, height, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value,
                                               hipExtent extent, hipStream_t stream) {
  return fill_box(pitchedDevPtr, value, extent, stream);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetAsync_spt(void* dst, int value, size_t sizeBytes,
                                                 hipStream_t stream) {
  return fill(dst, static_cast<unsigned>(value), 1, sizeBytes, per_thread(stream), false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset2DAsync_spt(void* dst, size_t pitch, int value, size_t width,
                                                   size_t height, hipStream_t stream) {
  return fill_rows(dst, pitch, static_cast<unsigned>(value), 1, width, height, per_thread(stream),
                   false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemset3DAsync_spt(hipPitchedPtr pitchedDevPtr, int value,
                                                   hipExtent extent, hipStream_t stream) {
  return fill_box(pitchedDevPtr, value, extent, per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD8(hipDeviceptr_t dst, unsigned char value, size_t count) {
  return fill(dst, value, 1, count, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch,
                                            unsigned char value, size_t width, size_t height) {
  return fill_rows(dst, dstPitch, value, 1, width, height, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value,
                                               size_t count, hipStream_t stream) {
  return fill(dst, value, 1, count, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch,
                                                 unsigned char value, size_t width, size_t height,
                                                 hipStream_t stream) {
  return fill_rows(dst, dstPitch, value, 1, width, height, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD16(hipDeviceptr_t dst, unsigned short value, size_t count) {
  return fill(dst, value, 2, count, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch,
                                             unsigned short value, size_t width, size_t height) {
  return fill_rows(dst, dstPitch, value, 2, width, height, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value,
                                                size_t count, hipStream_t stream) {
  return fill(dst, value, 2, count, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch,
                                                  unsigned short value, size_t width, size_t height,
                                                  hipStream_t stream) {
  return fill_rows(dst, dstPitch, value, 2, width, height, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD32(hipDeviceptr_t dst, int value, size_t count) {
  return fill(dst, static_cast<unsigned>(value), 4, count, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch,
                                             unsigned int value, size_t width, size_t height) {
  return fill_rows(dst, dstPitch, value, 4, width, height, nullptr);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count,
                                                hipStream_t stream) {
  return fill(dst, static_cast<unsigned>(value), 4, count, stream, false);
}

WAVESIM_HIP_EXPORT hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch,
                                                  unsigned int value, size_t width, size_t height,
                                                  hipStream_t stream) {
  return fill_rows(dst, dstPitch, value, 4, width, height, stream, false);
}

} // namespace wavesim::hip
