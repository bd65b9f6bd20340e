// Macros that Windows headers and careless projects define. They stay defined for the program.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define ERROR 0

#include "../instantiate.hpp"

#if !defined(min) || !defined(max) || !defined(near) || !defined(far) || !defined(small) ||        \
    !defined(interface) || !defined(ERROR)
#error "a header of wavetile removed a macro of the program"
#endif
static_assert(ERROR == 0 && min(1, 2) == 1 && max(1, 2) == 2);
