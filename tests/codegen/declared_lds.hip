// Prints, for one instance of every kernel that uses LDS, its symbol and the LDS instructions that
// its parts declare. check_lds.py compares them with the instructions in this very program.
#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

#include <hip/hip_runtime.h>

#include <cstdio>

namespace {
using namespace wavetile;
using namespace wavetile::kernels;

/// `Times` uses of a part: a workgroup reduction, an exchange between waves.
template <class Kernel, int Count>
void declare(Kernel* kernel, int times, const lds_use (&uses)[Count]) {
  std::printf("%s", hipKernelNameRefByPtr(reinterpret_cast<const void*>(kernel), nullptr));
  for (const lds_use& use : uses)
    std::printf(" %s=%d", name_of(use.op), times * use.count);
  std::printf("\n");
}

template <class Input, class Output, class Mask, softmax_form Form>
void declare_forward() {
  using types = softmax_problem_types<Input, Output, Mask, Form>;
  // the maximum, the sum, and with a mask whether anything was kept
  constexpr int reductions = Mask::kind == mask_kind::none ? 2 : 3;
  constexpr auto small = config_for<types>(softmax_kernel::small_workgroup);
  constexpr auto middle = config_for<types>(softmax_kernel::workgroup);
  constexpr auto large = config_for<types>(softmax_kernel::large_workgroup);
  constexpr auto split = config_for<types>(softmax_kernel::split);
  constexpr auto stream = config_for<types>(softmax_kernel::stream);
  declare(&softmax_workgroup<types, small>, reductions, workgroup_team<small.waves>::lds_uses);
  declare(&softmax_workgroup<types, middle>, reductions, workgroup_team<middle.waves>::lds_uses);
  declare(&softmax_workgroup<types, large>, reductions, workgroup_team<large.waves>::lds_uses);
  declare(&softmax_split_measure<types, split>, reductions, workgroup_team<split.waves>::lds_uses);
  declare(&softmax_stream<types, stream>, reductions, workgroup_team<stream.waves>::lds_uses);
}

template <class Element, softmax_form Form>
void declare_backward() {
  using types = softmax_backward_types<Element, Element, Element, no_mask, Form>;
  constexpr auto large = config_for<types>(softmax_kernel::large_workgroup);
  constexpr auto split = config_for<types>(softmax_kernel::split);
  constexpr auto stream = config_for<types>(softmax_kernel::stream);
  constexpr int reductions = 1; // the sum of y times its gradient
  declare(&softmax_backward_workgroup<types, large>, reductions,
          workgroup_team<large.waves>::lds_uses);
  declare(&softmax_backward_split_measure<types, split>, reductions,
          workgroup_team<split.waves>::lds_uses);
  declare(&softmax_backward_stream<types, stream>, reductions,
          workgroup_team<stream.waves>::lds_uses);
}

template <class Operation, class Input, class Output>
void declare_columns() {
  using reduction_type = reduction<Operation, Input, Output>;
  using types = reduce_types<Input, Output, reduction_type>;
  constexpr auto config = reduce_config::for_values(sizeof(typename types::value));
  using values = vec<typename types::value, types::chunk>;
  using exchange = lane_exchange<config.waves, wavetile::detail::dword_count<values>>;
  const lds_use uses[] = {exchange::writes, exchange::reads};
  declare(&reduce_columns<types, config>, 1, uses);
}

} // namespace

int main() {
  declare_forward<float, float, no_mask, softmax_form::softmax>();
  declare_forward<fp16, fp16, keep_mask, softmax_form::log_softmax>();
  declare_forward<bf16, float, additive_mask<float>, softmax_form::softmax>();
  declare_forward<float, bf16, no_mask, softmax_form::softmax>();
  declare_backward<float, softmax_form::softmax_backward>();
  declare_backward<bf16, softmax_form::log_softmax_backward>();
  declare_columns<op::plus, float, float>();
  declare_columns<op::maximum, bf16, bf16>();
  declare_columns<op::plus, double, double>();
  declare_columns<op::arg_maximum, float, int64_t>();
  return 0;
}
