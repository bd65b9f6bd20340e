// The driver interface's names for copy, fill and free nodes: the runtime's nodes with other
// parameter lists. Contexts play no part: a pointer says where its memory is.
#include "hip/copy_forms.hpp"
#include "hip/entry.hpp"
#include "hip/node_forms.hpp"

namespace wavesim::hip {

namespace {

hipError_t runtime_form(const HIP_MEMCPY3D* parameters, hipMemcpy3DParms& result) {
  CopyOperation copy;
  WAVESIM_HIP_TRY(copy_3d(parameters, copy));
  result = copy_parameters(copy);
  return hipSuccess;
}

HIP_MEMCPY3D driver_form(const hipMemcpy3DParms& p) {
  HIP_MEMCPY3D r = {};
  const bool from_host = p.kind == hipMemcpyHostToDevice || p.kind == hipMemcpyHostToHost;
  const bool to_host = p.kind == hipMemcpyDeviceToHost || p.kind == hipMemcpyHostToHost;
  const bool any = p.kind == hipMemcpyDefault;
  const auto type = [any](bool host) {
    return any ? hipMemoryTypeUnified : host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  };
  r.srcMemoryType = type(from_host);
  r.dstMemoryType = type(to_host);
  r.srcHost = p.srcPtr.ptr;
  r.srcDevice = p.srcPtr.ptr;
  r.dstHost = p.dstPtr.ptr;
  r.dstDevice = p.dstPtr.ptr;
  r.srcPitch = p.srcPtr.pitch;
  r.srcHeight = p.srcPtr.ysize;
  r.dstPitch = p.dstPtr.pitch;
  r.dstHeight = p.dstPtr.ysize;
  r.srcXInBytes = p.srcPos.x;
  r.srcY = p.srcPos.y;
  r.srcZ = p.srcPos.z;
  r.dstXInBytes = p.dstPos.x;
  r.dstY = p.dstPos.y;
  r.dstZ = p.dstPos.z;
  r.WidthInBytes = p.extent.width;
  r.Height = p.extent.height;
  r.Depth = p.extent.depth;
  return r;
}

/// `use` gets the runtime's form of the parameters.
template <class Use>
hipError_t with_copy(const HIP_MEMCPY3D* parameters, Use&& use) {
  hipMemcpy3DParms form = {};
  const hipError_t error = call([&] { return runtime_form(parameters, form); });
  return error == hipSuccess ? use(form) : error;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* phGraphNode,
                                                       hipGraph_t hGraph,
                                                       const hipGraphNode_t* dependencies,
                                                       size_t numDependencies,
                                                       const HIP_MEMCPY3D* copyParams, hipCtx_t) {
  return with_copy(copyParams, [&](const hipMemcpy3DParms& form) {
    return hipGraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &form);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode,
                                                             HIP_MEMCPY3D* nodeParams) {
  hipMemcpy3DParms form = {};
  const hipError_t error = hipGraphMemcpyNodeGetParams(hNode, nodeParams ? &form : nullptr);
  if (error == hipSuccess)
    *nodeParams = driver_form(form);
  return error;
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t hNode,
                                                             const HIP_MEMCPY3D* nodeParams) {
  return with_copy(nodeParams, [&](const hipMemcpy3DParms& form) {
    return hipGraphMemcpyNodeSetParams(hNode, &form);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec,
                                                                 hipGraphNode_t hNode,
                                                                 const HIP_MEMCPY3D* copyParams,
                                                                 hipCtx_t) {
  return with_copy(copyParams, [&](hipMemcpy3DParms& form) {
    return hipGraphExecMemcpyNodeSetParams(hGraphExec, hNode, &form);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphAddMemsetNode(
    hipGraphNode_t* phGraphNode, hipGraph_t hGraph, const hipGraphNode_t* dependencies,
    size_t numDependencies, const hipMemsetParams* memsetParams, hipCtx_t) {
  return hipGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, memsetParams);
}

WAVESIM_HIP_EXPORT hipError_t
hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                   const hipMemsetParams* memsetParams, hipCtx_t) {
  return hipGraphExecMemsetNodeSetParams(hGraphExec, hNode, memsetParams);
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* phGraphNode,
                                                        hipGraph_t hGraph,
                                                        const hipGraphNode_t* dependencies,
                                                        size_t numDependencies,
                                                        hipDeviceptr_t dptr) {
  return hipGraphAddMemFreeNode(phGraphNode, hGraph, dependencies, numDependencies, dptr);
}

} // namespace wavesim::hip
