/// \file
/// softmax, log_softmax, their gradients, and their plan.
#pragma once

#include <wavetile/softmax_backward.hpp>
#include <wavetile/softmax_forward.hpp>
