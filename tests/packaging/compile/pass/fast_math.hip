// No infinity or NaN is written where -ffast-math says there is none.
// flags: -ffast-math -O3
// flags: -ffinite-math-only
#include "../instantiate.hpp"
