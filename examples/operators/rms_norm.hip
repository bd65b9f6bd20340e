#include "norm.hpp"

namespace operators {

void norm_command::run_rms() const {
  run_norm<wavetile::norm_kind::rms>(*this);
}

} // namespace operators
