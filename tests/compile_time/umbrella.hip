#include <wavetile/wavetile.hpp>
