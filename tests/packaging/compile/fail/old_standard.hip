// An older language level stops with one sentence instead of a page of template errors.
// flags: -std=c++17
// flags: -std=gnu++17
// flags: -std=c++14
// expect: wavetile needs C++20: compile with -std=c++20 or newer
#include <wavetile/wavetile.hpp>
