// HIP's names for what tests call beyond the library itself, on CUDA.
#pragma once

#include <wavetile/launch/cuda/hip_names.hpp>

#include <cuda_runtime.h>

using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;

inline constexpr auto hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr auto hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr auto hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
inline constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
inline constexpr auto hipStreamCaptureModeGlobal = cudaStreamCaptureModeGlobal;
inline constexpr auto hipErrorInvalidValue = cudaErrorInvalidValue;
inline constexpr auto hipErrorOutOfMemory = cudaErrorMemoryAllocation;

inline hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  return cudaMalloc(pointer, bytes == 0 ? 1 : bytes);
}
template <class T>
hipError_t hipMalloc(T** pointer, std::size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(pointer), bytes);
}
inline hipError_t hipFree(void* pointer) {
  return cudaFree(pointer);
}
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                 hipStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
inline hipError_t hipMemset(void* pointer, int value, std::size_t bytes) {
  return cudaMemset(pointer, value, bytes);
}
inline hipError_t hipMemsetAsync(void* pointer, int value, std::size_t bytes,
                                 hipStream_t stream = nullptr) {
  return cudaMemsetAsync(pointer, value, bytes, stream);
}
inline constexpr auto hipDeviceAttributeClockRate = cudaDevAttrClockRate;
inline hipError_t hipDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return cudaDeviceGetAttribute(value, attribute, device);
}
inline hipError_t hipDeviceSynchronize() {
  return cudaDeviceSynchronize();
}
inline hipError_t hipSetDevice(int device) {
  return cudaSetDevice(device);
}
inline hipError_t hipGetLastError() {
  return cudaGetLastError();
}
inline hipError_t hipPeekAtLastError() {
  return cudaPeekAtLastError();
}
inline hipError_t hipStreamCreate(hipStream_t* stream) {
  return cudaStreamCreate(stream);
}
inline hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline hipError_t hipStreamDestroy(hipStream_t stream) {
  return cudaStreamDestroy(stream);
}
inline hipError_t hipStreamSynchronize(hipStream_t stream) {
  return cudaStreamSynchronize(stream);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(stream, mode);
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return cudaStreamEndCapture(stream, graph);
}
inline hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, void*, char*,
                                      std::size_t) {
  return cudaGraphInstantiate(exec, graph, 0);
}
inline hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return cudaGraphLaunch(exec, stream);
}
inline hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return cudaGraphExecDestroy(exec);
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) {
  return cudaGraphDestroy(graph);
}
inline hipError_t hipEventCreate(hipEvent_t* event) {
  return cudaEventCreate(event);
}
inline hipError_t hipEventDestroy(hipEvent_t event) {
  return cudaEventDestroy(event);
}
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return cudaEventRecord(event, stream);
}
inline hipError_t hipEventSynchronize(hipEvent_t event) {
  return cudaEventSynchronize(event);
}
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  return cudaEventElapsedTime(milliseconds, begin, end);
}
inline hipError_t hipRuntimeGetVersion(int* version) {
  return cudaRuntimeGetVersion(version);
}
