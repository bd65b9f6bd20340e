// Errors: names, texts, and the last one of each thread.
#include "hip/entry.hpp"
#include "hip/runtime.hpp"
#include "hip/unsupported.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace wavesim::hip {

namespace {

struct ErrorText {
  hipError_t code;
  const char* name;
  const char* text;
};

#define WAVESIM_ERROR(code, text) {code, #code, text},
constexpr ErrorText errors[] =
    {WAVESIM_ERROR(hipSuccess, "no error") WAVESIM_ERROR(
        hipErrorInvalidValue,
        "invalid argument") WAVESIM_ERROR(hipErrorOutOfMemory,
                                          "out of memory") WAVESIM_ERROR(hipErrorNotInitialized,
                                                                         "initialization error")
         WAVESIM_ERROR(hipErrorDeinitialized, "driver shutting down") WAVESIM_ERROR(
             hipErrorProfilerDisabled, "profiler disabled while using external profiling tool")
             WAVESIM_ERROR(
                 hipErrorProfilerNotInitialized,
                 "profiler is not initialized") WAVESIM_ERROR(hipErrorProfilerAlreadyStarted,
                                                              "profiler already started")
                 WAVESIM_ERROR(
                     hipErrorProfilerAlreadyStopped,
                     "profiler already stopped") WAVESIM_ERROR(hipErrorInvalidConfiguration,
                                                               "invalid configuration argument")
                     WAVESIM_ERROR(hipErrorInvalidPitchValue, "invalid pitch argument") WAVESIM_ERROR(
                         hipErrorInvalidSymbol,
                         "invalid device symbol") WAVESIM_ERROR(hipErrorInvalidDevicePointer,
                                                                "invalid device pointer")
                         WAVESIM_ERROR(hipErrorInvalidMemcpyDirection,
                                       "invalid copy direction for "
                                       "memcpy") WAVESIM_ERROR(hipErrorInsufficientDriver,
                                                               "driver version is "
                                                               "insufficient for runtime "
                                                               "version")
                             WAVESIM_ERROR(
                                 hipErrorMissingConfiguration,
                                 "no launch configuration "
                                 "was pushed") WAVESIM_ERROR(hipErrorPriorLaunchFailure,
                                                             "an earlier kernel launch failed")
                                 WAVESIM_ERROR(
                                     hipErrorInvalidDeviceFunction,
                                     "invalid device function") WAVESIM_ERROR(hipErrorNoDevice,
                                                                              "no ROCm-capable "
                                                                              "device is "
                                                                              "detected")
                                     WAVESIM_ERROR(hipErrorInvalidDevice, "invalid device ordinal")
                                         WAVESIM_ERROR(hipErrorInvalidImage, "device kernel "
                                                                             "image is invalid")
                                             WAVESIM_ERROR(hipErrorInvalidContext, "invalid device "
                                                                                   "context")
                                                 WAVESIM_ERROR(
                                                     hipErrorContextAlreadyCurrent,
                                                     "context is already current "
                                                     "context") WAVESIM_ERROR(hipErrorMapFailed,
                                                                              "mapping of buffer "
                                                                              "object failed")
                                                     WAVESIM_ERROR(hipErrorUnmapFailed, "unmapping "
                                                                                        "of buffer "
                                                                                        "object "
                                                                                        "failed")
                                                         WAVESIM_ERROR(
                                                             hipErrorArrayIsMapped,
                                                             "array is "
                                                             "mapped") WAVESIM_ERROR(hipErrorAlreadyMapped,
                                                                                     "reso"
                                                                                     "urce"
                                                                                     " alr"
                                                                                     "eady"
                                                                                     " map"
                                                                                     "ped")
                                                             WAVESIM_ERROR(
                                                                 hipErrorNoBinaryForGpu,
                                                                 "no kernel image is available for "
                                                                 "execution on the device")
                                                                 WAVESIM_ERROR(
                                                                     hipErrorAlreadyAcquired, "res"
                                                                                              "our"
                                                                                              "ce "
                                                                                              "alr"
                                                                                              "ead"
                                                                                              "y "
                                                                                              "acq"
                                                                                              "uir"
                                                                                              "ed")
                                                                     WAVESIM_ERROR(
                                                                         hipErrorNotMapped,
                                                                         "resource not mapped")
                                                                         WAVESIM_ERROR(hipErrorNotMappedAsArray, "resource not mapped "
                                                                                                                 "as array") WAVESIM_ERROR(hipErrorNotMappedAsPointer, "resource not mapped as pointer") WAVESIM_ERROR(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered") WAVESIM_ERROR(hipErrorUnsupportedLimit, "limit is not supported on this architecture") WAVESIM_ERROR(hipErrorContextAlreadyInUse, "exclusive-thread device already in use by a different thread") WAVESIM_ERROR(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices") WAVESIM_ERROR(hipErrorInvalidKernelFile,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "invalid kernel file") WAVESIM_ERROR(hipErrorInvalidGraphicsContext,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "invalid OpenGL or DirectX context") WAVESIM_ERROR(hipErrorInvalidSource,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "device kernel image is invalid") WAVESIM_ERROR(hipErrorFileNotFound,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "file not found") WAVESIM_ERROR(hipErrorSharedObjectSymbolNotFound,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "shared object symbol not found") WAVESIM_ERROR(hipErrorSharedObjectInitFailed, "shared object initialization failed") WAVESIM_ERROR(hipErrorOperatingSystem,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "OS call failed or operation not supported on this OS") WAVESIM_ERROR(hipErrorInvalidHandle, "invalid resource handle") WAVESIM_ERROR(hipErrorIllegalState,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "the operation cannot be performed in the present state") WAVESIM_ERROR(hipErrorNotFound, "named symbol not found") WAVESIM_ERROR(hipErrorNotReady,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "device not ready") WAVESIM_ERROR(hipErrorIllegalAddress, "an illegal memory access was encountered") WAVESIM_ERROR(hipErrorLaunchOutOfResources,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "too many resources requested for launch") WAVESIM_ERROR(hipErrorLaunchTimeOut, "the launch timed out and was terminated") WAVESIM_ERROR(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled") WAVESIM_ERROR(hipErrorPeerAccessNotEnabled, "peer access has not been enabled") WAVESIM_ERROR(hipErrorSetOnActiveProcess,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "cannot set while device is active in this process") WAVESIM_ERROR(hipErrorContextIsDestroyed, "context is destroyed") WAVESIM_ERROR(hipErrorAssert,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "device-side assert triggered") WAVESIM_ERROR(hipErrorHostMemoryAlreadyRegistered, "part or all of the "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "requested memory "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "range is already "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "mapped") WAVESIM_ERROR(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region") WAVESIM_ERROR(hipErrorLaunchFailure, "unspecified launch failure") WAVESIM_ERROR(hipErrorCooperativeLaunchTooLarge,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "too many blocks "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "in cooperative "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "launch")
                                                                             WAVESIM_ERROR(hipErrorNotSupported, "operation not supported") WAVESIM_ERROR(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing") WAVESIM_ERROR(
                                                                                 hipErrorStreamCaptureInvalidated,
                                                                                 "operation "
                                                                                 "failed due to "
                                                                                 "a previous "
                                                                                 "error during "
                                                                                 "capture") WAVESIM_ERROR(hipErrorStreamCaptureMerge,
                                                                                                          "operation would result in a merge of separate capture sequences")
                                                                                 WAVESIM_ERROR(
                                                                                     hipErrorStreamCaptureUnmatched,
                                                                                     "capture "
                                                                                     "was not "
                                                                                     "ended in "
                                                                                     "the same "
                                                                                     "stream as "
                                                                                     "it "
                                                                                     "began") WAVESIM_ERROR(hipErrorStreamCaptureUnjoined,
                                                                                                            "capturing stream has unjoined work")
                                                                                     WAVESIM_ERROR(
                                                                                         hipErrorStreamCaptureIsolation,
                                                                                         "depend"
                                                                                         "ency "
                                                                                         "create"
                                                                                         "d on "
                                                                                         "uncapt"
                                                                                         "ured "
                                                                                         "work "
                                                                                         "in "
                                                                                         "anothe"
                                                                                         "r "
                                                                                         "strea"
                                                                                         "m") WAVESIM_ERROR(hipErrorStreamCaptureImplicit,
                                                                                                            "operation would make the legacy stream depend on a capturing blocking stream")
                                                                                         WAVESIM_ERROR(
                                                                                             hipErrorCapturedEvent,
                                                                                             "op"
                                                                                             "er"
                                                                                             "at"
                                                                                             "io"
                                                                                             "n "
                                                                                             "no"
                                                                                             "t "
                                                                                             "pe"
                                                                                             "rm"
                                                                                             "it"
                                                                                             "te"
                                                                                             "d "
                                                                                             "on"
                                                                                             " a"
                                                                                             "n "
                                                                                             "ev"
                                                                                             "en"
                                                                                             "t "
                                                                                             "la"
                                                                                             "st"
                                                                                             " "
                                                                                             "re"
                                                                                             "co"
                                                                                             "rd"
                                                                                             "ed"
                                                                                             " "
                                                                                             "in"
                                                                                             " a"
                                                                                             " "
                                                                                             "ca"
                                                                                             "pt"
                                                                                             "ur"
                                                                                             "in"
                                                                                             "g "
                                                                                             "st"
                                                                                             "re"
                                                                                             "a"
                                                                                             "m") WAVESIM_ERROR(hipErrorStreamCaptureWrongThread,
                                                                                                                "attempt "
                                                                                                                "to "
                                                                                                                "terminate"
                                                                                                                " a "
                                                                                                                "thread-"
                                                                                                                "local "
                                                                                                                "capture "
                                                                                                                "sequence "
                                                                                                                "from "
                                                                                                                "another "
                                                                                                                "thread")
                                                                                             WAVESIM_ERROR(
                                                                                                 hipErrorGraphExecUpdateFailure,
                                                                                                 "t"
                                                                                                 "h"
                                                                                                 "e"
                                                                                                 " "
                                                                                                 "g"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "p"
                                                                                                 "h"
                                                                                                 " "
                                                                                                 "u"
                                                                                                 "p"
                                                                                                 "d"
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 " "
                                                                                                 "w"
                                                                                                 "a"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "n"
                                                                                                 "o"
                                                                                                 "t"
                                                                                                 " "
                                                                                                 "p"
                                                                                                 "e"
                                                                                                 "r"
                                                                                                 "f"
                                                                                                 "o"
                                                                                                 "r"
                                                                                                 "m"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 " "
                                                                                                 "b"
                                                                                                 "e"
                                                                                                 "c"
                                                                                                 "a"
                                                                                                 "u"
                                                                                                 "s"
                                                                                                 "e"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 "t"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 "n"
                                                                                                 "c"
                                                                                                 "l"
                                                                                                 "u"
                                                                                                 "d"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 " "
                                                                                                 "c"
                                                                                                 "h"
                                                                                                 "a"
                                                                                                 "n"
                                                                                                 "g"
                                                                                                 "e"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "w"
                                                                                                 "h"
                                                                                                 "i"
                                                                                                 "c"
                                                                                                 "h"
                                                                                                 " "
                                                                                                 "v"
                                                                                                 "i"
                                                                                                 "o"
                                                                                                 "l"
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 " "
                                                                                                 "c"
                                                                                                 "o"
                                                                                                 "n"
                                                                                                 "s"
                                                                                                 "t"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "i"
                                                                                                 "n"
                                                                                                 "t"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "s"
                                                                                                 "p"
                                                                                                 "e"
                                                                                                 "c"
                                                                                                 "i"
                                                                                                 "f"
                                                                                                 "i"
                                                                                                 "c"
                                                                                                 " "
                                                                                                 "t"
                                                                                                 "o"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 "n"
                                                                                                 "s"
                                                                                                 "t"
                                                                                                 "a"
                                                                                                 "n"
                                                                                                 "t"
                                                                                                 "i"
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 " "
                                                                                                 "g"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "p"
                                                                                                 "h"
                                                                                                 " "
                                                                                                 "u"
                                                                                                 "p"
                                                                                                 "d"
                                                                                                 "a"
                                                                                                 "t"
                                                                                                 "e")
                                                                                                 WAVESIM_ERROR(
                                                                                                     hipErrorInvalidChannelDescriptor,
                                                                                                     "i"
                                                                                                     "n"
                                                                                                     "v"
                                                                                                     "a"
                                                                                                     "l"
                                                                                                     "i"
                                                                                                     "d"
                                                                                                     " "
                                                                                                     "c"
                                                                                                     "h"
                                                                                                     "a"
                                                                                                     "n"
                                                                                                     "n"
                                                                                                     "e"
                                                                                                     "l"
                                                                                                     " "
                                                                                                     "d"
                                                                                                     "e"
                                                                                                     "s"
                                                                                                     "c"
                                                                                                     "r"
                                                                                                     "i"
                                                                                                     "p"
                                                                                                     "t"
                                                                                                     "o"
                                                                                                     "r")
                                                                                                     WAVESIM_ERROR(
                                                                                                         hipErrorInvalidTexture,
                                                                                                         "in"
                                                                                                         "va"
                                                                                                         "li"
                                                                                                         "d "
                                                                                                         "te"
                                                                                                         "xt"
                                                                                                         "ur"
                                                                                                         "e")
                                                                                                         WAVESIM_ERROR(
                                                                                                             hipErrorUnknown,
                                                                                                             "unknown error")
                                                                                                             WAVESIM_ERROR(
                                                                                                                 hipErrorRuntimeMemory,
                                                                                                                 "runtime memory call returned error")
                                                                                                                 WAVESIM_ERROR(
                                                                                                                     hipErrorRuntimeOther,
                                                                                                                     "runtime call other than memory returned error")};
#undef WAVESIM_ERROR

const ErrorText* find(hipError_t code) {
  for (const ErrorText& e : errors)
    if (e.code == code)
      return &e;
  return nullptr;
}

} // namespace

