/// \file
/// Runs an operator on arrays in .npy files:
///
///     operators softmax --input x.npy --output y.npy [--dtype fp32|fp16|bf16] [--scale S] [--log]
///                       [--mask m.npy] [--causal]
///     operators rms_norm, layer_norm --input x.npy --output y.npy [--dtype ...] [--weight w.npy]
///                       [--bias b.npy] [--residual r.npy --sum s.npy] [--epsilon E]
///                       [--quantise fp8|int8 --scales s.npy]
///     operators reduce  --input x.npy --output y.npy --op sum [--axis -1|all] [--dtype ...]
///     operators matmul  --a a.npy --b b.npy --output d.npy [--c c.npy --beta B] [--alpha A]
///                       [--transa] [--transb] [--batch] [--dtype ...] [--bias v.npy]
///                       [--activation relu|gelu|gelu_tanh|silu]
///     operators attention --q q.npy --k k.npy --v v.npy --output o.npy [--dtype bf16|fp16]
///                       [--causal [--top-left]] [--window L,R] [--softcap C] [--scale S]
///                       [--mask m.npy] [--lengths K,...] [--q-lengths Q,...] [--lse lse.npy]
///
/// Files are written whole or not at all; links are followed, pipes and devices written to. No two
/// results of a call may go to one file.
///
/// Exit code: 0, 1 when the operator or a file failed, 2 for a wrong command line.
#include "commands.hpp"

#include "common/npy.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace {

void add_norm_options(CLI::App& app, operators::norm_command& norm) {
  app.add_option("--input", norm.input, "array of numbers, any rank")->required();
  app.add_option("--output", norm.output, "file to write")->required();
  app.add_option("--dtype", norm.type, "element type on the device")
      ->capture_default_str()
      ->check(CLI::IsMember({"fp32", "fp16", "bf16"}));
  app.add_option("--weight", norm.weight, "a factor for each column");
  app.add_option("--epsilon", norm.epsilon, "added to the mean of squares")->capture_default_str();
  CLI::Option* residual =
      app.add_option("--residual", norm.residual, "array of the input's shape, added to it first");
  CLI::Option* sum = app.add_option("--sum", norm.sum, "file for input + residual");
  residual->needs(sum);
  sum->needs(residual);
  CLI::Option* quantise = app.add_option("--quantise", norm.quantise,
                                         "8-bit results, each row by its largest magnitude")
                              ->check(CLI::IsMember({"fp8", "int8"}));
  CLI::Option* scales = app.add_option("--scales", norm.scales, "file for the scale of each row");
  quantise->needs(scales);
  scales->needs(quantise);
}

/// Whether the first word is an operator; says which there are if not. CLI11 would only say that it
/// wants one.
bool is_operator(const CLI::App& app, std::string_view word) {
  std::string names;
  for (const CLI::App* known : app.get_subcommands({})) {
    if (known->get_name() == word)
      return true;
    names += (names.empty() ? "" : ", ") + known->get_name();
  }
  std::fprintf(stderr, "operators: error: there is no operator '%s'; allowed: %s\n",
               std::string(word).c_str(), names.c_str());
  return false;
}

/// The options of the operator on the command line, for what is none of them.
std::string options_of(const CLI::App& app) {
  std::string names;
  for (const CLI::App* chosen : app.get_subcommands())
    for (const CLI::Option* option : chosen->get_options())
      names += (names.empty() ? "" : ", ") + option->get_name();
  return names;
}

