// The checks of one workgroup, behind the scheduler's observer interface.
#pragma once

#include "checks/check_kind.hpp"
#include "machine/observer.hpp"

namespace wavesim {

/// Makes observers that run the checks of a set.
class CheckFactory : public ObserverFactory {
public:
  explicit CheckFactory(CheckSet set) : set_(set) {}
  std::unique_ptr<Observer> make() override;

private:
  CheckSet set_;
};

} // namespace wavesim
