#include "hip/registry.hpp"

#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/runtime.hpp"
#include "loader/fat_binary.hpp"

#include <cstring>

namespace wavesim::hip {

Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

namespace {

/// Managed memory is one for all devices: the first device that loads the code makes it.
hipError_t connect_managed(FatBinary& binary, const ihipModule_t& module) {
  for (auto& variable : binary.managed) {
    if (!variable.memory) {
      variable.memory = DeviceMemory::instance().allocate(variable.bytes, RangeKind::managed,
                                                          module.device, hipMemAttachGlobal);
      if (!variable.memory)
        return hipErrorOutOfMemory;
      if (variable.initial)
        std::memcpy(variable.memory, variable.initial, variable.bytes);
      *variable.pointer = variable.memory;
    }
    // On the device the variable's own name is a pointer to the memory.
    const CodeObject::Variable* pointer = module.object->variable(variable.name);
    if (pointer && pointer->size >= sizeof(void*))
      std::memcpy(reinterpret_cast<void*>(pointer->address), &variable.memory, sizeof(void*));
  }
  return hipSuccess;
}

} // namespace

hipError_t FatBinary::on(int device, ihipModule_t*& module) {
  const auto index = static_cast<std::size_t>(device);
  if (devices.size() <= index)
    devices.resize(index + 1);
  OnDevice& here = devices[index];
  if (!here.tried) {
    here.tried = true;
    here.result = load_module(readable_from(image), device, here.module);
    if (here.result == hipSuccess)
      here.result = connect_managed(*this, *here.module);
  }
  module = here.module.get();
  return here.result;
}

hipError_t registered_function(const void* host_function, int device,
                               ihipModuleSymbol_t*& function) {
  const std::lock_guard lock(registry().mutex);
  const auto it = registry().functions.find(host_function);
  if (it == registry().functions.end())
    return hipErrorInvalidDeviceFunction;
  ihipModule_t* module = nullptr;
  WAVESIM_HIP_TRY(it->second.binary->on(device, module));
  function = module->function(it->second.name);
  if (!function)
    return hipErrorInvalidDeviceFunction;
  function->host_function = host_function;
  registry().live_functions.insert(function);
  return hipSuccess;
}

hipError_t resolve_function(const void* function, int device, ihipModuleSymbol_t*& resolved) {
  {
    const std::lock_guard lock(registry().mutex);
    if (registry().live_functions.contains(function)) {
      resolved = static_cast<ihipModuleSymbol_t*>(const_cast<void*>(function));
      return hipSuccess;
    }
  }
  return registered_function(function, device, resolved);
}

hipError_t registered_variable(const void* host_variable, int device, void*& address,
                               std::size_t& bytes) {
  const std::lock_guard lock(registry().mutex);
  const auto it = registry().variables.find(host_variable);
  if (it != registry().variables.end()) {
    ihipModule_t* module = nullptr;
    WAVESIM_HIP_TRY(it->second.binary->on(device, module));
    const CodeObject::Variable* variable = module->object->variable(it->second.name);
    if (!variable)
      return hipErrorInvalidSymbol;
    address = reinterpret_cast<void*>(variable->address);
    bytes = variable->size;
    return hipSuccess;
  }
  for (auto& binary : registry().binaries)
    for (auto& managed : binary->managed)
      if (managed.pointer == host_variable) {
        ihipModule_t* module = nullptr;
        WAVESIM_HIP_TRY(binary->on(device, module));
        address = managed.memory;
        bytes = managed.bytes;
        return hipSuccess;
      }
  return hipErrorInvalidSymbol;
}

namespace {

/// What clang's start-up code hands over.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* binary;
  void* unused;
};
constexpr std::uint32_t wrapper_magic = 0x48495046; // "HIPF"

FatBinary* binary_of(void** modules) {
  return reinterpret_cast<FatBinary*>(modules);
}

} // namespace

WAVESIM_HIP_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  if (!wrapper || wrapper->magic != wrapper_magic || wrapper->version != 1) {
    note("the program registers device code in an unknown form: its kernels cannot be launched");
    return nullptr;
  }
  auto binary = std::make_unique<FatBinary>();
  binary->image = wrapper->binary;
  const std::lock_guard lock(registry().mutex);
  return reinterpret_cast<void**>(registry().binaries.emplace_back(std::move(binary)).get());
}

WAVESIM_HIP_EXPORT void __hipUnregisterFatBinary(void** modules) {
  FatBinary* binary = binary_of(modules);
  if (!binary)
    return;
  const std::lock_guard running(execution_mutex());
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto of_binary = [&](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(all.functions, of_binary);
  std::erase_if(all.variables, of_binary);
  for (auto& device : binary->devices)
    if (device.module)
      for (const auto& [name, function] : device.module->functions)
        all.live_functions.erase(function.get());
  for (auto& managed : binary->managed)
    if (managed.memory)
      DeviceMemory::instance().release(managed.memory);
  std::erase_if(all.binaries, [&](const auto& owned) { return owned.get() == binary; });
}

WAVESIM_HIP_EXPORT void __hipRegisterFunction(void** modules, const void* hostFunction,
                                              char* /*deviceFunction*/, const char* deviceName,
                                              unsigned int /*threadLimit*/, void* /*tid*/,
                                              void* /*bid*/, dim3* /*blockDim*/, dim3* /*gridDim*/,
                                              int* /*wSize*/) {
  const std::lock_guard lock(registry().mutex);
  if (modules)
    registry().functions[hostFunction] = {binary_of(modules), deviceName};
}

WAVESIM_HIP_EXPORT void __hipRegisterVar(void** modules, void* var, char* /*hostVar*/,
                                         char* deviceVar, int /*ext*/, size_t /*size*/,
                                         int /*constant*/, int /*global*/) {
  const std::lock_guard lock(registry().mutex);
  if (modules)
    registry().variables[var] = {binary_of(modules), deviceVar};
}

WAVESIM_HIP_EXPORT void __hipRegisterManagedVar(void* modules, void** pointer, void* init_value,
                                                const char* name, size_t size, unsigned /*align*/) {
  const std::lock_guard lock(registry().mutex);
  if (!modules)
    return;
  auto* binary = static_cast<FatBinary*>(modules);
  FatBinary::ManagedVariable variable;
  variable.name = name;
  variable.pointer = pointer;
  variable.initial = init_value;
  variable.bytes = size;
  // The host may touch it before any kernel runs.
  if (settings().devices > 0) {
    variable.memory =
        DeviceMemory::instance().allocate(size, RangeKind::managed, 0, hipMemAttachGlobal);
    if (variable.memory && init_value)
      std::memcpy(variable.memory, init_value, size);
    *pointer = variable.memory ? variable.memory : init_value;
  } else {
    *pointer = init_value;
  }
  binary->managed.push_back(std::move(variable));
}

// Textures and surfaces: the device has no image support (hipDeviceAttributeImageSupport is 0).
WAVESIM_HIP_EXPORT void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) {}
WAVESIM_HIP_EXPORT void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}

} // namespace wavesim::hip
