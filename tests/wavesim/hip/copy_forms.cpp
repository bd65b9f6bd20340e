#include "hip/copy_forms.hpp"

#include "hip/entry.hpp"
#include "hip/held_back.hpp"
#include "hip/module.hpp"
#include "hip/stream.hpp"
#include "machine/memory_map.hpp"

#include <algorithm>

namespace wavesim::hip {

CopyOperation plain_copy(void* destination, const void* source, std::size_t bytes,
                         hipMemcpyKind kind) {
  CopyOperation copy;
  copy.destination = destination;
  copy.source = source;
  copy.width = bytes;
  copy.kind = kind;
  return copy;
}

hipError_t copy_2d(void* destination, std::size_t destination_pitch, const void* source,
                   std::size_t source_pitch, std::size_t width, std::size_t rows,
                   hipMemcpyKind kind, CopyOperation& copy) {
  copy = plain_copy(destination, source, width, kind);
  copy.rows = rows;
  copy.destination_pitch = destination_pitch;
  copy.source_pitch = source_pitch;
  if (width == 0 || rows == 0)
    return hipSuccess;
  return width > destination_pitch || width > source_pitch ? hipErrorInvalidPitchValue : hipSuccess;
}

namespace {

template <class T>
T* moved(T* pointer, std::size_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(pointer) + bytes;
}

/// The pointer of one side of a driver-style copy.
template <class Parameters>
hipError_t sides(const Parameters& p, void*& destination, const void*& source,
                 hipMemcpyKind& kind) {
  const auto known = [](hipMemoryType type) {
    return type == hipMemoryTypeHost || type == hipMemoryTypeDevice ||
           type == hipMemoryTypeManaged || type == hipMemoryTypeUnified;
  };
  if (p.srcMemoryType == hipMemoryTypeArray || p.dstMemoryType == hipMemoryTypeArray)
    return hipErrorNotSupported; // arrays need image support
  if (!known(p.srcMemoryType) || !known(p.dstMemoryType))
    return hipErrorInvalidValue;
  const bool to_host = p.dstMemoryType == hipMemoryTypeHost;
  const bool from_host = p.srcMemoryType == hipMemoryTypeHost;
  destination = to_host ? p.dstHost : p.dstDevice;
  source = from_host ? p.srcHost : p.srcDevice;
  kind = from_host && to_host ? hipMemcpyHostToHost : hipMemcpyDefault;
  return destination && source ? hipSuccess : hipErrorInvalidValue;
}

} // namespace

hipError_t copy_2d(const hip_Memcpy2D* parameters, CopyOperation& copy) {
  if (!parameters)
    return hipErrorInvalidValue;
  const hip_Memcpy2D& p = *parameters;
  void* destination = nullptr;
  const void* source = nullptr;
  hipMemcpyKind kind = hipMemcpyDefault;
  WAVESIM_HIP_TRY(sides(p, destination, source, kind));
  // A pitch of zero means rows without gaps.
  const std::size_t to_pitch = p.dstPitch ? p.dstPitch : p.WidthInBytes + p.dstXInBytes;
  const std::size_t from_pitch = p.srcPitch ? p.srcPitch : p.WidthInBytes + p.srcXInBytes;
  if (p.dstXInBytes > to_pitch || p.WidthInBytes > to_pitch - p.dstXInBytes ||
      p.srcXInBytes > from_pitch || p.WidthInBytes > from_pitch - p.srcXInBytes)
    return hipErrorInvalidValue;
  return copy_2d(moved(destination, p.dstY * to_pitch + p.dstXInBytes), to_pitch,
                 moved(source, p.srcY * from_pitch + p.srcXInBytes), from_pitch, p.WidthInBytes,
                 p.Height, kind, copy);
}

hipError_t copy_3d(const hipMemcpy3DParms* parameters, CopyOperation& copy) {
  if (!parameters)
    return hipErrorInvalidValue;
  const hipMemcpy3DParms& p = *parameters;
  if (p.srcArray || p.dstArray)
    return hipErrorNotSupported; // arrays need image support
  if (!p.srcPtr.ptr || !p.dstPtr.ptr)
    return hipErrorInvalidValue;
  const bool empty = p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0;
  if (!empty && (p.extent.width + p.srcPos.x > p.srcPtr.pitch ||
                 p.extent.width + p.dstPos.x > p.dstPtr.pitch))
    return hipErrorInvalidValue;
  const std::size_t to_slice = p.dstPtr.pitch * p.dstPtr.ysize;
  const std::size_t from_slice = p.srcPtr.pitch * p.srcPtr.ysize;
  copy = plain_copy(
      moved(p.dstPtr.ptr, p.dstPos.z * to_slice + p.dstPos.y * p.dstPtr.pitch + p.dstPos.x),
      moved(p.srcPtr.ptr, p.srcPos.z * from_slice + p.srcPos.y * p.srcPtr.pitch + p.srcPos.x),
      p.extent.width, p.kind);
  copy.rows = p.extent.height;
  copy.slices = p.extent.depth;
  copy.destination_pitch = p.dstPtr.pitch;
  copy.source_pitch = p.srcPtr.pitch;
  copy.destination_slice = to_slice;
  copy.source_slice = from_slice;
  return hipSuccess;
}

hipError_t copy_3d(const HIP_MEMCPY3D* parameters, CopyOperation& copy) {
  if (!parameters)
    return hipErrorInvalidValue;
  const HIP_MEMCPY3D& p = *parameters;
  void* destination = nullptr;
  const void* source = nullptr;
  hipMemcpyKind kind = hipMemcpyDefault;
  WAVESIM_HIP_TRY(sides(p, destination, source, kind));
  const std::size_t to_pitch = p.dstPitch ? p.dstPitch : p.WidthInBytes + p.dstXInBytes;
  const std::size_t from_pitch = p.srcPitch ? p.srcPitch : p.WidthInBytes + p.srcXInBytes;
  const std::size_t to_slice = to_pitch * (p.dstHeight ? p.dstHeight : p.Height + p.dstY);
  const std::size_t from_slice = from_pitch * (p.srcHeight ? p.srcHeight : p.Height + p.srcY);
  WAVESIM_HIP_TRY(copy_2d(moved(destination, p.dstZ * to_slice + p.dstY * to_pitch + p.dstXInBytes),
                          to_pitch,
                          moved(source, p.srcZ * from_slice + p.srcY * from_pitch + p.srcXInBytes),
                          from_pitch, p.WidthInBytes, p.Height, kind, copy));
  copy.slices = p.Depth;
  copy.destination_slice = to_slice;
  copy.source_slice = from_slice;
  return hipSuccess;
}

hipError_t copy_symbol(const void* symbol, std::size_t offset, void* destination,
                       const void* source, std::size_t bytes, hipMemcpyKind kind, int device,
                       CopyOperation& copy) {
  if (!symbol)
    return hipErrorInvalidSymbol;
  void* address = nullptr;
  std::size_t size = 0;
  WAVESIM_HIP_TRY(registered_variable(symbol, device, address, size));
  if (offset > size || bytes > size - offset)
    return hipErrorInvalidValue;
  void* const inside = moved(address, offset);
  const bool from_symbol = source == nullptr && destination != nullptr;
  const bool direction_fits = kind == hipMemcpyDefault || kind == hipMemcpyDeviceToDevice ||
                              kind == (from_symbol ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice);
  if (!direction_fits)
    return hipErrorInvalidMemcpyDirection;
  copy = plain_copy(from_symbol ? destination : inside, from_symbol ? inside : source, bytes, kind);
  return hipSuccess;
}

hipError_t fill_2d(void* destination, std::size_t pitch, unsigned value, unsigned element_bytes,
                   std::size_t width, std::size_t rows, FillOperation& fill) {
  fill.destination = destination;
  fill.value = value;
  fill.element_bytes = element_bytes;
  fill.width = width;
  fill.rows = rows;
  fill.pitch = pitch;
  if (width > SIZE_MAX / element_bytes)
    return hipErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(destination) % element_bytes != 0)
    return hipErrorInvalidValue;
  return rows > 1 && width * element_bytes > pitch ? hipErrorInvalidValue : hipSuccess;
}

