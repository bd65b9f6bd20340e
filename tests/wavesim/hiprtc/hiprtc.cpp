// libhiprtc.so.7: there is no run-time compiler here. Programs that link against it load, and a
// call says what is missing. Parameters do not matter, so HIP's declarations are not included: the
// C ABI lets a function without parameters be called with any.
#include <cstdio>

namespace {

constexpr int internal_error = 11; ///< HIPRTC_ERROR_INTERNAL_ERROR

int unsupported(const char* function) {
  std::fprintf(stderr,
               "wavesim: %s is not supported: there is no run-time compiler; compile ahead of time "
               "with --offload-arch=gfx942\n",
               function);
  return internal_error;
}

} // namespace

#define WAVESIM_HIPRTC(name)                                                                       \
  extern "C" __attribute__((visibility("default"))) int name() {                                   \
    return unsupported(#name);                                                                     \
  }

WAVESIM_HIPRTC(hiprtcAddNameExpression)
WAVESIM_HIPRTC(hiprtcCompileProgram)
WAVESIM_HIPRTC(hiprtcCreateProgram)
WAVESIM_HIPRTC(hiprtcDestroyProgram)
WAVESIM_HIPRTC(hiprtcGetBitcode)
WAVESIM_HIPRTC(hiprtcGetBitcodeSize)
WAVESIM_HIPRTC(hiprtcGetCode)
WAVESIM_HIPRTC(hiprtcGetCodeSize)
WAVESIM_HIPRTC(hiprtcGetLoweredName)
WAVESIM_HIPRTC(hiprtcGetProgramLog)
WAVESIM_HIPRTC(hiprtcGetProgramLogSize)
WAVESIM_HIPRTC(hiprtcLinkAddData)
WAVESIM_HIPRTC(hiprtcLinkAddFile)
WAVESIM_HIPRTC(hiprtcLinkComplete)
WAVESIM_HIPRTC(hiprtcLinkCreate)
WAVESIM_HIPRTC(hiprtcLinkDestroy)
WAVESIM_HIPRTC(hiprtcVersion)

extern "C" __attribute__((visibility("default"))) const char* hiprtcGetErrorString(int result) {
  return result == 0 ? "HIPRTC_SUCCESS"
                     : "HIPRTC_ERROR_INTERNAL_ERROR: wavesim has no run-time compiler";
}
