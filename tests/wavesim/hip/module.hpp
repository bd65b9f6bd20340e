// Loaded code objects and what programs registered at start-up.
#pragma once

#include "loader/code_object.hpp"

#include <hip/hip_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

/// A kernel that can be launched on one device; what hipFunction_t points to.
struct ihipModuleSymbol_t {
  const wavesim::Kernel* kernel = nullptr;
  ihipModule_t* module = nullptr;
  int device = 0;
  std::string name;                    ///< mangled
  const void* host_function = nullptr; ///< of a kernel in the program itself
};

/// A code object on one device.
struct ihipModule_t {
  std::unique_ptr<wavesim::CodeObject> object;
  int device = 0;
  std::unordered_map<std::string, std::unique_ptr<ihipModuleSymbol_t>>
      functions; ///< made on demand

  /// The kernel of that name, or null. Callers hold the module lock.
  ihipModuleSymbol_t* function(const std::string& name);
};

namespace wavesim::hip {

/// Loads the code object for the device out of a bundle or bare ELF. On failure the reason goes to
/// stderr: programs print the error's name only.
hipError_t load_module(std::span<const std::byte> image, int device,
                       std::unique_ptr<ihipModule_t>& module);

/// The kernel behind the address of its host stub, loading its code object if need be.
hipError_t registered_function(const void* host_function, int device,
                               ihipModuleSymbol_t*& function);

/// What hipFunction_t arguments may be: a handle of ours, or (as HIP allows) a host stub.
hipError_t resolve_function(const void* function, int device, ihipModuleSymbol_t*& resolved);

/// Memory of a device variable, from the address of its host shadow.
hipError_t registered_variable(const void* host_variable, int device, void*& address,
                               std::size_t& bytes);

} // namespace wavesim::hip
