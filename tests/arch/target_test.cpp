// Facts of the architectures, on the host.
#include <wavetile/arch/device_info.hpp>
#include <wavetile/arch/device_target.hpp>
#include <wavetile/arch/dpp_source.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace wavetile {
namespace {

TEST(target, is_found_by_the_name_a_runtime_gives) {
  EXPECT_EQ(find_architecture("gfx942"), architecture::gfx942);
  EXPECT_EQ(find_architecture("gfx942:sramecc+:xnack-"), architecture::gfx942);
  EXPECT_EQ(find_architecture("gfx90a:sramecc+:xnack-"), architecture::gfx90a);
  EXPECT_EQ(find_architecture("gfx950"), architecture::gfx950);
  EXPECT_EQ(find_architecture("gfx9-4-generic"), architecture::gfx9_4_generic);
  for (const char* name :
       {"gfx1100", "gfx94", "gfx9420", "gfx942x", "", "GFX942", "gfx90", "sm_75"})
    EXPECT_EQ(find_architecture(name), architecture::unknown) << name;
  EXPECT_EQ(find_architecture(nullptr), architecture::unknown);
  EXPECT_TRUE(find_target("gfx942").known());
  EXPECT_FALSE(find_target("gfx1100").known());
  EXPECT_STREQ(find_target("gfx942:xnack-").name, "gfx942");
}

TEST(target, wave_size_is_a_constant_of_ours) {
  static_assert(targets::gfx942.wave_size == 64);
  [[maybe_unused]] const int bound[targets::gfx942.wave_size] = {};
  static_assert(wave_size == 64, "the same constant in the host pass as in device passes");
}

TEST(target, waves_by_registers) {
  // the table that follows from 512 registers in granules of 8, at most 8 waves
  const int most[][2] = {{64, 8}, {72, 7}, {80, 6}, {96, 5}, {128, 4}, {168, 3}, {256, 2}};
  for (const auto& [registers, waves] : most) {
    EXPECT_EQ(targets::gfx942.waves_per_simd(registers), waves) << registers;
    EXPECT_LT(targets::gfx942.waves_per_simd(registers + 1), waves) << registers;
  }
  EXPECT_EQ(targets::gfx942.waves_per_simd(256, 256), 1);
  EXPECT_EQ(targets::gfx942.waves_per_simd(128, 128), 2);
  EXPECT_EQ(targets::gfx942.waves_per_simd(257), 0);
  EXPECT_EQ(targets::gfx942.waves_per_simd(0), 8);
  // the accumulators start at a multiple of 4
  EXPECT_EQ(targets::gfx942.allocated_registers(61, 4), 72);
  EXPECT_EQ(targets::gfx942.allocated_registers(1), 8);
}

TEST(target, workgroups_by_every_resource) {
  const target& t = targets::gfx942;
  EXPECT_EQ(t.workgroups_per_cu(256, 64, 0, 0), 8);     // 32 waves
  EXPECT_EQ(t.workgroups_per_cu(256, 128, 0, 0), 4);    // registers
  EXPECT_EQ(t.workgroups_per_cu(256, 64, 0, 32768), 2); // LDS
  EXPECT_EQ(t.workgroups_per_cu(256, 64, 0, 32769), 1); // LDS granule
  EXPECT_EQ(t.workgroups_per_cu(1024, 128, 0, 65536), 1);
  EXPECT_EQ(t.workgroups_per_cu(1024, 256, 0, 0), 0); // 16 waves need 128 registers at most
  EXPECT_EQ(t.workgroups_per_cu(256, 64, 0, 65537), 0);
  EXPECT_EQ(t.workgroups_per_cu(1025, 64, 0, 0), 0);
  EXPECT_EQ(t.workgroups_per_cu(1, 64, 0, 0), 32);
}

TEST(target, phases_partition_the_wave) {
  for (const target* t : {&targets::gfx90a, &targets::gfx942, &targets::gfx950,
                          &targets::gfx9_4_generic, &targets::unknown}) {
    for (int i = 0; i < lds_op_count; ++i) {
      const lds_service& service = t->service(static_cast<lds_op>(i));
      if (service.phases == 0)
        continue;
      uint64_t all = 0;
      const int lanes = __builtin_popcountll(service.lanes[0]);
      for (int phase = 0; phase < service.phases; ++phase) {
        EXPECT_EQ(all & service.lanes[phase], 0u) << t->name << i;
        EXPECT_EQ(__builtin_popcountll(service.lanes[phase]), lanes);
        all |= service.lanes[phase];
      }
      EXPECT_EQ(all, ~uint64_t{0}) << t->name << " " << name_of(static_cast<lds_op>(i));
    }
  }
}

TEST(target, phases_of_gfx942) {
  const auto phases = [](lds_op op) { return targets::gfx942.service(op).phases; };
  EXPECT_EQ(phases(lds_op::read_b32), 2);
  EXPECT_EQ(phases(lds_op::write_b64), 4);
  EXPECT_EQ(phases(lds_op::read_b128), 8);
  EXPECT_EQ(phases(lds_op::write_b128), 8);
  // the lanes of a b128 read are crossed, those of a write are not
  EXPECT_EQ(targets::gfx942.service(lds_op::read_b128).lanes[0], 0x00F0000Fu);
  EXPECT_EQ(targets::gfx942.service(lds_op::read_b128).lanes[7], 0x0F00F00000000000u);
  EXPECT_EQ(targets::gfx942.service(lds_op::write_b128).lanes[1], 0xFF00u);
  EXPECT_EQ(targets::gfx942.service(lds_op::read_b128).tag, evidence::measured);
  EXPECT_EQ(targets::gfx942.service(lds_op::read_b96).tag, evidence::assumed);
}

TEST(target, other_architectures_differ_where_they_do) {
  EXPECT_EQ(targets::gfx942.fp8, fp8_support::fnuz);
  EXPECT_EQ(targets::gfx950.fp8, fp8_support::ocp);
  EXPECT_EQ(targets::gfx90a.fp8, fp8_support::none);
  EXPECT_EQ(targets::gfx950.lds_bytes, 160 * 1024);
  EXPECT_TRUE(targets::gfx950.has_direct_to_lds(16));
  EXPECT_FALSE(targets::gfx942.has_direct_to_lds(16));
  EXPECT_TRUE(targets::gfx942.has_direct_to_lds(4));
  // nothing measured on gfx942 is passed off as measured elsewhere
  for (int i = 0; i < lds_op_count; ++i)
    EXPECT_EQ(targets::gfx90a.service(static_cast<lds_op>(i)).tag, evidence::assumed);
}

TEST(lds_op, describes_instructions) {
  EXPECT_EQ(bytes_of(lds_op::read_b96), 12);
  EXPECT_EQ(bytes_of(lds_op::write2_b64), 8);
  EXPECT_EQ(addresses_of(lds_op::read2_b32), 2);
  EXPECT_EQ(addresses_of(lds_op::write_b128), 1);
  EXPECT_TRUE(is_read(lds_op::read2_b64));
  EXPECT_FALSE(is_read(lds_op::write_b8));
  for (int bytes : {1, 2, 4, 8, 12, 16}) {
    EXPECT_EQ(bytes_of(read_of(bytes)), bytes);
    EXPECT_EQ(bytes_of(write_of(bytes)), bytes);
    EXPECT_TRUE(is_read(read_of(bytes)) && !is_read(write_of(bytes)));
  }
  for (int bytes : {4, 8}) {
    EXPECT_EQ(bytes_of(read2_of(bytes)), bytes);
    EXPECT_EQ(bytes_of(write2_of(bytes)), bytes);
    EXPECT_EQ(addresses_of(read2_of(bytes)) + addresses_of(write2_of(bytes)), 4);
    EXPECT_TRUE(is_read(read2_of(bytes)) && !is_read(write2_of(bytes)));
  }
  EXPECT_STREQ(name_of(lds_op::read_b128), "ds_read_b128");
  EXPECT_STREQ(name_of(lds_op::write2_b32), "ds_write2_b32");
}

TEST(device_info, counts_are_never_invented) {
  const device_info info = describe_device("gfx942:sramecc+:xnack-", 304);
  EXPECT_EQ(info.arch(), architecture::gfx942);
  EXPECT_EQ(info.cu_count, 304);
  EXPECT_EQ(info.xcd_count, 0) << "not told, so not known";
  EXPECT_EQ(info.wave_size, 64);
  const device_info other = describe_device("gfx1100", 48);
  EXPECT_EQ(other.wave_size, 0);
  EXPECT_FALSE(other.facts().known());
  const std::string longer(200, 'x');
  EXPECT_EQ(std::strlen(describe_device(longer.c_str(), 1).arch_name), 63u);
}

} // namespace
TEST(target, nvidia_architectures) {
  EXPECT_EQ(find_architecture("sm_80"), architecture::sm80);
  EXPECT_EQ(find_architecture("sm_90"), architecture::sm90);
  EXPECT_EQ(find_architecture("sm_86"), architecture::unknown); // less shared memory than sm_80
  for (const target& facts : {targets::sm80, targets::sm90}) {
    EXPECT_EQ(facts.wave_size, 32);
    EXPECT_EQ(facts.allocated_registers(33), 40);
    EXPECT_EQ(facts.waves_per_simd(32), 16); // 64 warps of an SM
    EXPECT_EQ(facts.waves_per_simd(255), 2);
    // every described service covers each of the 32 lanes once
    for (const lds_service& service : facts.lds) {
      uint64_t seen = 0;
      for (int phase = 0; phase < service.phases; ++phase) {
        EXPECT_EQ(seen & service.lanes[phase], 0u);
        seen |= service.lanes[phase];
      }
      EXPECT_EQ(seen, service.phases == 0 ? 0u : 0xFFFFFFFFu);
    }
  }
}

