// A layout with conflicts does not pass the proof, and the compiler shows the counts.
// expect: a fragment read is free of bank conflicts
#include <wavetile/lds/bank_conflicts.hpp>

using namespace wavetile;

constexpr lds_access fragment = lds_read(16, [](int lane) {
  return coordinate{lane % 16, lane / 16 * 8};
});
#ifdef WAVETILE_TEST_VALID
constexpr layout where = padded(64, 64, 2, 32);
#else
constexpr layout where = padded(64, 64, 2, 16); // the usual padding: still two-way
#endif
static_assert(conflict_free(where, targets::gfx942, fragment),
              "a fragment read is free of bank conflicts");
