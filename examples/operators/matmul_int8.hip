#include "operators/matmul.hpp"

template void operators::run_matmul<std::int8_t, std::int32_t>(const matmul_command&);
