// Every operator with every element type, along rows, columns and everything.
#include "reduce_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

// results of the element's own type, and of others where an operator has them
template <class Op, class Input, class Output>
struct combination {
  using op_type = Op;
  using input = Input;
  using output = Output;
};

template <class C>
class reduce_operations : public testing::Test {};

#define WAVETILE_TEST_ALL_OPS(Input, Output)                                                       \
  combination<op::plus, Input, Output>, combination<op::mean, Input, Output>,                      \
      combination<op::multiply, Input, Output>, combination<op::minimum, Input, Output>,           \
      combination<op::maximum, Input, Output>, combination<op::sum_of_squares, Input, Output>,     \
      combination<op::arg_minimum, Input, int64_t>, combination<op::arg_maximum, Input, int32_t>

using combinations =
    testing::Types<WAVETILE_TEST_ALL_OPS(WAVETILE_TEST_INPUT, WAVETILE_TEST_OUTPUT)>;
TYPED_TEST_SUITE(reduce_operations, combinations);

template <class C>
void run_shape(std::vector<std::int64_t> extent, int axis, std::int64_t workspace = 0) {
  using Op = typename C::op_type;
  using Input = typename C::input;
  SCOPED_TRACE(shape_text(extent, axis) + ", workspace " + std::to_string(workspace));
  reduce_case<Op, Input, typename C::output> c{.extent = extent, .axis = axis};
  c.workspace_bytes = workspace;
  if (std::is_same_v<Op, op::multiply> && !std::is_integral_v<Input>) {
    // products that stay in range: magnitudes around 1, less spread the more there are
    std::int64_t n = axis == all_axes ? 1 : extent[static_cast<std::size_t>(c.positive_axis())];
    if (axis == all_axes)
      for (const std::int64_t e : extent)
        n *= e;
    c.fill(3, 0.5 / std::sqrt(static_cast<double>(n)), 1);
    for (std::size_t i = 0; i < c.x.size(); i += 3)
      c.x[i] = convert<Input>(static_cast<float>(-as_double(c.x[i])));
  } else {
    c.fill(3, 2, 0.25);
  }
  c.run_and_check();
}

TYPED_TEST(reduce_operations, rows) {
  for (const std::int64_t n : {1, 2, 3, 31, 33, 64, 65, 129, 700, 2049, 9001})
    run_shape<TypeParam>({5, n}, -1);
  run_shape<TypeParam>({300, 7}, -1);
  run_shape<TypeParam>({300}, 0);
}

TYPED_TEST(reduce_operations, columns) {
  for (const std::int64_t columns : {1, 2, 3, 17, 64, 65, 300})
    for (const std::int64_t n : {1, 3, 50})
      run_shape<TypeParam>({n, columns}, 0);
  run_shape<TypeParam>({1000, 5}, 0);
  run_shape<TypeParam>({6, 40, 33}, 1);
}

TYPED_TEST(reduce_operations, everything) {
  for (const std::int64_t n : {1, 5, 64, 1000, 20000})
    run_shape<TypeParam>({n}, all_axes);
  run_shape<TypeParam>({7, 11, 13}, all_axes);
}

// split, with the workspace it asks for at most
TYPED_TEST(reduce_operations, in_two_steps) {
  run_shape<TypeParam>({2, 70001}, -1, 4096);
  run_shape<TypeParam>({3001, 40}, 0, 1 << 20);
  run_shape<TypeParam>({9001, 44}, 0,
                       1 << 20); // parts enough for lanes down them in the second step
  run_shape<TypeParam>({70001}, all_axes, 4096);
}

} // namespace
