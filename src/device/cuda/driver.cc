// SPDX-License-Identifier: BSD-2-Clause-Patent
// NVIDIA's driver: the names of its functions, and what only it does.
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "device/backends.h"
#include "device/gpu/device.h"

namespace acuity {

extern const KernelFile probe_kernels;

namespace {

constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kCapabilityMinor = 76;
constexpr int kErrorLogBuffer = 5;  // CU_JIT_ERROR_LOG_BUFFER
constexpr int kErrorLogSize = 6;
constexpr int kSplitCompile = 34;  // CU_JIT_SPLIT_COMPILE: how many threads; 0 for as many as there are cores
constexpr int kFirstWithSplitCompile = 13000;  // version of the driver

bool is_cubin(const KernelCode& code) {
  return code.data.size() >= 4 && std::memcmp(code.data.data(), "\177ELF", 4) == 0;
}

/// 75 for "sm_75".
int target_number(const KernelCode& code) {
  const std::string_view target = code.target;
  int number = 0;
  if (target.starts_with("sm_")) std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

class CudaDriver : public GpuDriver {
 public:
  static LoadedDriver load();

  Backend backend() const override { return Backend::cuda; }

  std::string version_text(int version) const override {
    return fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10);
  }

  std::string error_text(int code) const override {
    const char* name = nullptr;
    const char* text = nullptr;
    const bool known =
        error_name(code, &name).ok() && error_string(code, &text).ok() && name != nullptr && text != nullptr;
    return known ? fmt::format("{} ({}): {}", name, code, text) : fmt::format("unknown error ({})", code);
  }

  void* arguments_end() const override { return nullptr; }

  Result<int> architecture(int handle) const override {
    int major = 0;
    int minor = 0;
    for (const DriverOutcome& outcome :
         {device_attribute(&major, kCapabilityMajor, handle), device_attribute(&minor, kCapabilityMinor, handle)}) {
      if (!outcome.ok()) return Status(StatusCode::device, failure_text(outcome));
    }
    const int capability = major * 10 + minor;
    if (!suitable_codes(probe_kernels, capability).empty()) return capability;
    return Status(
        StatusCode::device,
        fmt::format("its compute capability {}.{} is too low; 7.5 (Turing) or newer is needed", major, minor));
  }

  std::vector<const KernelCode*> suitable_codes(const KernelFile& file, int architecture) const override {
    const KernelCode* best = nullptr;
    for (const KernelCode& code : file.codes) {
      if (code.backend != Backend::cuda || target_number(code) > architecture) continue;
      if (is_cubin(code)) {
        if (target_number(code) == architecture) return {&code};
      } else if (best == nullptr || target_number(code) > target_number(*best)) {
        best = &code;
      }
    }
    if (best == nullptr) return {};
    return {best};
  }

  DriverOutcome load_code(void** module, const KernelCode& code, std::string& log) const override {
    if (is_cubin(code)) return load_module(module, code.data.data(), 0, nullptr, nullptr);
    const std::string ptx(code.data.begin(), code.data.end());  // the driver wants text that ends with a zero
    char buffer[4096] = {};
    // The kernels of a file are compiled side by side, to the same code, where the driver can.
    int keys[] = {kErrorLogBuffer, kErrorLogSize, kSplitCompile};
    void* values[] = {buffer, reinterpret_cast<void*>(sizeof(buffer) - 1), nullptr};
    const DriverOutcome outcome = load_module(module, ptx.c_str(), splits_compilation_ ? 3 : 2, keys, values);
    if (!outcome.ok()) log = buffer;
    return outcome;
  }

  bool is_other_target(int) const override { return false; }

  DriverOutcome retain_context(void** context, int handle) const override { return context_retain(context, handle); }
  void release_context(int handle) const override { context_release(handle); }

  DriverOutcome enter(void* context, int, int&) const override { return context_push(context); }
  void leave(int, int) const override {
    void* context = nullptr;
    context_pop(&context);
  }

 private:
  DriverFunction<int, const char**> error_name;
  DriverFunction<int, const char**> error_string;
  DriverFunction<int*, int, int> device_attribute;
  DriverFunction<void**, int> context_retain;
  DriverFunction<int> context_release;
  DriverFunction<void*> context_push;
  DriverFunction<void**> context_pop;
  bool splits_compilation_ = false;
};

LoadedDriver CudaDriver::load() {
  if (!has_code(Backend::cuda)) {
    return Status(StatusCode::unknown_device,
                  "this build has no CUDA kernels: clang++-19 was missing when it was built");
  }
  Result<DriverLibrary> opened = DriverLibrary::open("ACUITY_CUDA_DRIVER", {"libcuda.so.1"});
  if (!opened.ok()) return opened.status();
  DriverLibrary& library = *opened;
  auto driver = std::make_shared<CudaDriver>();
  library.bind(driver->initialize, "cuInit");
  library.bind(driver->driver_version, "cuDriverGetVersion");
  library.bind(driver->device_count, "cuDeviceGetCount");
  library.bind(driver->device_at, "cuDeviceGet");
  library.bind(driver->device_name, "cuDeviceGetName");
  library.bind(driver->device_memory, "cuDeviceTotalMem_v2");
  library.bind(driver->device_attribute, "cuDeviceGetAttribute");
  library.bind(driver->context_retain, "cuDevicePrimaryCtxRetain");
  library.bind(driver->context_release, "cuDevicePrimaryCtxRelease_v2");
  library.bind(driver->context_push, "cuCtxPushCurrent_v2");
  library.bind(driver->context_pop, "cuCtxPopCurrent_v2");
  library.bind(driver->memory_info, "cuMemGetInfo_v2");
  library.bind(driver->allocate, "cuMemAlloc_v2");
  library.bind(driver->release, "cuMemFree_v2");
  library.bind(driver->allocate_host, "cuMemHostAlloc");
  library.bind(driver->release_host, "cuMemFreeHost");
  library.bind(driver->load_module, "cuModuleLoadDataEx");
  library.bind(driver->unload_module, "cuModuleUnload");
  library.bind(driver->find_function, "cuModuleGetFunction");
  library.bind(driver->create_stream, "cuStreamCreate");
  library.bind(driver->destroy_stream, "cuStreamDestroy_v2");
  library.bind(driver->synchronize_stream, "cuStreamSynchronize");
  library.bind(driver->stream_waits, "cuStreamWaitEvent");
  library.bind(driver->create_event, "cuEventCreate");
  library.bind(driver->destroy_event, "cuEventDestroy_v2");
  library.bind(driver->record_event, "cuEventRecord");
  library.bind(driver->copy_to_device, "cuMemcpyHtoDAsync_v2");
  library.bind(driver->copy_to_host, "cuMemcpyDtoHAsync_v2");
  library.bind(driver->fill_words, "cuMemsetD32Async");
  library.bind(driver->launch, "cuLaunchKernel");
  library.bind(driver->error_name, "cuGetErrorName");
  library.bind(driver->error_string, "cuGetErrorString");
  library.bind_optional(driver->lock_host, "cuMemHostRegister_v2");
  library.bind_optional(driver->unlock_host, "cuMemHostUnregister");
  library.bind_optional(driver->device_uuid, "cuDeviceGetUuid");
  library.bind_optional(driver->pci_address, "cuDeviceGetPCIBusId");
  // Since CUDA 11.4.
  library.bind_optional(driver->graphs.begin_capture, "cuStreamBeginCapture_v2");
  library.bind_optional(driver->graphs.end_capture, "cuStreamEndCapture");
  library.bind_optional(driver->graphs.instantiate, "cuGraphInstantiateWithFlags");
  library.bind_optional(driver->graphs.launch, "cuGraphLaunch");
  library.bind_optional(driver->graphs.destroy_executable, "cuGraphExecDestroy");
  library.bind_optional(driver->graphs.destroy, "cuGraphDestroy");
  if (const Status status = library.complete(); !status.ok()) return status;
  if (const DriverOutcome outcome = driver->initialize(0); !outcome.ok()) {
    return Status(StatusCode::device, driver->failure_text(outcome));
  }
  int version = 0;
  if (const DriverOutcome outcome = driver->driver_version(&version); !outcome.ok()) {
    return Status(StatusCode::device, driver->failure_text(outcome));
  }
  driver->splits_compilation_ = version >= kFirstWithSplitCompile;
  return std::shared_ptr<const GpuDriver>(std::move(driver));
}

}  // namespace

DeviceList list_cuda_devices() { return list_gpu_devices(Backend::cuda, CudaDriver::load()); }

Result<std::shared_ptr<Device>> open_cuda_device(int index) {
  return open_gpu_device(Backend::cuda, CudaDriver::load(), index);
}

}  // namespace acuity
