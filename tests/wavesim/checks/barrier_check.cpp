#include "checks/barrier_check.hpp"

#include "checks/findings.hpp"
#include "machine/wave.hpp"

#include <fmt/format.h>

namespace wavesim {

namespace {

constexpr std::uint64_t barrier_bytes = 4;

void report(const Workgroup& group, const char* what, Actor here, Actor other, std::string detail,
            bool note = false) {
  Sighting s;
  s.note = note;
  s.check = Check::barrier;
  s.what = what;
  s.group = &group;
  s.here = here;
  s.other = other;
  s.detail = std::move(detail);
  Findings::instance().add(s);
}

Actor at_barrier(const Wave& wave) {
  return {"barrier", wave.pc - barrier_bytes, wave.index, wave.exec()};
}

} // namespace

void check_barrier(const Workgroup& group) {
  const Wave* first = nullptr;
  const Wave* ended = nullptr;
  for (unsigned i = 0; i < group.wave_count; ++i) {
    const Wave& wave = *group.waves[i];
    if (wave.status == WaveStatus::ended) {
      ended = &wave;
      continue;
    }
    if (wave.exec() != wave.live)
      report(group, "lanes are switched off at a barrier that were there at the kernel's entry",
             at_barrier(wave), {},
             fmt::format("lanes {} do not take part", lane_list(wave.live & ~wave.exec())));
    if (!first)
      first = &wave;
    else if (wave.pc != first->pc)
      report(group, "waves of one workgroup stand at different barriers", at_barrier(wave),
             at_barrier(*first), "the hardware lets them pass together", true);
  }
  if (ended && first)
    report(group, "a wave ended while others wait at a barrier", at_barrier(*first),
           {"end", ended->pc - barrier_bytes, ended->index, 0},
           "the hardware no longer waits for it");
}

void check_barrier_hang(const Workgroup& group) {
  const Wave* waiting = nullptr;
  const Wave* other = nullptr;
  for (unsigned i = 0; i < group.wave_count; ++i) {
    const Wave& wave = *group.waves[i];
    if (wave.status == WaveStatus::at_barrier)
      waiting = &wave;
    else if (wave.status != WaveStatus::ended)
      other = &wave;
  }
  if (waiting && other)
    report(group, "deadlock: a wave waits at a barrier that another one never reaches",
           at_barrier(*waiting), {"running", other->pc, other->index, other->exec()}, "");
}

} // namespace wavesim
