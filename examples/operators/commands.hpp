/// \file
/// The sub-commands of `operators`: an operator of wavetile run on NumPy files.
#pragma once

#include <string>

namespace operators {

struct softmax_command {
  std::string input, output, mask;
  std::string type = "fp32"; ///< fp32, fp16 or bf16
  float scale = 1.0f;
  bool log = false, causal = false;
  void run() const;
};

struct reduce_command {
  std::string input, output, operation;
  std::string axis = "-1"; ///< a number, or "all"
  std::string type;        ///< empty: that of the file
  void run() const;
};

} // namespace operators
