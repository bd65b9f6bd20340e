#include "loader/kernel_metadata.hpp"

#include "loader/elf_image.hpp"
#include "loader/message_pack.hpp"
#include "machine/occupancy.hpp"
#include "machine/parallel_safety.hpp"

#include <cstring>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

namespace wavesim {

Kernel::Kernel() = default;
Kernel::~Kernel() = default;

namespace {

// More than any kernel can have (the hardware field for private memory allows less).
constexpr std::uint64_t largest_kernarg = 1 << 20;
constexpr std::uint64_t largest_scratch = 1 << 20;

class MetadataReader {
public:
  explicit MetadataReader(const ElfImage& image) : image_(image) {}

  std::vector<std::unique_ptr<Kernel>> read() {
    std::vector<std::unique_ptr<Kernel>> kernels; // none: device variables only
    std::set<std::string> names;                  // templates may stand in several notes
    for (const std::string& note : image_.metadata()) {
      PackNode root;
      if (!read_pack(note, root) || root.kind != PackNode::Kind::map)
        throw std::runtime_error("the metadata note is damaged");
      const PackNode* list = root.find("amdhsa.kernels");
      if (!list)
        continue;
      if (list->kind != PackNode::Kind::array)
        throw std::runtime_error("the metadata's list of kernels is damaged");
      for (const PackNode& node : list->array)
        if (auto kernel = read_kernel(node); names.insert(kernel->name).second)
          kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

private:
  static std::uint64_t number(const PackNode& node, std::string_view key, std::uint64_t otherwise,
                              std::uint64_t largest) {
    const PackNode* found = node.find(key);
    if (!found)
      return otherwise;
    if (found->kind != PackNode::Kind::number)
      throw std::runtime_error(fmt::format("metadata: {} is not a number", key));
    if (found->number > largest)
      throw std::runtime_error(
          fmt::format("metadata: {} is {}, more than {}", key, found->number, largest));
    return found->number;
  }

  static std::uint32_t number32(const PackNode& node, std::string_view key, std::uint32_t otherwise,
                                std::uint64_t largest) {
    return static_cast<std::uint32_t>(number(node, key, otherwise, largest));
  }

  static std::string text(const PackNode& node, std::string_view key) {
    const PackNode* found = node.find(key);
    if (!found || found->kind != PackNode::Kind::text)
      throw std::runtime_error(fmt::format("metadata: {} is missing", key));
    return found->text;
  }

  std::unique_ptr<Kernel> read_kernel(const PackNode& node) const {
    auto kernel = std::make_unique<Kernel>();
    kernel->name = text(node, ".name");
    const std::string symbol = text(node, ".symbol");
    kernel->kernarg_bytes = number32(node, ".kernarg_segment_size", 0, largest_kernarg);
    kernel->sgprs = number32(node, ".sgpr_count", 0, 1024);
    kernel->max_workgroup = number32(node, ".max_flat_workgroup_size", 1024, 1024);
    kernel->dynamic_stack = number(node, ".uses_dynamic_stack", 0, 1) != 0;
    if (number(node, ".wavefront_size", 64, 64) != 64)
      throw std::runtime_error(fmt::format("kernel {}: wavefront size is not 64", kernel->name));
    read_arguments(node, *kernel);
    const auto it = image_.symbols().find(symbol);
    if (it == image_.symbols().end())
      throw std::runtime_error(
          fmt::format("kernel {}: its descriptor {} is missing", kernel->name, symbol));
    read_descriptor(it->second.address, *kernel);
    kernel->used_registers = number32(node, ".vgpr_count", kernel->vgprs + kernel->agprs, 1024);
    return kernel;
  }

  static void read_arguments(const PackNode& node, Kernel& kernel) {
    const PackNode* list = node.find(".args");
    if (!list)
      return;
    if (list->kind != PackNode::Kind::array)
      throw std::runtime_error(fmt::format("kernel {}: .args is damaged", kernel.name));
    for (const PackNode& entry : list->array) {
      KernelArgument argument;
      argument.kind = text(entry, ".value_kind");
      argument.offset = number32(entry, ".offset", 0, largest_kernarg);
      argument.size = number32(entry, ".size", 0, largest_kernarg);
      if (argument.offset > kernel.kernarg_bytes ||
          argument.size > kernel.kernarg_bytes - argument.offset)
        throw std::runtime_error(
            fmt::format("kernel {}: argument at offset {} with {} bytes is outside the {} bytes of "
                        "arguments",
                        kernel.name, argument.offset, argument.size, kernel.kernarg_bytes));
      kernel.arguments.push_back(std::move(argument));
    }
  }

  void read_descriptor(std::uint64_t address, Kernel& kernel) const {
    constexpr std::size_t descriptor_bytes = 64;
    const auto bytes = image_.bytes(address, descriptor_bytes);
    if (bytes.empty())
      throw std::runtime_error(
          fmt::format("kernel {}: its descriptor is outside the segments", kernel.name));
    const auto get = [&]<class T>(T& x, std::size_t at) {
      std::memcpy(&x, bytes.data() + at, sizeof x);
    };
    std::int64_t entry_offset = 0;
    std::uint32_t kernarg = 0;
    get(kernel.lds_bytes, 0);
    get(kernel.scratch_bytes, 4);
    get(kernarg, 8);
    get(entry_offset, 16);
    get(kernel.rsrc3, 44);
    get(kernel.rsrc1, 48);
    get(kernel.rsrc2, 52);
    get(kernel.properties, 56);
    get(kernel.kernarg_preload, 58);
    kernel.descriptor = address;
    kernel.entry = address + static_cast<std::uint64_t>(entry_offset);
    kernel.kernarg_bytes = std::max(kernel.kernarg_bytes, kernarg);

    constexpr std::uint16_t wave32 = 1u << 10, dynamic_stack = 1u << 11;
    kernel.dynamic_stack |= (kernel.properties & dynamic_stack) != 0;
    const unsigned total = 8 * ((kernel.rsrc1 & 63u) + 1);
    const unsigned first_agpr = 4 * ((kernel.rsrc3 & 63u) + 1);
    kernel.vgprs = std::min(std::min(total, first_agpr), 256u);
    kernel.agprs = total > first_agpr ? std::min(total - first_agpr, 256u) : 0;

    const auto reject = [&](const char* why) {
      throw std::runtime_error(fmt::format("kernel {}: {}", kernel.name, why));
    };
    if (kernel.properties & wave32)
      reject("its descriptor asks for wavefronts of 32 lanes");
    if (kernel.lds_bytes > device_limits::lds_bytes)
      reject("it needs more LDS than a workgroup can have");
    if (kernel.scratch_bytes > largest_scratch)
      reject("it needs more private memory than a lane can have");
    if (kernel.kernarg_bytes > largest_kernarg)
      reject("its arguments are larger than arguments can be");
    if (kernel.entry % 4 != 0 || kernel.entry < image_.text_begin() ||
        kernel.entry >= image_.text_end())
      reject("its entry is outside the code");
  }

  const ElfImage& image_;
};

} // namespace

std::vector<std::unique_ptr<Kernel>> read_kernels(const ElfImage& image) {
  return MetadataReader(image).read();
}

} // namespace wavesim
