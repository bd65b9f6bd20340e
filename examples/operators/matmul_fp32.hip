#include "operators/matmul.hpp"

template void operators::run_matmul<float, float>(const matmul_command&);
