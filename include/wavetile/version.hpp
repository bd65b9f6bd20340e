/// \file
/// Version of the library.
#pragma once

#define WAVETILE_VERSION_MAJOR 0
#define WAVETILE_VERSION_MINOR 1
#define WAVETILE_VERSION_PATCH 0

/// One integer that orders versions: major * 10000 + minor * 100 + patch.
#define WAVETILE_VERSION                                                                           \
  (WAVETILE_VERSION_MAJOR * 10000 + WAVETILE_VERSION_MINOR * 100 + WAVETILE_VERSION_PATCH)
