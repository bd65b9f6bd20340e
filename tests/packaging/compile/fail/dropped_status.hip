// A status that nobody looks at is a warning, here an error.
// expect: ignoring return value of type 'status'
#include <wavetile/core/status.hpp>

wavetile::status work();

void caller() {
#ifdef WAVETILE_TEST_VALID
  const wavetile::status result = work();
  (void)result.ok();
#else
  work();
#endif
}