/// Whether every result has a file of its own; names two that do not.
bool files_differ(std::initializer_list<std::pair<const char*, std::string>> results) {
  for (auto one = results.begin(); one != results.end(); ++one)
    for (auto other = results.begin(); other != one; ++other)
      if (!one->second.empty() && npy::resolved(one->second) == npy::resolved(other->second)) {
        std::fprintf(stderr, "operators: error: %s '%s' and %s '%s' are one file, allowed: two\n",
                     other->first, other->second.c_str(), one->first, one->second.c_str());
        return false;
      }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs an operator of wavetile on NumPy files.", "operators");
  app.require_subcommand(1);

  operators::softmax_command softmax;
  CLI::App* softmax_app =
      app.add_subcommand("softmax", "softmax over the last axis; the result is written as float32");
  softmax_app->add_option("--input", softmax.input, "array of numbers, any rank")->required();
  softmax_app->add_option("--output", softmax.output, "file to write")->required();
  softmax_app->add_option("--dtype", softmax.type, "element type on the device")
      ->capture_default_str()
      ->check(CLI::IsMember({"fp32", "fp16", "bf16"}));
  softmax_app->add_option("--scale", softmax.scale, "factor on the input before the exponential");
  softmax_app->add_flag("--log", softmax.log, "the logarithm of the softmax");
  softmax_app->add_option("--mask", softmax.mask,
                          "bool or uint8 (0 hides) or float (added) array that broadcasts to the "
                          "input");
  softmax_app->add_flag(
      "--causal", softmax.causal,
      "query i of the last axis but one sees keys up to the bottom-right diagonal");

  operators::reduce_command reduce;
  CLI::App* reduce_app = app.add_subcommand("reduce", "reduction over an axis or everything");
  reduce_app->add_option("--input", reduce.input, "array of numbers, any rank")->required();
  reduce_app->add_option("--output", reduce.output, "file to write")->required();
  reduce_app->add_option("--op", reduce.operation, "what to compute")
      ->required()
      ->check(CLI::IsMember(
          {"sum", "mean", "product", "min", "max", "argmin", "argmax", "sum_of_squares"}));
  reduce_app->add_option("--axis", reduce.axis, "axis to reduce, negative from the end, or all")
      ->capture_default_str();
  reduce_app
      ->add_option("--dtype", reduce.type,
                   "element type on the device; without it that of the file")
      ->check(CLI::IsMember({"fp32", "fp64", "fp16", "bf16", "int32", "int64"}));

  operators::norm_command rms_norm, layer_norm;
  CLI::App* rms_app = app.add_subcommand(
      "rms_norm", "RMSNorm over the last axis; the result is written as float32");
  CLI::App* layer_app = app.add_subcommand(
      "layer_norm", "LayerNorm over the last axis; the result is written as float32");
  for (const auto& [sub, norm] : {std::pair(rms_app, &rms_norm), std::pair(layer_app, &layer_norm)})
    add_norm_options(*sub, *norm);
  layer_app->add_option("--bias", layer_norm.bias, "a number for each column, added last");

  operators::matmul_command matmul;
  CLI::App* matmul_app = app.add_subcommand(
      "matmul",
      "d = activation(alpha op(a) op(b) + beta c + bias), written as float32 (int8: int32)");
  matmul_app->add_option("--a", matmul.a, "matrix of M x K numbers")->required();
  matmul_app->add_option("--b", matmul.b, "matrix of K x N numbers")->required();
  matmul_app->add_option("--output", matmul.output, "file to write")->required();
  matmul_app->add_flag("--transa", matmul.transpose_a, "a holds the transpose, K x M");
  matmul_app->add_flag("--transb", matmul.transpose_b, "b holds the transpose, N x K");
  matmul_app->add_option("--alpha", matmul.alpha, "factor on the product")->capture_default_str();
  CLI::Option* beta = matmul_app->add_option("--beta", matmul.beta, "factor on c, by default 0");
  matmul_app->add_option("--c", matmul.c, "matrix of M x N numbers")->needs(beta);
  matmul_app
      ->add_option("--dtype", matmul.type,
                   "element type on the device; fp8: e4m3 fnuz, with c and results of fp32")
      ->capture_default_str()
      ->check(CLI::IsMember({"fp32", "fp64", "fp16", "bf16", "fp8", "int8"}));
  matmul_app->add_option("--bias", matmul.bias, "N numbers, added to every row");
  matmul_app->add_option("--activation", matmul.activation, "last step")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "relu", "gelu", "gelu_tanh", "silu"}));
  matmul_app->add_flag(
      "--batch", matmul.batch,
      "arrays are stacks of matrices, of rank 3; one of rank 2 serves all products");

  operators::attention_command attention;
  CLI::App* attention_app = app.add_subcommand(
      "attention", "softmax(scale q k^T) v; arrays of batch, position, head, element; heads of k "
                   "and v divide those of q; the result is written as float32");
  attention_app->add_option("--q", attention.q, "queries")->required();
  attention_app->add_option("--k", attention.k, "keys")->required();
  attention_app->add_option("--v", attention.v, "values")->required();
  attention_app->add_option("--output", attention.output, "file to write")->required();
  attention_app->add_option("--dtype", attention.type, "element type on the device")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "fp16"}));
  attention_app->add_flag("--causal", attention.causal,
                          "query i sees keys up to the bottom-right diagonal");
  attention_app->add_flag("--top-left", attention.top_left,
                          "diagonals start at the first query and key instead");
  attention_app
      ->add_option("--window", attention.window,
                   "L,R: keys that a query sees before and after its place; -1: no limit")
      ->delimiter(',')
      ->expected(2);
  attention_app->add_option("--softcap", attention.softcap, "logits become C tanh(logit / C)");
  const CLI::Option* scale = attention_app->add_option(
      "--scale", attention.scale, "factor on the scores; without it 1 / sqrt(elements of a head)");
  attention_app->add_option("--mask", attention.mask,
                            "bool or uint8 (0 hides) or float (added) array that broadcasts to "
                            "batch, head, query, key");
  attention_app->add_option("--lengths", attention.lengths, "K,...: keys of each batch that count")
      ->delimiter(',');
  attention_app
      ->add_option("--q-lengths", attention.q_lengths,
                   "Q,...: queries of each batch that count; the others' results are 0")
      ->delimiter(',');
  attention_app->add_option("--lse", attention.lse,
                            "file for the logarithm of each query's sum: batch, head, position");

  if (argc > 1 && argv[1] != std::string_view("--help") && argv[1] != std::string_view("-h") &&
      !is_operator(app, argv[1]))
    return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    std::fprintf(stderr, "operators: error: %s; allowed: %s\n", error.what(),
                 options_of(app).c_str());
    return 2;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const operators::norm_command* norm : {&rms_norm, &layer_norm})
    if (!files_differ(
            {{"--output", norm->output}, {"--sum", norm->sum}, {"--scales", norm->scales}}))
      return 2;
  if (!files_differ({{"--output", attention.output}, {"--lse", attention.lse}}))
    return 2;
  try {
    attention.has_scale = scale->count() != 0;
    if (*softmax_app)
      softmax.run();
    else if (*rms_app)
      rms_norm.run_rms();
    else if (*layer_app)
      layer_norm.run_layer();
    else if (*matmul_app)
      matmul.run();
    else if (*reduce_app)
      reduce.run();
    else
      attention.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "operators: error: %s\n", error.what());
    return 1;
  }
  return 0;
}
