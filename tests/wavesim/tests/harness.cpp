#include "tests/harness.hpp"

#include <gtest/gtest.h>

#include <llvm/ADT/SmallString.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>

namespace wavesim::test {
namespace {

/// A relocatable ELF of the text, or "" after reporting the assembler's messages.
std::string assemble_object(const std::string& text) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    ADD_FAILURE() << error;
    return {};
  }
  llvm::SourceMgr sources;
  std::string messages;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& d, void* out) {
        *static_cast<std::string*>(out) +=
            d.getMessage().str() + ": " + d.getLineContents().str() + "\n";
      },
      &messages);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text + "\n"), llvm::SMLoc());
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> asm_info(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "gfx942", ""));
  llvm::MCContext context(triple, asm_info.get(), registers.get(), subtarget.get(), &sources,
                          &options);
  std::unique_ptr<llvm::MCObjectFileInfo> file_info(target->createMCObjectFileInfo(context, true));
  context.setObjectFileInfo(file_info.get());
  llvm::SmallString<1024> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *asm_info));
  std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(false)) {
    ADD_FAILURE() << messages << "while assembling:\n" << text;
    return {};
  }
  return object.str().str();
}

} // namespace

std::vector<Simd> levels() {
  std::vector<Simd> all{Simd::avx2};
  if (simd_level() == Simd::avx512)
    all.push_back(Simd::avx512);
  return all;
}

const char* name(Simd level) {
  return level == Simd::avx512 ? "avx512" : "avx2";
}

std::vector<std::byte> assemble(const std::string& text) {
  const std::string elf = assemble_object(text);
  if (elf.empty())
    return {};
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(elf, "test"));
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return {};
  }
  for (const llvm::object::SectionRef& section : (*object)->sections()) {
    auto title = section.getName();
    auto contents = section.getContents();
    if (!title || !contents || *title != ".text")
      continue;
    const auto bytes = std::as_bytes(std::span(contents->data(), contents->size()));
    return {bytes.begin(), bytes.end()};
  }
  return {};
}

Program::Program(const std::string& text, Simd level) : code_(assemble(text)) {
  static std::map<Simd, std::unique_ptr<Decoder>> decoders;
  std::unique_ptr<Decoder>& decoder = decoders[level];
  if (!decoder)
    decoder = std::make_unique<Decoder>(level);
  for (std::size_t at = 0; at < code_.size();) {
    ops_.push_back(decoder->decode(std::span(code_).subspan(at), begin() + at));
    ops_.back().id = static_cast<std::uint32_t>(ops_.size() - 1);
    by_pc_[begin() + at] = &ops_.back();
    at += std::max<std::size_t>(ops_.back().size, 4);
  }
}

const Op* Program::at(std::uint64_t pc) const {
  const auto found = by_pc_.find(pc);
  return found == by_pc_.end() ? nullptr : found->second;
}

struct Machine::Parts {
  Wave* wave = nullptr;
  Workgroup group;
  Dispatch dispatch;
  std::vector<std::byte> lds_space, scratch;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::vector<Range> ranges;
};

Machine::Machine(Simd l) : Machine(std::make_unique<Parts>(), l) {}

Machine::Machine(std::unique_ptr<Parts> parts, Simd l)
    : wave(*[&] {
        parts->group.waves.push_back(std::make_unique<Wave>());
        return parts->group.waves.back().get();
      }()),
      group(parts->group), level(l), parts_(std::move(parts)) {
  parts_->lds_space.resize(lds_bytes + 128);
  parts_->scratch.resize(std::size_t{scratch_bytes} * lanes);
  void* aligned = parts_->lds_space.data();
  std::size_t space = parts_->lds_space.size();
  group.lds = static_cast<std::byte*>(std::align(64, lds_bytes + 64, aligned, space));
  group.lds_bytes = lds_bytes;
  group.dispatch = &parts_->dispatch;
  group.wave_count = 1;
  std::memset(wave.v, 0, sizeof wave.v);
  std::memset(wave.a, 0, sizeof wave.a);
  std::memset(wave.s, 0, sizeof wave.s);
  wave.mode = default_mode;
  wave.live = ~std::uint64_t{0};
  wave.set_exec(~std::uint64_t{0});
  wave.group = &group;
  wave.scratch = parts_->scratch.data();
  wave.scratch_bytes = scratch_bytes;
  parts_->dispatch.block[0] = lanes;
  publish();
}

Machine::~Machine() = default;

void Machine::publish() {
  std::vector<Range> sorted = parts_->ranges;
  std::sort(sorted.begin(), sorted.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  parts_->dispatch.memory = std::make_shared<const MemorySnapshot>(std::move(sorted));
}

std::byte* Machine::allocate(std::size_t bytes) {
  // Spare room around the block keeps neighbours apart, so a stray access is a fault, not a hit.
  constexpr std::size_t guard = 256;
  parts_->blocks.push_back(std::make_unique<std::byte[]>(bytes + 2 * guard));
  void* p = parts_->blocks.back().get() + guard / 2;
  std::size_t space = bytes + guard;
  p = std::align(128, bytes, p, space);
  Range range;
  range.begin = reinterpret_cast<std::uintptr_t>(p);
  range.end = range.begin + bytes;
  range.serial = parts_->blocks.size();
  parts_->ranges.push_back(range);
  publish();
  return static_cast<std::byte*>(p);
}

void Machine::run(const std::string& text) {
  run(Program(text, level));
}

void Machine::run(const Program& program) {
  wave.pc = program.begin();
  resume(program);
}

void Machine::resume(const Program& program) {
  wave.status = WaveStatus::running;
  while (wave.status == WaveStatus::running && wave.pc != program.end()) {
    const Op* op = program.at(wave.pc);
    if (!op) {
      ADD_FAILURE() << "the program counter left the test program";
      return;
    }
    wave.pc = op->pc + op->size;
    ++wave.retired;
    op->execute(wave, *op);
  }
}

} // namespace wavesim::test
