#include "operators/matmul.hpp"

template void operators::run_matmul<wavetile::bf16, wavetile::bf16>(const matmul_command&);