int unsupported(const char* function) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (told->insert(function).second)
    note(std::string(function) + " is not supported");
  return record(hipErrorNotSupported);
}

WAVESIM_HIP_EXPORT hipError_t hipGetLastError() {
  return std::exchange(thread_state().last_error, hipSuccess);
}

WAVESIM_HIP_EXPORT hipError_t hipPeekAtLastError() {
  return thread_state().last_error;
}

WAVESIM_HIP_EXPORT hipError_t hipExtGetLastError() {
  ThreadState& state = thread_state();
  state.last_error = hipSuccess;
  return std::exchange(state.last_result, hipSuccess);
}

WAVESIM_HIP_EXPORT const char* hipGetErrorName(hipError_t hip_error) {
  const ErrorText* error = find(hip_error);
  return error ? error->name : "hipErrorUnknown";
}

WAVESIM_HIP_EXPORT const char* hipGetErrorString(hipError_t hipError) {
  const ErrorText* error = find(hipError);
  return error ? error->text : "unknown error";
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGetErrorName(hipError_t hipError, const char** errorString) {
  return call_without_device([&] {
    const ErrorText* error = find(hipError);
    if (!error || !errorString)
      return hipErrorInvalidValue;
    *errorString = error->name;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvGetErrorString(hipError_t hipError, const char** errorString) {
  return call_without_device([&] {
    const ErrorText* error = find(hipError);
    if (!error || !errorString)
      return hipErrorInvalidValue;
    *errorString = error->text;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
