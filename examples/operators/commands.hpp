/// \file
/// The sub-commands of `operators`: an operator of wavetile run on NumPy files.
#pragma once

#include <string>

namespace operators {

/// Element types by the name used on the command line.
enum class dtype { fp32, fp64, fp16, bf16, int32, int64 };

struct softmax_command {
  std::string input, output, mask;
  dtype type = dtype::fp32;
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
