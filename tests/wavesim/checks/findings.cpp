#include "checks/findings.hpp"

#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"
#include "machine/wave.hpp"

#include <cstdio>
#include <fmt/format.h>

namespace wavesim {

namespace {

const CodeObject* object_of(const Sighting& s) {
  const Dispatch* dispatch = s.group ? s.group->dispatch : nullptr;
  return dispatch && dispatch->kernel ? dispatch->kernel->object : nullptr;
}

Finding::Side side_of(const Actor& actor, const CodeObject* object) {
  Finding::Side side;
  side.role = actor.role;
  side.wave = actor.wave;
  side.lanes = actor.lanes;
  if (!object || actor.pc == 0)
    return side;
  side.offset = actor.pc - object->text_begin();
  side.instruction = object->text(actor.pc);
  side.function = object->function_name(actor.pc);
  side.source = object->source_line(actor.pc);
  return side;
}

std::uint64_t hash_of(const Sighting& s, std::string_view kernel) {
  const std::string_view outside_of_kernels = s.group ? std::string_view() : s.detail;
  std::uint64_t h = std::hash<std::string_view>()(s.what) ^
                    std::hash<std::string_view>()(kernel) * 31 ^
                    std::hash<std::string_view>()(outside_of_kernels) * 37;
  for (const std::uint64_t x : {s.here.pc, s.other.pc})
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h;
}

std::string side_text(const Finding::Side& side) {
  std::string text = fmt::format("  {:<11} ", side.role);
  if (side.instruction.empty())
    text += "an instruction that is no longer known";
  else
    text += fmt::format("{} (text+{:#x}{}{})", side.instruction, side.offset,
                        side.function.empty() ? "" : " in ", side.function);
  if (!side.source.empty())
    text += fmt::format("\n              {}", side.source);
  if (side.wave >= 0)
    text += fmt::format("\n              wave {}", side.wave);
  if (side.lanes)
    text += fmt::format("{}{} {}", side.wave >= 0 ? ", " : "\n              ",
                        (side.lanes & (side.lanes - 1)) ? "lanes" : "lane", lane_list(side.lanes));
  return text + "\n";
}

} // namespace

std::string lane_list(std::uint64_t mask) {
  std::string text;
  for (unsigned first = 0; first < 64; ++first) {
    if (!(mask >> first & 1))
      continue;
    unsigned last = first;
    while (last + 1 < 64 && mask >> (last + 1) & 1)
      ++last;
    text += text.empty() ? "" : ",";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text;
}

std::string to_text(const Finding& f, std::size_t number) {
  std::string text = fmt::format("wavesim: {} #{}: {}\n", name_of(f.check), number, f.what);
  if (!f.detail.empty())
    text += fmt::format("  {}\n", f.detail);
  if (f.in_kernel)
    text += fmt::format("  kernel      {}\n  workgroup   ({}, {}, {})\n", f.kernel, f.workgroup[0],
                        f.workgroup[1], f.workgroup[2]);
  if (!f.space.empty())
    text += fmt::format("  address     {:#x} in {}\n", f.address, f.space);
  if (!f.here.role.empty())
    text += side_text(f.here);
  if (!f.other.role.empty())
    text += side_text(f.other);
  return text;
}

Findings& Findings::instance() {
  // Never destroyed: exit handlers of the program may still run kernels.
  static auto* only = new Findings;
  return *only;
}

void Findings::add(const Sighting& s) {
  const std::lock_guard lock(mutex_);
  const CodeObject* object = object_of(s);
  const std::string_view kernel = object ? s.group->dispatch->kernel->name : std::string_view();
  const std::uint64_t hash = hash_of(s, kernel);
  const auto offset = [&](std::uint64_t pc) {
    return object && pc ? pc - object->text_begin() : 0;
  };
  for (auto [it, end] = index_.equal_range(hash); it != end; ++it) {
    Finding& f = findings_[it->second];
    if (f.check == s.check && f.what == s.what && f.here.offset == offset(s.here.pc) &&
        f.other.offset == offset(s.other.pc)) {
      ++f.count;
      return;
    }
  }
  Finding f;
  f.check = s.check;
  f.what = s.what;
  f.detail = s.detail;
  f.space = s.space;
  f.address = s.address;
  f.failing = s.failing && !s.note;
  f.note = s.note;
  f.count = 1;
  if (s.group) {
    f.in_kernel = true;
    f.kernel = demangled(std::string(kernel));
    std::copy_n(s.group->id, 3, f.workgroup);
  }
  f.here = side_of(s.here, object);
  f.other = side_of(s.other, object);
  index_.emplace(hash, findings_.size());
  findings_.push_back(std::move(f));
  if (printing_ && (notes_ || !s.note)) {
    std::fflush(stdout);
    fmt::print(stderr, "{}", to_text(findings_.back(), findings_.size()));
  }
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

bool Findings::any_failing() const {
  const std::lock_guard lock(mutex_);
  for (const Finding& f : findings_)
    if (f.failing)
      return true;
  return false;
}

std::string Findings::summary() const {
  const std::lock_guard lock(mutex_);
  if (findings_.empty())
    return {};
  std::string list;
  std::size_t faults = 0, harmless = 0, listed_notes = 0, notes = 0;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    const Finding& f = findings_[i];
    if (f.note && !notes_) {
      ++notes;
      continue;
    }
    ++(f.note ? listed_notes : f.failing ? faults : harmless);
    list += fmt::format("  #{} {}: {}{}{}, {} {}{}\n", i + 1, name_of(f.check), f.what,
                        f.kernel.empty() ? "" : " in ", f.kernel, f.count,
                        f.count == 1 ? "time" : "times",
                        f.note      ? " (a note: legal, but odd)"
                        : f.failing ? ""
                                    : " (harmless: does not count for the exit code)");
  }
  std::string text;
  std::vector<std::string> found;
  if (faults != 0)
    found.push_back(fmt::format("{} {}", faults, faults == 1 ? "fault" : "different faults"));
  if (harmless != 0)
    found.push_back(
        fmt::format("{} harmless {}", harmless, harmless == 1 ? "sighting" : "sightings"));
  if (listed_notes != 0)
    found.push_back(fmt::format("{} {}", listed_notes, listed_notes == 1 ? "note" : "notes"));
  if (!found.empty())
    text += fmt::format("wavesim: the checks found {}\n{}", fmt::join(found, " and "), list);
  if (notes != 0)
    text += fmt::format("wavesim: {} {} of legal but odd behaviour (WAVESIM_CHECK_NOTES=1 lists "
                        "them)\n",
                        notes, notes == 1 ? "place" : "places");
  return text;
}

void Findings::clear() {
  const std::lock_guard lock(mutex_);
  findings_.clear();
  index_.clear();
}

} // namespace wavesim
