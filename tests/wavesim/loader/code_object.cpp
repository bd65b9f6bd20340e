#include "loader/code_object.hpp"

#include "isa/decoder.hpp"
#include "loader/elf_image.hpp"
#include "loader/kernel_metadata.hpp"
#include "loader/op_store.hpp"
#include "loader/source_lines.hpp"
#include "machine/fault.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unordered_map>

namespace wavesim {

namespace {

/// LLVM's tables are the same for every code object, and decoding happens once per instruction.
struct SharedDecoder {
  std::mutex mutex;
  Decoder decoder;
};
SharedDecoder& shared_decoder() {
  static auto* shared = new SharedDecoder;
  return *shared;
}

} // namespace

struct CodeObject::Parts {
  std::unique_ptr<ElfImage> image;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
  std::unordered_map<std::string, Variable> variables;
  OpStore ops; ///< guarded by the decoder's mutex
  std::mutex lines_mutex;
  std::unique_ptr<SourceLines> lines;
  std::size_t slot_bytes = 0;
};

std::unique_ptr<CodeObject> CodeObject::load(std::span<const std::byte> elf, std::string& error) {
  std::unique_ptr<CodeObject> object(new CodeObject);
  object->parts_ = std::make_unique<Parts>();
  Parts& parts = *object->parts_;
  parts.image = ElfImage::load(elf, error);
  if (!parts.image)
    return nullptr;
  try {
    for (auto& kernel : read_kernels(*parts.image)) {
      kernel->object = object.get();
      parts.kernels.try_emplace(kernel->name, std::move(kernel));
    }
  } catch (const std::exception& defect) {
    error = fmt::format("not a usable gfx942 code object: {}", defect.what());
    return nullptr;
  }
  for (const auto& [name, symbol] : parts.image->symbols())
    if (!name.ends_with(".kd") && !parts.kernels.contains(name))
      parts.variables.emplace(name, Variable{symbol.address, symbol.size});
  if (parts.image->has_debug_lines())
    parts.lines = std::make_unique<SourceLines>(elf);

  object->text_begin_ = parts.image->text_begin();
  object->slots_ = (parts.image->text_end() - parts.image->text_begin()) / 4;
  // Zero pages that cost nothing until an instruction in them is decoded: code can be large.
  // One more than there are instructions, for behind() at the end of the code.
  parts.slot_bytes = (object->slots_ + 1) * sizeof(object->decoded_[0]);
  {
    void* memory = mmap(nullptr, parts.slot_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      error = "no memory for the table of decoded instructions";
      return nullptr;
    }
    object->decoded_ = static_cast<std::atomic<const Op*>*>(memory);
  }
  return object;
}

CodeObject::~CodeObject() {
  if (decoded_)
    munmap(decoded_, parts_->slot_bytes);
}

const Kernel* CodeObject::kernel(const std::string& mangled) const {
  const auto it = parts_->kernels.find(mangled);
  return it == parts_->kernels.end() ? nullptr : it->second.get();
}

std::vector<const Kernel*> CodeObject::kernels() const {
  std::vector<const Kernel*> all;
  for (const auto& [name, kernel] : parts_->kernels)
    all.push_back(kernel.get());
  std::sort(all.begin(), all.end(),
            [](const Kernel* a, const Kernel* b) { return a->descriptor < b->descriptor; });
  return all;
}

const CodeObject::Variable* CodeObject::variable(const std::string& mangled) const {
  const auto it = parts_->variables.find(mangled);
  return it == parts_->variables.end() ? nullptr : &it->second;
}

std::vector<std::string> CodeObject::variable_names() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : parts_->variables)
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

const Op* CodeObject::decode(std::uint64_t pc) const {
  SharedDecoder& shared = shared_decoder();
  const std::lock_guard lock(shared.mutex);
  const std::uint64_t slot = (pc - text_begin_) >> 2;
  if (const Op* op = decoded_[slot].load(std::memory_order_relaxed))
    return op;
  const auto left = parts_->image->text_end() - pc;
  const std::span bytes(reinterpret_cast<const std::byte*>(pc), left);
  const Op& op = parts_->ops.add(shared.decoder.decode(bytes, pc));
  decoded_[slot].store(&op, std::memory_order_release);
  return &op;
}

std::vector<const Op*> CodeObject::decoded() const {
  const std::lock_guard lock(shared_decoder().mutex);
  return parts_->ops.all();
}

std::string CodeObject::text(std::uint64_t pc) const {
  if (pc < text_begin_ || pc >= text_end())
    return {};
  SharedDecoder& shared = shared_decoder();
  const std::lock_guard lock(shared.mutex);
  return shared.decoder.text({reinterpret_cast<const std::byte*>(pc), text_end() - pc}, pc);
}

std::string CodeObject::source_line(std::uint64_t pc) const {
  if (!parts_->lines)
    return {};
  const std::lock_guard lock(parts_->lines_mutex);
  return parts_->lines->at(pc - parts_->image->bias());
}

std::string CodeObject::function_name(std::uint64_t pc) const {
  const auto& functions = parts_->image->functions();
  auto it = std::upper_bound(functions.begin(), functions.end(), pc,
                             [](std::uint64_t x, const auto& f) { return x < f.begin; });
  if (it == functions.begin())
    return {};
  --it;
  return pc < it->end ? demangled(it->name) : std::string();
}

std::optional<std::uint64_t> CodeObject::constant64(std::uint64_t address) const {
  const auto bytes = parts_->image->bytes(address, 8);
  if (bytes.empty() || !parts_->image->read_only_after_relocation(address))
    return std::nullopt;
  std::uint64_t x;
  std::memcpy(&x, bytes.data(), sizeof x);
  return x;
}

} // namespace wavesim
