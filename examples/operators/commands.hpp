/// \file
/// The sub-commands of `operators`: an operator of wavetile run on NumPy files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// rms_norm, or layer_norm.
struct norm_command {
  std::string input, output, weight, bias, residual, sum, scales;
  std::string type = "fp32"; ///< fp32, fp16 or bf16
  std::string quantise;      ///< fp8 or int8; empty: results of `type`
  float epsilon = 1e-5f;
  void run_rms() const;
  void run_layer() const;
};

struct matmul_command {
  std::string a, b, c, bias, output;
  std::string type = "fp32"; ///< fp32, fp64, fp16, bf16, fp8 (e4m3 fnuz) or int8
  std::string activation = "none";
  double alpha = 1, beta = 0;
  bool transpose_a = false, transpose_b = false, batch = false;
  void run() const;
};

struct attention_command {
  std::string q, k, v, output, mask;
  std::string lse;                     ///< file for the logarithms; empty: none
  std::string type = "bf16";           ///< bf16 or fp16
  std::vector<std::int64_t> window;    ///< left, right; empty: none
  std::vector<std::int64_t> lengths;   ///< keys of each batch; empty: all
  std::vector<std::int64_t> q_lengths; ///< and queries
  float scale = 0, softcap = 0;
  bool has_scale = false, causal = false, top_left = false;
  void run() const;
};

} // namespace operators
