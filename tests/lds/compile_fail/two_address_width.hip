// Two-address instructions move 4 or 8 bytes from each address: nothing can be proved of one.
// expect: no_lds_instruction_moves_so_many_bytes
#include <wavetile/lds/access.hpp>

using namespace wavetile;

#ifdef WAVETILE_TEST_VALID
constexpr int bytes = 8;
#else
constexpr int bytes = 16;
#endif
constexpr lds_access access = lds_write2(bytes, [](int lane, int which) {
  return coordinate{lane + which, 0};
});
static_assert(bytes_of(access.op) == bytes);
