// Graphs: captured and made by hand, changed, cloned, updated and launched again.
#include "program.hpp"

#include <cstring>

namespace {

using program::Array;

__global__ void add_to(int* data, int n, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    data[i] += amount;
}
__global__ void multiply(int* data, int n, int factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    data[i] *= factor;
}

constexpr int n = 100;

class Graphs : public testing::Test {
protected:
  void SetUp() override { HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking)); }
  void TearDown() override {
    HIP_OK(hipStreamDestroy(stream));
    (void)hipGetLastError();
  }
  void all_are(int expected) { EXPECT_EQ(data.get(), std::vector<int>(n, expected)); }

  /// A node for add_to or multiply.
  hipGraphNode_t kernel_node(hipGraph_t graph, const std::vector<hipGraphNode_t>& after,
                             void (*kernel)(int*, int, int), int value) {
    int* pointer = data.data();
    int count = n;
    void* arguments[] = {&pointer, &count, &value};
    hipKernelNodeParams p = {};
    p.func = reinterpret_cast<void*>(kernel);
    p.gridDim = dim3(2);
    p.blockDim = dim3(64);
    p.kernelParams = arguments;
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &p), hipSuccess);
    return node;
  }

  hipStream_t stream = nullptr;
  Array<int> data{std::vector<int>(n, 1)};
};

TEST_F(Graphs, CaptureAndReplay) {
  std::vector<int> host(n, 0);
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  HIP_OK(hipStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  add_to<<<2, 64, 0, stream>>>(data.data(), n, 2);
  multiply<<<2, 64, 0, stream>>>(data.data(), n, 10);
  HIP_OK(hipMemcpyAsync(host.data(), data.data(), n * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP_OK(hipMemsetAsync(data.data(), 0, n * sizeof(int), stream));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  all_are(1); // nothing ran yet
  std::size_t nodes = 0;
  HIP_OK(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 4u);
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphDestroy(graph)); // the executable form lives on
  for (int expected : {30, 20, 20}) {
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(host, std::vector<int>(n, expected));
    all_are(0);
  }
  HIP_OK(hipGraphExecDestroy(exec));
  EXPECT_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
}

TEST_F(Graphs, CaptureForksAndJoins) {
  hipStream_t other = nullptr;
  hipEvent_t fork = nullptr, join = nullptr;
  HIP_OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&fork));
  HIP_OK(hipEventCreate(&join));
  Array<int> second(std::vector<int>(n, 5));
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipEventRecord(fork, stream));
  HIP_OK(hipStreamWaitEvent(other, fork, 0));
  add_to<<<2, 64, 0, stream>>>(data.data(), n, 1);
  multiply<<<2, 64, 0, other>>>(second.data(), n, 3);
  HIP_OK(hipEventRecord(join, other));
  HIP_OK(hipStreamWaitEvent(stream, join, 0));
  HIP_OK(hipMemcpyAsync(data.data(), second.data(), sizeof(int), hipMemcpyDeviceToDevice, stream));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &graph));
  std::size_t edges = 0, roots = 0;
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  HIP_OK(hipGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(edges, 2u); // both kernels before the copy
  EXPECT_EQ(roots, 2u);
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  EXPECT_EQ(data.get()[0], 15);
  EXPECT_EQ(data.get()[1], 2);
  // The other stream is free again.
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  HIP_OK(hipStreamIsCapturing(other, &status));
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipEventDestroy(fork));
  HIP_OK(hipEventDestroy(join));
  HIP_OK(hipStreamDestroy(other));
}

