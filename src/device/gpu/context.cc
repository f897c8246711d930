// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/context.h"

#include <algorithm>

#include <fmt/format.h>

namespace acuity {
namespace {

/// Failures after which CUDA and HIP fail every call: a kernel that went astray or took too long, or hardware that is
/// gone.
bool is_fatal(int code) {
  constexpr int kFatal[] = {
      4,                             // the driver is shutting down
      46,                            // device unavailable
      214, 220, 221,                 // uncorrectable memory or link errors
      700, 702, 709, 710,            // illegal address, launch timeout, context destroyed, assertion
      714, 715, 716, 717, 718, 719,  // stack, instruction, alignment, address space, program counter, launch failure
      999,                           // unknown
  };
  return std::find(std::begin(kFatal), std::end(kFatal), code) != std::end(kFatal);
}

}  // namespace

Result<std::shared_ptr<GpuContext>> GpuContext::create(std::shared_ptr<const GpuDriver> driver,
                                                       const DeviceInfo& info) {
  std::shared_ptr<GpuContext> context(new GpuContext(std::move(driver), info));
  const GpuDriver& calls = context->driver();
  if (const DriverOutcome outcome = calls.device_at(&context->device_, info.index); !outcome.ok()) {
    return context->judge(outcome);
  }
  const Result<int> architecture = calls.architecture(context->device_);
  if (!architecture.ok()) return context->failure(architecture.status().message());
  context->architecture_ = *architecture;
  if (const DriverOutcome outcome = calls.retain_context(&context->handle_, context->device_); !outcome.ok()) {
    return context->judge(outcome);
  }
  context->retained_ = true;
  return context;
}

GpuContext::~GpuContext() {
  if (!retained_) return;
  for (const auto& [file, loaded] : files_) {
    if (loaded.module != nullptr) call_last([&] { driver_->unload_module(loaded.module); });
  }
  driver_->release_context(device_);
}

Status GpuContext::failure(const std::string& message) const {
  return {StatusCode::device, fmt::format("{} ({}): {}", info_.id, info_.name, message)};
}

Status GpuContext::judge(DriverOutcome outcome) {
  const Status status = failure(driver_->failure_text(outcome));
  if (outcome.code == kErrorOutOfMemory) return {StatusCode::device_memory, status.message()};
  if (!is_fatal(outcome.code)) return status;
  const std::lock_guard lock(failure_mutex_);
  if (!lost_) {
    failure_ = {StatusCode::device_lost, status.message()};
    lost_ = true;
  }
  return failure_;
}

Status GpuContext::failure() {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

Result<void*> GpuContext::function(const KernelInfo& kernel) {
  LoadedFile& loaded = loaded_file(*kernel.file);
  // Loading happens under the file's lock: whoever needs the same file waits for it anyway. Drivers load, and so
  // compile, several files at once.
  const std::lock_guard lock(loaded.mutex);
  if (loaded.module == nullptr) {
    if (const Status status = load(*kernel.file, &loaded.module); !status.ok()) return status;
  }
  if (const auto found = loaded.functions.find(kernel.name); found != loaded.functions.end()) return found->second;
  void* function = nullptr;
  const Status status = call([&] { return driver_->find_function(&function, loaded.module, kernel.name); });
  if (!status.ok()) {
    return Status(status.code(), fmt::format("{} (kernel {} of {})", status.message(), kernel.name, kernel.file->name));
  }
  loaded.functions.emplace(kernel.name, function);
  return function;
}

GpuContext::LoadedFile& GpuContext::loaded_file(const KernelFile& file) {
  const std::lock_guard lock(files_mutex_);
  return files_[&file];
}

Status GpuContext::load(const KernelFile& file, void** module) {
  std::string tried;
  Status status;
  for (const KernelCode* code : driver_->suitable_codes(file, architecture_)) {
    tried += tried.empty() ? code->target : fmt::format(", {}", code->target);
    DriverOutcome outcome;
    std::string log;
    status = call([&] { return outcome = driver_->load_code(module, *code, log); });
    if (status.ok()) return {};
    *module = nullptr;
    if (!log.empty()) status = {status.code(), fmt::format("{}; its compiler says: {}", status.message(), log)};
    if (!driver_->is_other_target(outcome.code)) break;
  }
  if (tried.empty()) return failure(fmt::format("{} has no code for this device", file.name));
  return {status.code(), fmt::format("{} (loading {} for {})", status.message(), file.name, tried)};
}

}  // namespace acuity
