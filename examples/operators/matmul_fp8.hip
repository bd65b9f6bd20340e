#include "operators/matmul.hpp"

template void operators::run_matmul<wavetile::fp8_e4m3_fnuz, float>(const matmul_command&);
