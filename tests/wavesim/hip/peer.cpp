// Access between devices. All memory is one, so access always works; what is kept is the record of
// who enabled it.
#include "hip/entry.hpp"
#include "hip/runtime.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace wavesim::hip {

namespace {

struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled; ///< (from, to)
};
Peers& peers() {
  static auto* all = new Peers;
  return *all;
}

bool can_access(int device, int peer) {
  return device != peer;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipDeviceCanAccessPeer(int* canAccessPeer, int deviceId,
                                                     int peerDeviceId) {
  return call([&] {
    if (!canAccessPeer)
      return hipErrorInvalidValue;
    if (!valid_device(deviceId) || !valid_device(peerDeviceId))
      return hipErrorInvalidDevice;
    *canAccessPeer = can_access(deviceId, peerDeviceId);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags) {
  return call([&] {
    const int device = thread_state().device;
    if (flags != 0)
      return hipErrorInvalidValue;
    if (!valid_device(peerDeviceId) || peerDeviceId == device)
      return hipErrorInvalidDevice;
    const std::lock_guard lock(peers().mutex);
    return peers().enabled.emplace(device, peerDeviceId).second ? hipSuccess
                                                                : hipErrorPeerAccessAlreadyEnabled;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceDisablePeerAccess(int peerDeviceId) {
  return call([&] {
    if (!valid_device(peerDeviceId))
      return hipErrorInvalidDevice;
    const std::lock_guard lock(peers().mutex);
    return peers().enabled.erase({thread_state().device, peerDeviceId}) != 0
               ? hipSuccess
               : hipErrorPeerAccessNotEnabled;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attr,
                                                       int srcDevice, int dstDevice) {
  return call([&] {
    if (!value)
      return hipErrorInvalidValue;
    if (!valid_device(srcDevice) || !valid_device(dstDevice) || srcDevice == dstDevice)
      return hipErrorInvalidDevice;
    switch (attr) {
    case hipDevP2PAttrPerformanceRank:
      *value = 0;
      return hipSuccess;
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported:
      *value = 1;
      return hipSuccess;
    case hipDevP2PAttrHipArrayAccessSupported:
      *value = 0;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

WAVESIM_HIP_EXPORT hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2,
                                                           uint32_t* linktype, uint32_t* hopcount) {
  return call([&] {
    constexpr uint32_t xgmi = 4;
    if (!linktype || !hopcount)
      return hipErrorInvalidValue;
    if (!valid_device(device1) || !valid_device(device2) || device1 == device2)
      return hipErrorInvalidDevice;
    *linktype = xgmi;
    *hopcount = 1;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
