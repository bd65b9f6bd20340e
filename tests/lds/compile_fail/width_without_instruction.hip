// No instruction moves 32 bytes of a lane: nothing can be proved of one.
// expect: no_lds_instruction_moves_so_many_bytes
#include <wavetile/lds/access.hpp>

using namespace wavetile;

#ifdef WAVETILE_TEST_VALID
constexpr int bytes = 16;
#else
constexpr int bytes = 32;
#endif
constexpr lds_access access = lds_read(bytes, [](int lane) {
  return coordinate{lane % 16, lane / 16 * 4};
});
static_assert(bytes_of(access.op) == bytes);