TEST_F(Graphs, CaptureErrors) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  // A synchronous call ends it.
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipMemsetAsync(data.data(), 0, 4, stream), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  // So does an allocation, unless the mode allows it.
  void* memory = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_EQ(hipMalloc(&memory, 16), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  HIP_OK(hipMalloc(&memory, 16));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipFree(memory));
  HIP_OK(hipGraphDestroy(graph));
  // Work of a stream that took part but was not joined again.
  hipStream_t other = nullptr;
  hipEvent_t fork = nullptr;
  HIP_OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&fork));
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipEventRecord(fork, stream));
  EXPECT_EQ(hipEventQuery(fork), hipErrorCapturedEvent);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipEventRecord(fork, stream));
  HIP_OK(hipStreamWaitEvent(other, fork, 0));
  HIP_OK(hipMemsetAsync(data.data(), 0, 4, other));
  EXPECT_EQ(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnjoined);
  HIP_OK(hipEventDestroy(fork));
  HIP_OK(hipStreamDestroy(other));
  // The default stream would wait for a blocking stream that is being captured.
  hipStream_t blocking = nullptr;
  HIP_OK(hipStreamCreate(&blocking));
  HIP_OK(hipStreamBeginCapture(blocking, hipStreamCaptureModeThreadLocal));
  EXPECT_EQ(hipMemset(data.data(), 0, 4), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(hipStreamEndCapture(blocking, &graph), hipErrorStreamCaptureInvalidated);
  HIP_OK(hipStreamDestroy(blocking));
  all_are(1);
}

