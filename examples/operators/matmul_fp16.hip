#include "operators/matmul.hpp"

template void operators::run_matmul<wavetile::fp16, wavetile::fp16>(const matmul_command&);
