#include "operators/matmul.hpp"

template void operators::run_matmul<double, double>(const matmul_command&);
