#include <wavetile/wavetile.hpp>

#include <wavetile/lds/choose_layout.hpp>
