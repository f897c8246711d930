// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two ways lead to a profiler. Nsight Systems and Nsight Compute name a library in NVTX_INJECTION64_PATH, which fills
// in the functions of a program's tables; this is how NVTX 3 works, whose own part is this file. Before CUDA 13 there
// was also a library with the functions, libnvToolsExt.
#include "base/profiler_range.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>

namespace acuity {
namespace {

using AnyFunction = void (*)();

// The functions that a profiler may fill in, by module. The numbers are NVTX's own.
struct Tables {
  static constexpr unsigned kCore = 1, kRangePush = 9, kRangePop = 11;
  static constexpr std::array<unsigned, 7> kSizes{0, 16, 9, 15, 7, 16, 7};  // core, CUDA, OpenCL, runtime, core 2, sync

  std::array<std::array<AnyFunction, 16>, 7> functions{};
  std::array<std::array<AnyFunction*, 17>, 7> places{};

  Tables() {
    for (size_t module = 0; module < functions.size(); ++module) {
      for (size_t i = 1; i < functions[module].size(); ++i) places[module][i] = &functions[module][i];
    }
  }
};

Tables& tables() {
  static Tables made;
  return made;
}

extern "C" {

int acuity_nvtx_module(int module, AnyFunction*** table, unsigned* size) {
  if (module < 1 || static_cast<size_t>(module) >= Tables::kSizes.size()) return 0;
  if (size != nullptr) *size = Tables::kSizes[static_cast<size_t>(module)];
  if (table != nullptr) *table = tables().places[static_cast<size_t>(module)].data();
  return 1;
}

void acuity_nvtx_version(uint32_t) {}

const void* acuity_nvtx_export(uint32_t id) {
  struct Callbacks {
    size_t size;
    int (*module)(int, AnyFunction***, unsigned*);
  };
  struct Version {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t);
  };
  static const Callbacks callbacks{sizeof(Callbacks), acuity_nvtx_module};
  static const Version version{sizeof(Version), 3, 0, acuity_nvtx_version};
  if (id == 1) return &callbacks;
  if (id == 3) return &version;
  return nullptr;
}

}  // extern "C"

struct Functions {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

Functions usable(const Functions& functions) {
  return functions.push != nullptr && functions.pop != nullptr ? functions : Functions();
}

Functions from_profiler(const char* path) {
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) return {};
  using Initialize = int (*)(const void* (*)(uint32_t));
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr || initialize(acuity_nvtx_export) == 0) return {};
  const auto& core = tables().functions[Tables::kCore];
  return usable({reinterpret_cast<int (*)(const char*)>(core[Tables::kRangePush]),
                 reinterpret_cast<int (*)()>(core[Tables::kRangePop])});
}

Functions load() {
  const char* asked = std::getenv("ACUITY_NVTX");
  if (asked == nullptr || std::string_view(asked) != "1") return {};
  if (const char* path = std::getenv("NVTX_INJECTION64_PATH"); path != nullptr && *path != '\0') {
    return from_profiler(path);
  }
  void* library = dlopen("libnvToolsExt.so.1", RTLD_LAZY);
  if (library == nullptr) return {};
  return usable({reinterpret_cast<int (*)(const char*)>(dlsym(library, "nvtxRangePushA")),
                 reinterpret_cast<int (*)()>(dlsym(library, "nvtxRangePop"))});
}

const Functions& functions() {
  static const Functions loaded = load();
  return loaded;
}

}  // namespace

ProfilerRange::ProfilerRange(const char* name) noexcept {
  if (functions().push != nullptr) functions().push(name);
}

ProfilerRange::~ProfilerRange() {
  if (functions().pop != nullptr) functions().pop();
}

}  // namespace acuity
