#include "hip/module.hpp"

#include "hip/entry.hpp"
#include "hip/handles.hpp"
#include "hip/registry.hpp"
#include "hip/runtime.hpp"
#include "loader/fat_binary.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

ihipModuleSymbol_t* ihipModule_t::function(const std::string& name) {
  const auto it = functions.find(name);
  if (it != functions.end())
    return it->second.get();
  const wavesim::Kernel* kernel = object->kernel(name);
  if (!kernel)
    return nullptr;
  auto made = std::make_unique<ihipModuleSymbol_t>();
  made->kernel = kernel;
  made->module = this;
  made->device = device;
  made->name = name;
  return functions.emplace(name, std::move(made)).first->second.get();
}

namespace wavesim::hip {

hipError_t load_module(std::span<const std::byte> image, int device,
                       std::unique_ptr<ihipModule_t>& module) {
  DeviceImage extracted = extract_device_image(image);
  if (extracted.elf.empty()) {
    note(extracted.error);
    return extracted.damaged ? hipErrorInvalidImage : hipErrorNoBinaryForGpu;
  }
  std::string error;
  auto loaded = std::make_unique<ihipModule_t>();
  loaded->object = CodeObject::load(extracted.elf, error);
  if (!loaded->object) {
    note(error);
    return error.find("it is built for") != std::string::npos ? hipErrorNoBinaryForGpu
                                                              : hipErrorInvalidImage;
  }
  loaded->device = device;
  module = std::move(loaded);
  return hipSuccess;
}

namespace {

std::span<const std::byte> as_bytes(const std::vector<char>& content) {
  return {reinterpret_cast<const std::byte*>(content.data()), content.size()};
}

hipError_t load_file(const char* path, std::vector<char>& content) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none))
    return hipErrorFileNotFound;
  std::ifstream file(path, std::ios::binary);
  content.assign(std::istreambuf_iterator<char>(file), {});
  return file.bad() ? hipErrorFileNotFound : hipSuccess;
}

/// A managed variable x is a pair in the code: x.managed, its memory, and x, a pointer to it.
constexpr const char* managed_suffix = ".managed";

void connect_managed(const CodeObject& object) {
  for (const std::string& name : object.variable_names()) {
    const CodeObject::Variable* memory = object.variable(name + managed_suffix);
    const CodeObject::Variable* pointer = object.variable(name);
    if (memory && pointer->size >= sizeof memory->address)
      std::memcpy(reinterpret_cast<void*>(pointer->address), &memory->address,
                  sizeof memory->address);
  }
}

hipError_t module_from(std::span<const std::byte> image, hipModule_t* module) {
  std::unique_ptr<ihipModule_t> loaded;
  WAVESIM_HIP_TRY(load_module(image, thread_state().device, loaded));
  connect_managed(*loaded->object);
  *module = handles<ihipModule_t>().add(std::move(loaded));
  return hipSuccess;
}

hipError_t load_data(hipModule_t* module, const void* image) {
  if (!module || !image)
    return hipErrorInvalidValue;
  const auto bytes = readable_from(image);
  return bytes.empty() ? hipErrorInvalidValue : module_from(bytes, module);
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipModuleLoad(hipModule_t* module, const char* fname) {
  return call([&] {
    if (!module || !fname)
      return hipErrorInvalidValue;
    std::vector<char> content;
    WAVESIM_HIP_TRY(load_file(fname, content));
    return module_from(as_bytes(content), module);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return call([&] { return load_data(module, image); });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image,
                                                  unsigned int, hipJitOption*, void**) {
  return call([&] { return load_data(module, image); });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* fatbin) {
  return call([&] { return load_data(module, fatbin); });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleUnload(hipModule_t module) {
  return call([&] {
    const std::lock_guard running(execution_mutex());
    const std::lock_guard lock(registry().mutex);
    const auto gone = handles<ihipModule_t>().take(module);
    if (!gone)
      return hipErrorInvalidHandle;
    for (const auto& [name, function] : gone->functions)
      registry().live_functions.erase(function.get());
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module,
                                                   const char* kname) {
  return call([&] {
    if (!function || !kname)
      return hipErrorInvalidValue;
    const std::lock_guard lock(registry().mutex);
    if (!handles<ihipModule_t>().alive(module))
      return hipErrorInvalidHandle;
    ihipModuleSymbol_t* found = module->function(kname);
    if (!found)
      return hipErrorNotFound;
    registry().live_functions.insert(found);
    *function = found;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t mod) {
  return call([&] {
    if (!count)
      return hipErrorInvalidValue;
    if (!handles<ihipModule_t>().alive(mod))
      return hipErrorInvalidHandle;
    *count = static_cast<unsigned>(mod->object->kernels().size());
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleGetGlobal(hipDeviceptr_t* dptr, size_t* bytes,
                                                 hipModule_t hmod, const char* name) {
  return call([&] {
    if (!name || (!dptr && !bytes))
      return hipErrorInvalidValue;
    if (!handles<ihipModule_t>().alive(hmod))
      return hipErrorInvalidHandle;
    const CodeObject::Variable* variable =
        hmod->object->variable(std::string(name) + managed_suffix);
    if (!variable)
      variable = hmod->object->variable(name);
    if (!variable)
      return hipErrorNotFound;
    if (dptr)
      *dptr = reinterpret_cast<hipDeviceptr_t>(variable->address);
    if (bytes)
      *bytes = variable->size;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
