/// \file
/// The whole library. Each layer is usable alone: include its headers instead.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/version.hpp>

#include <wavetile/arch/device_info.hpp>
#include <wavetile/arch/device_target.hpp>
#include <wavetile/arch/targets.hpp>

#include <wavetile/core/convert.hpp>
#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/core/view.hpp>

#include <wavetile/lds/access.hpp>
#include <wavetile/lds/bank_conflicts.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/lds/layout.hpp>
#include <wavetile/lds/report.hpp>
#include <wavetile/lds/tile.hpp>
