#include "isa/op_table.hpp"

#include "isa/message.hpp"
#include "isa/names.hpp"
#include "machine/environment.hpp"
#include "machine/fault.hpp"

#include <mutex>
#include <set>
#include <string>

namespace wavesim {
MessageHook message_hook = nullptr;

void OpTable::add(const OpInfo& info) {
  entries_.insert_or_assign(info.mnemonic, info);
}

namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

Simd choose_level() {
  if (!has_avx2())
    stop("this CPU lacks AVX2, FMA, F16C or BMI2, which wavesim needs");
  constexpr const char* name = "WAVESIM_SIMD";
  const auto wish = environment_word(name, {"avx2", "avx512"});
  if (!wish)
    return has_avx512() ? Simd::avx512 : Simd::avx2;
  if (*wish == 0)
    return Simd::avx2;
  if (!has_avx512())
    refuse_environment(name, "avx512", "avx2: this CPU has no AVX-512 (F, BW, DQ, VL)");
  return Simd::avx512;
}

OpTable build(Simd level) {
  OpTable table;
#define WAVESIM_REGISTER_FAMILY(name)                                                              \
  level == Simd::avx512 ? avx512::register_##name(table) : avx2::register_##name(table);
  WAVESIM_FAMILIES(WAVESIM_REGISTER_FAMILY)
#undef WAVESIM_REGISTER_FAMILY
  return table;
}

} // namespace

const char* lasting_name(const char* stem, const char* middle, const char* tail) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard<std::mutex> lock(mutex);
  return names.insert(std::string(stem) + middle + tail).first->c_str();
}

Simd simd_level() {
  static const Simd level = choose_level();
  return level;
}

const OpTable& op_table(Simd level) {
  if (level == Simd::avx512) {
    static const OpTable table = build(Simd::avx512);
    return table;
  }
  static const OpTable table = build(Simd::avx2);
  return table;
}

const OpTable& op_table() {
  return op_table(simd_level());
}

} // namespace wavesim
