// Device code of the program itself, as its start-up code registered it.
#pragma once

#include "hip/module.hpp"

#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace wavesim::hip {

/// One registered bundle: one translation unit, or one linked device program.
struct FatBinary {
  struct OnDevice {
    bool tried = false;
    hipError_t result = hipSuccess;
    std::unique_ptr<ihipModule_t> module;
  };
  struct ManagedVariable {
    std::string name;
    void** pointer = nullptr; ///< the program's pointer to the memory
    const void* initial = nullptr;
    std::size_t bytes = 0;
    void* memory = nullptr;
  };
  const void* image = nullptr; ///< as the program holds it; may be compressed
  std::vector<OnDevice> devices;
  std::vector<ManagedVariable> managed;

  /// Loads the code object of the device at the first call.
  hipError_t on(int device, ihipModule_t*& module);
};

struct Registry {
  /// Guards everything here and the function tables of modules.
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<FatBinary>> binaries;
  struct Entry {
    FatBinary* binary = nullptr;
    std::string name; ///< mangled
  };
  std::unordered_map<const void*, Entry> functions; ///< by address of the host stub
  std::unordered_map<const void*, Entry> variables; ///< by address of the host shadow
  std::unordered_set<const void*> live_functions;   ///< handles given out
};
Registry& registry();

} // namespace wavesim::hip
