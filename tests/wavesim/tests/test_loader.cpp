// Code objects and bundles: what is found in good ones, what is said of damaged ones.
#include "code_object_runner.hpp"
#include "loader/architecture.hpp"
#include "loader/fat_binary.hpp"

#include <algorithm>
#include <cstdint>
#include <elf.h>
#include <random>

namespace wavesim::test {
namespace {

std::vector<std::byte> code_object() {
  return read_file(WAVESIM_TEST_CODE_OBJECT);
}

TEST(CodeObject, KernelsAndTheirMetadata) {
  std::string error;
  const auto object = CodeObject::load(code_object(), error);
  ASSERT_TRUE(object) << error;
  const Kernel* k = object->kernel("histogram");
  ASSERT_TRUE(k);
  EXPECT_FALSE(object->kernel("histogra"));
  EXPECT_EQ(k->object, object.get());
  EXPECT_EQ(k->max_workgroup, 1024u);
  EXPECT_GE(k->vgprs, 1u);
  EXPECT_LE(k->vgprs, 128u);
  EXPECT_EQ(k->entry % 256, 0u);
  ASSERT_GE(k->arguments.size(), 3u);
  EXPECT_EQ(k->arguments[0].kind, "global_buffer");
  EXPECT_EQ(k->arguments[1].offset, 8u);
  EXPECT_EQ(k->arguments[2].size, 4u);
  EXPECT_FALSE(k->arguments[2].is_hidden());
  EXPECT_TRUE(k->arguments.back().is_hidden());
  EXPECT_EQ(object->kernel("reduce_lds")->lds_bytes, 1024u);
  EXPECT_TRUE(object->kernel("recursion")->dynamic_stack);
  EXPECT_EQ(object->function_name(k->entry), "histogram");
  EXPECT_EQ(object->function_name(object->text_end()), "");
}

TEST(CodeObject, VariablesAreInitialised) {
  std::string error;
  const auto object = CodeObject::load(code_object(), error);
  ASSERT_TRUE(object) << error;
  const auto* counter = object->variable("device_counter");
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->size, 4u);
  EXPECT_EQ(*reinterpret_cast<const int*>(counter->address), 7);
  const auto* table = object->variable("constant_table");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->size, 16u);
  EXPECT_TRUE(MemoryMap::instance().lookup(counter->address));
  EXPECT_FALSE(object->variable("histogram"));
}

TEST(CodeObject, ItsMemoryGoesWithIt) {
  std::string error;
  auto object = CodeObject::load(code_object(), error);
  ASSERT_TRUE(object) << error;
  const std::uint64_t text = object->text_begin();
  EXPECT_EQ(MemoryMap::instance().lookup(text)->kind, RangeKind::code);
  object.reset();
  EXPECT_FALSE(MemoryMap::instance().lookup(text));
}

TEST(CodeObject, SourceLines) {
  std::string error;
  const auto object = CodeObject::load(code_object(), error);
  ASSERT_TRUE(object) << error;
  // Some of its instructions come from HIP's headers, the atomic addition from the kernel's own
  // file.
  const auto file = std::string("scheduler_kernels.hip:");
  unsigned own = 0, known = 0;
  std::uint64_t pc = object->kernel("histogram")->entry;
  for (const Op* op = object->at(pc); op && !(op->info && (op->info->flags & op_ends));
       op = object->at(pc)) {
    const std::string line = object->source_line(pc);
    known += !line.empty();
    own += line.find(file) != std::string::npos;
    pc += op->size;
  }
  EXPECT_GT(own, 0u);
  EXPECT_GT(known, own);
  EXPECT_EQ(object->source_line(object->text_begin() - 4), "");
}

TEST(CodeObject, NotesWithoutAlignment) {
  auto bytes = code_object();
  const auto header = *reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  unsigned notes = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::byte* place = bytes.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, place, sizeof section);
    if (section.sh_type != SHT_NOTE)
      continue;
    ++notes;
    section.sh_addralign = 0;
    std::memcpy(place, &section, sizeof section);
  }
  EXPECT_EQ(notes, 1u);
  std::string error;
  const auto object = CodeObject::load(bytes, error);
  ASSERT_TRUE(object) << error;
  EXPECT_TRUE(object->kernel("histogram"));
}

TEST(CodeObject, SaysWhatIsWrong) {
  const auto good = code_object();
  const auto complaint = [](std::vector<std::byte> bytes) {
    std::string error;
    EXPECT_FALSE(CodeObject::load(bytes, error));
    return error;
  };
  EXPECT_NE(complaint({}).find("does not start like"), std::string::npos);
  auto other = good;
  other[18] = std::byte{0x3e}; // e_machine: x86-64
  EXPECT_NE(complaint(other).find("not AMDGPU"), std::string::npos);
  other = good;
  other[48] = std::byte{0x41}; // e_flags: gfx1100
  EXPECT_NE(complaint(other).find("built for gfx1100"), std::string::npos);
  other = good;
  other[49] = std::byte{0x07}; // xnack+, sramecc any
  EXPECT_NE(complaint(other).find("xnack+"), std::string::npos);
  other = good;
  other.resize(other.size() / 2);
  EXPECT_FALSE(complaint(other).empty());
}

