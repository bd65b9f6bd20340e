// What a code object says about its kernels: the metadata note and the 64-byte kernel descriptors.
#pragma once

#include "loader/code_object.hpp"

#include <memory>
#include <string>
#include <vector>

namespace wavesim {

class ElfImage;

/// The kernels of the image, Kernel::object not yet set. Throws std::runtime_error with a sentence
/// when metadata or a descriptor is damaged.
std::vector<std::unique_ptr<Kernel>> read_kernels(const ElfImage& image);

} // namespace wavesim
