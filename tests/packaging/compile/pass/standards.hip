// Every language level from C++20 on, strict and GNU.
// flags: -std=c++20
// flags: -std=gnu++20
// flags: -std=c++23
// flags: -std=gnu++23
#include "../instantiate.hpp"