TEST_F(Graphs, MadeByHand) {
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  // ((1 + 4) * 3, then a memset of every second row and a copy, a host function at the end)
  const auto add = kernel_node(graph, {}, add_to, 4);
  const auto times = kernel_node(graph, {add}, multiply, 3);
  hipGraphNode_t fill = nullptr, copy = nullptr, call = nullptr, empty = nullptr, order = nullptr;
  hipMemsetParams m = {};
  m.dst = data.data();
  m.elementSize = 4;
  m.value = 77;
  m.width = 10;
  m.height = 5;
  m.pitch = 20 * sizeof(int);
  HIP_OK(hipGraphAddMemsetNode(&fill, graph, &times, 1, &m));
  std::vector<int> host(n, 0);
  HIP_OK(hipGraphAddEmptyNode(&empty, graph, &fill, 1));
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &empty, 1, host.data(), data.data(), n * sizeof(int),
                                 hipMemcpyDeviceToHost));
  int calls = 0;
  hipHostNodeParams h = {[](void* p) { ++*static_cast<int*>(p); }, &calls};
  HIP_OK(hipGraphAddHostNode(&call, graph, &copy, 1, &h));
  // A node added last, but ordered before the first.
  HIP_OK(hipGraphAddMemcpyNode1D(&order, graph, nullptr, 0, data.data() + 1, data.data(),
                                 sizeof(int), hipMemcpyDeviceToDevice));
  HIP_OK(hipGraphAddDependencies(graph, &order, &add, 1));
  EXPECT_EQ(hipGraphAddDependencies(graph, &call, &order, 1), hipErrorInvalidValue); // a cycle
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  HIP_OK(hipGraphNodeGetType(fill, &type));
  EXPECT_EQ(type, hipGraphNodeTypeMemset);
  std::size_t count = 0;
  HIP_OK(hipGraphNodeGetDependencies(add, nullptr, &count));
  EXPECT_EQ(count, 1u);

  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  EXPECT_EQ(calls, 1);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(host[static_cast<std::size_t>(i)], i % 20 < 10 ? 77 : 15) << i;
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroyNode(order));
  EXPECT_EQ(hipGraphNodeGetType(order, &type), hipErrorInvalidValue);
  HIP_OK(hipGraphNodeGetDependencies(add, nullptr, &count));
  EXPECT_EQ(count, 0u);
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(Graphs, ParametersOfNodes) {
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  const auto add = kernel_node(graph, {}, add_to, 4);
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));

  hipKernelNodeParams p = {};
  HIP_OK(hipGraphKernelNodeGetParams(add, &p));
  EXPECT_EQ(p.func, reinterpret_cast<void*>(add_to));
  EXPECT_EQ(p.gridDim.x, 2u);
  EXPECT_EQ(*static_cast<int*>(p.kernelParams[2]), 4);
  // Change the executable form only.
  int* pointer = data.data();
  int count = n, amount = 9;
  void* arguments[] = {&pointer, &count, &amount};
  p.kernelParams = arguments;
  HIP_OK(hipGraphExecKernelNodeSetParams(exec, add, &p));
  HIP_OK(hipGraphLaunch(exec, stream));
  all_are(10);
  // Change the graph; the executable form follows by an update.
  amount = 100;
  HIP_OK(hipGraphKernelNodeSetParams(add, &p));
  hipGraphNode_t bad = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  HIP_OK(hipGraphExecUpdate(exec, graph, &bad, &result));
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  HIP_OK(hipGraphLaunch(exec, stream));
  all_are(110);
  // Nodes can be switched off.
  HIP_OK(hipGraphNodeSetEnabled(exec, add, 0));
  unsigned enabled = 1;
  HIP_OK(hipGraphNodeGetEnabled(exec, add, &enabled));
  EXPECT_EQ(enabled, 0u);
  HIP_OK(hipGraphLaunch(exec, stream));
  all_are(110);
  // Another shape of graph cannot be updated to.
  kernel_node(graph, {add}, multiply, 2);
  EXPECT_EQ(hipGraphExecUpdate(exec, graph, &bad, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(Graphs, CloneAndChild) {
  hipGraph_t inner = nullptr, clone = nullptr, outer = nullptr;
  HIP_OK(hipGraphCreate(&inner, 0));
  const auto add = kernel_node(inner, {}, add_to, 1);
  HIP_OK(hipGraphClone(&clone, inner));
  hipGraphNode_t twin = nullptr, child = nullptr;
  HIP_OK(hipGraphNodeFindInClone(&twin, add, clone));
  EXPECT_NE(twin, add);
  kernel_node(clone, {twin}, multiply, 2);
  HIP_OK(hipGraphCreate(&outer, 0));
  HIP_OK(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, clone));
  kernel_node(outer, {child}, add_to, 100);
  HIP_OK(hipGraphDestroy(clone)); // the node has its own copy
  hipGraph_t inside = nullptr;
  HIP_OK(hipGraphChildGraphNodeGetGraph(child, &inside));
  std::size_t nodes = 0;
  HIP_OK(hipGraphGetNodes(inside, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, outer, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  all_are(104);
  // A graph launched while capturing becomes a child, too.
  hipGraph_t captured = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamEndCapture(stream, &captured));
  all_are(104);
  hipGraphExec_t again = nullptr;
  HIP_OK(hipGraphInstantiate(&again, captured, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(again, stream));
  all_are(310);
  for (hipGraphExec_t e : {exec, again})
    HIP_OK(hipGraphExecDestroy(e));
  for (hipGraph_t g : {inner, outer, captured})
    HIP_OK(hipGraphDestroy(g));
}

TEST_F(Graphs, MemoryOfGraphs) {
  hipGraph_t graph = nullptr;
  int* memory = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipMallocAsync(reinterpret_cast<void**>(&memory), n * sizeof(int), stream));
  HIP_OK(hipMemcpyAsync(memory, data.data(), n * sizeof(int), hipMemcpyDeviceToDevice, stream));
  add_to<<<2, 64, 0, stream>>>(memory, n, 1);
  HIP_OK(hipMemcpyAsync(data.data(), memory, n * sizeof(int), hipMemcpyDeviceToDevice, stream));
  HIP_OK(hipFreeAsync(memory, stream));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int launch = 1; launch <= 3; ++launch) {
    HIP_OK(hipGraphLaunch(exec, stream));
    all_are(1 + launch);
  }
  std::size_t before = 0, after = 0, total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_EQ(after - before, n * sizeof(int));
}

TEST_F(Graphs, EventsAndUserObjects) {
  hipEvent_t event = nullptr;
  HIP_OK(hipEventCreate(&event));
  int destroyed = 0;
  hipUserObject_t object = nullptr;
  HIP_OK(hipUserObjectCreate(
      &object, &destroyed, [](void* p) { ++*static_cast<int*>(p); }, 1,
      hipUserObjectNoDestructorSync));
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  HIP_OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
  hipGraphNode_t record = nullptr, wait = nullptr;
  HIP_OK(hipGraphAddEventRecordNode(&record, graph, nullptr, 0, event));
  HIP_OK(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
  hipEvent_t found = nullptr;
  HIP_OK(hipGraphEventRecordNodeGetEvent(record, &found));
  EXPECT_EQ(found, event);
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipEventSynchronize(event));
  HIP_OK(hipGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0); // the executable form refers to it
  HIP_OK(hipGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 1);
  HIP_OK(hipEventDestroy(event));
}

// What a graph refers to may be gone by the time it is launched.
TEST_F(Graphs, OutliveWhatTheyUse) {
  hipEvent_t event = nullptr;
  HIP_OK(hipEventCreate(&event));
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  HIP_OK(hipGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipEventDestroy(event));
  EXPECT_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidHandle);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  // A stream that is destroyed while it is captured leaves nothing behind.
  hipStream_t captured = nullptr;
  HIP_OK(hipStreamCreate(&captured));
  HIP_OK(hipStreamBeginCapture(captured, hipStreamCaptureModeGlobal));
  HIP_OK(hipMemsetAsync(data.data(), 0, 4, captured));
  HIP_OK(hipStreamDestroy(captured));
  HIP_OK(hipMemset(data.data(), 0, 4));
  HIP_OK(hipDeviceSynchronize());
}

