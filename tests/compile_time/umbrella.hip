#include <wavetile/wavetile.hpp>

#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>