TEST(target, dpp_controls_name_the_lane_they_read) {
  EXPECT_EQ(dpp_xor_mask(dpp::quad_perm(1, 0, 3, 2)), 1);
  EXPECT_EQ(dpp_xor_mask(dpp::row_half_mirror), 7);
  EXPECT_EQ(dpp_xor_mask(dpp::row_mirror), 15);
  EXPECT_EQ(dpp_xor_mask(dpp::row_ror(8)), 8);
  EXPECT_EQ(dpp_xor_mask(dpp::row_shr(1)), -1);
  EXPECT_EQ(dpp_source(dpp::row_shr(2), 17), -1);
  EXPECT_EQ(dpp_source(dpp::row_shr(2), 18), 16);
  EXPECT_EQ(dpp_source(dpp::row_shl(3), 28), 31);
  EXPECT_EQ(dpp_source(dpp::row_shl(4), 28), -1);
  EXPECT_EQ(dpp_source(dpp::row_ror(1), 16), 31);
  EXPECT_EQ(dpp_source(dpp::row_bcast_15, 3), -1);
  EXPECT_EQ(dpp_source(dpp::row_bcast_15, 40), 31);
  EXPECT_EQ(dpp_source(dpp::row_bcast_31, 31), -1);
  EXPECT_EQ(dpp_source(dpp::row_bcast_31, 63), 31);
  EXPECT_EQ(dpp_source(dpp::row_newbcast(5), 20), 21);
  EXPECT_EQ(dpp_source(dpp::wave_shr_1, 0), -1);
}

} // namespace wavetile
