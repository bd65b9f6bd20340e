// Unoptimised code with the standard library's assertions, and the levels between.
// mode: object
// flags: -O0 -g -D_GLIBCXX_ASSERTIONS
// flags: -Og
// flags: -O1
#include "../instantiate.hpp"
