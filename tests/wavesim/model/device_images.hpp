// The code objects inside a file: a program or library (whatever number of bundles was linked into
// it), an object file, a bundle, or a code object itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wavesim {

/// Those for gfx942, in the order of the file; empty with a sentence in `error` when there is none.
std::vector<std::vector<std::byte>> device_images(const std::string& file, std::string& error);

} // namespace wavesim
