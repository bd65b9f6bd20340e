#include "norm.hpp"

namespace operators {

void norm_command::run_layer() const {
  run_norm<wavetile::norm_kind::layer>(*this);
}

} // namespace operators
