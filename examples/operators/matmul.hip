#include "operators/matmul.hpp"

namespace operators {

void matmul_command::run() const {
  if (type == "fp64")
    run_matmul<double, double>(*this);
  else if (type == "fp16")
    run_matmul<wavetile::fp16, wavetile::fp16>(*this);
  else if (type == "bf16")
    run_matmul<wavetile::bf16, wavetile::bf16>(*this);
  else if (type == "fp8")
    run_matmul<wavetile::fp8_e4m3_fnuz, float>(*this);
  else if (type == "int8")
    run_matmul<std::int8_t, std::int32_t>(*this);
  else
    run_matmul<float, float>(*this);
}

} // namespace operators