// The driver interface's copies and fills are the same nodes.
TEST_F(Graphs, NodesOfTheDriverInterface) {
  std::vector<int> host(n, 0);
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  const hipCtx_t context = nullptr; // plays no part
  hipMemsetParams set = {};
  set.dst = data.data();
  set.elementSize = 4;
  set.value = 6;
  set.width = n;
  set.height = 1;
  hipGraphNode_t fill = nullptr, copy = nullptr;
  HIP_OK(hipDrvGraphAddMemsetNode(&fill, graph, nullptr, 0, &set, context));
  HIP_MEMCPY3D rows = {}; // two rows of ten ints, the second and third of the host's
  rows.srcMemoryType = hipMemoryTypeDevice;
  rows.srcDevice = data.data();
  rows.srcPitch = 40;
  rows.srcHeight = 2;
  rows.dstMemoryType = hipMemoryTypeHost;
  rows.dstHost = host.data();
  rows.dstPitch = 40;
  rows.dstHeight = 10;
  rows.dstY = 1;
  rows.WidthInBytes = 40;
  rows.Height = 2;
  rows.Depth = 1;
  HIP_OK(hipDrvGraphAddMemcpyNode(&copy, graph, &fill, 1, &rows, context));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  const auto expect = [&](int first_row, int value) {
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(host[static_cast<std::size_t>(i)],
                i / 10 == first_row || i / 10 == first_row + 1 ? value : 0)
          << i;
  };
  expect(1, 6);
  HIP_MEMCPY3D found = {};
  HIP_OK(hipDrvGraphMemcpyNodeGetParams(copy, &found));
  EXPECT_EQ(found.dstDevice, host.data() + 10); // positions are added to pointers
  EXPECT_EQ(found.dstPitch, 40u);
  EXPECT_EQ(found.WidthInBytes, 40u);
  rows.dstY = 7;
  set.value = 8;
  HIP_OK(hipDrvGraphExecMemcpyNodeSetParams(exec, copy, &rows, context));
  HIP_OK(hipDrvGraphExecMemsetNodeSetParams(exec, fill, &set, context));
  host.assign(n, 0);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  expect(7, 8);
  HIP_OK(hipDrvGraphMemcpyNodeSetParams(copy, &found));
  EXPECT_EQ(hipDrvGraphMemcpyNodeSetParams(fill, &found), hipErrorInvalidValue);
  EXPECT_EQ(hipDrvGraphMemcpyNodeGetParams(copy, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDrvGraphAddMemcpyNode(&copy, graph, nullptr, 0, nullptr, context),
            hipErrorInvalidValue);
  hipGraphNode_t release = nullptr;
  EXPECT_EQ(hipDrvGraphAddMemFreeNode(&release, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

} // namespace