namespace {

/// Memory the runtime did not hand out or register: the host may not be left waiting for it.
bool pageable(const void* p) {
  return !MemoryMap::instance().lookup(reinterpret_cast<std::uintptr_t>(p));
}

hipError_t after_submit(hipStream_t stream, bool waits) {
  ihipStream_t* found = stream_of(stream);
  if (waits && holding_back() && found && !found->capture)
    finish_held(*found);
  return hipSuccess;
}

} // namespace

hipError_t submit(const CopyOperation& copy, hipStream_t stream, bool waits) {
  if (!stream_of(stream))
    return hipErrorInvalidHandle;
  if (copy.width == 0 || copy.rows == 0 || copy.slices == 0)
    return hipSuccess;
  WAVESIM_HIP_TRY(check_copy(copy));
  WAVESIM_HIP_TRY(enqueue(stream, copy));
  return after_submit(stream, waits || pageable(copy.source) || pageable(copy.destination));
}

hipError_t submit(const FillOperation& fill, hipStream_t stream, bool waits) {
  if (!stream_of(stream))
    return hipErrorInvalidHandle;
  if (fill.width == 0 || fill.rows == 0 || fill.slices == 0)
    return hipSuccess;
  WAVESIM_HIP_TRY(check_fill(fill));
  WAVESIM_HIP_TRY(enqueue(stream, fill));
  return after_submit(stream, waits);
}

} // namespace wavesim::hip
