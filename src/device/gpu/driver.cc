// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/driver.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace acuity {

Result<DriverLibrary> DriverLibrary::open(const char* variable, std::initializer_list<const char*> names) {
  std::vector<std::string> candidates(names.begin(), names.end());
  if (const char* name = std::getenv(variable); name != nullptr && *name != '\0') candidates = {name};
  std::string reason;
  for (const std::string& name : candidates) {
    DriverLibrary library;
    library.name_ = name;
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) return library;
    const char* error = dlerror();
    // The first name is the usual one, so what is said of it tells most.
    if (reason.empty()) reason = error != nullptr ? error : name;
  }
  return Status(StatusCode::unknown_device, fmt::format("the driver's library could not be loaded: {}", reason));
}

void* DriverLibrary::find(const char* symbol) {
  void* address = find_optional(symbol);
  if (address == nullptr && missing_.empty()) missing_ = symbol;
  return address;
}

void* DriverLibrary::find_optional(const char* symbol) const { return dlsym(handle_, symbol); }

Status DriverLibrary::complete() const {
  if (missing_.empty()) return {};
  return {StatusCode::device, fmt::format("{} has no function {}; a newer driver is needed", name_, missing_)};
}

std::string GpuDriver::failure_text(DriverOutcome outcome) const {
  return fmt::format("{} failed with {}", outcome.function, error_text(outcome.code));
}

}  // namespace acuity