/// Loads it and, where that works, touches everything a program could ask for.
void load_and_look(std::span<const std::byte> bytes) {
  const DeviceImage image = extract_device_image(bytes);
  if (image.elf.empty()) {
    EXPECT_FALSE(image.error.empty());
    return;
  }
  std::string error;
  const auto object = CodeObject::load(image.elf, error);
  if (!object) {
    EXPECT_FALSE(error.empty());
    return;
  }
  for (const Kernel* k : object->kernels()) {
    const Op* op = object->at(k->entry);
    EXPECT_TRUE(op);
    object->text(k->entry);
    object->source_line(k->entry);
    object->function_name(k->entry);
  }
  for (const auto& name : object->variable_names())
    EXPECT_TRUE(object->variable(name));
}

void corpus(const std::vector<std::byte>& good, unsigned flips, unsigned cuts) {
  std::mt19937 random(42);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  // Exactly as long as the test says, so that a read past the end is one of the heap's.
  for (unsigned i = 0; i < cuts; ++i) {
    const std::vector<std::byte> cut(
        good.begin(), good.begin() + static_cast<std::ptrdiff_t>(below(good.size())));
    load_and_look(cut);
  }
  for (unsigned i = 0; i < flips; ++i) {
    auto flipped = good;
    // The tables at both ends matter most.
    const std::size_t window = i % 2 ? flipped.size() : std::min<std::size_t>(flipped.size(), 2048);
    for (unsigned k = 0; k < 1 + i % 4; ++k)
      flipped[below(window)] ^= static_cast<std::byte>(1u << below(8));
    load_and_look(flipped);
  }
}

TEST(DamagedCode, CodeObjectCorpus) {
  corpus(code_object(), 600, 200);
}
TEST(DamagedCode, BundleCorpus) {
  corpus(read_file(WAVESIM_TEST_BUNDLE), 300, 100);
}
TEST(DamagedCode, CompressedBundleCorpus) {
  corpus(read_file(WAVESIM_TEST_COMPRESSED_BUNDLE), 300, 100);
}

// Source lines come from damaged debug information or do not come.
TEST(DamagedCode, DebugInformation) {
  const auto good = code_object();
  const auto header = *reinterpret_cast<const Elf64_Ehdr*>(good.data());
  std::mt19937 random(1);
  unsigned flipped_sections = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, good.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_flags & SHF_ALLOC || section.sh_type != SHT_PROGBITS || section.sh_size == 0)
      continue;
    ++flipped_sections;
    // Every bit of the first bytes: there the forms of a unit's own entry are, of which one that
    // turns into a block made LLVM read far behind the section. Then any bits.
    constexpr unsigned first_bits = 96;
    for (unsigned k = 0; k < first_bits + 30; ++k) {
      auto bytes = good;
      for (unsigned n = 0; n < 1 + (k < first_bits ? 0 : k % 4); ++n) {
        const std::uint64_t bit = k < first_bits ? k : random() % (8 * section.sh_size);
        bytes[section.sh_offset + bit / 8 % section.sh_size] ^=
            static_cast<std::byte>(1u << bit % 8);
      }
      std::string error;
      const auto object = CodeObject::load(bytes, error);
      ASSERT_TRUE(object) << error;
      for (const Kernel* kernel : object->kernels())
        object->source_line(kernel->entry);
    }
  }
  EXPECT_GE(flipped_sections, 4u); // .debug_abbrev, _info, _line, _str …
}

TEST(Bundle, TakesTheCodeForTheDevice) {
  for (const char* path : {WAVESIM_TEST_BUNDLE, WAVESIM_TEST_COMPRESSED_BUNDLE}) {
    const DeviceImage image = extract_device_image(read_file(path));
    EXPECT_FALSE(image.damaged);
    EXPECT_EQ(image.error, "");
    EXPECT_EQ(image.architectures, (std::vector<std::string>{"gfx90a", "gfx942"}));
    std::string error;
    const auto object = CodeObject::load(image.elf, error);
    ASSERT_TRUE(object) << error;
    EXPECT_TRUE(object->kernel("histogram"));
  }
}

TEST(Bundle, ListsWhatThereIsWhenNothingFits) {
  auto bundle = read_file(WAVESIM_TEST_BUNDLE);
  const std::string from = "--gfx942", to = "--gfx950";
  const auto at = std::search(bundle.begin(), bundle.end(), from.begin(), from.end(),
                              [](std::byte b, char c) { return static_cast<char>(b) == c; });
  ASSERT_NE(at, bundle.end());
  std::transform(to.begin(), to.end(), at, [](char c) { return static_cast<std::byte>(c); });
  const DeviceImage image = extract_device_image(bundle);
  EXPECT_TRUE(image.elf.empty());
  EXPECT_FALSE(image.damaged);
  EXPECT_NE(image.error.find("no code for gfx942:sramecc+:xnack-"), std::string::npos);
  EXPECT_NE(image.error.find("gfx90a, gfx950"), std::string::npos);
}

TEST(Architecture, Suitability) {
  EXPECT_GT(suitability("gfx942:sramecc+:xnack-"), suitability("gfx942:xnack-"));
  EXPECT_GT(suitability("gfx942:xnack-"), suitability("gfx942"));
  EXPECT_GT(suitability("gfx942"), suitability("gfx9-4-generic"));
  EXPECT_GT(suitability("gfx9-4-generic"), 0);
  for (const char* other :
       {"gfx942:xnack+", "gfx942:sramecc-", "gfx90a", "gfx9-generic", "gfx94", ""})
    EXPECT_EQ(suitability(other), 0) << other;
}

TEST(ReadableFrom, EndsWithTheMapping) {
  EXPECT_TRUE(readable_from(nullptr).empty());
  const int here = 0;
  EXPECT_GE(readable_from(&here).size(), sizeof here);
}

} // namespace
} // namespace wavesim::test
