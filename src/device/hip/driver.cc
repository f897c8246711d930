// SPDX-License-Identifier: BSD-2-Clause-Patent
// AMD's driver: the names of its functions, and what only it does.
#include <fmt/format.h>

#include "device/backends.h"
#include "device/gpu/device.h"

namespace acuity {
namespace {

class HipDriver : public GpuDriver {
 public:
  static LoadedDriver load();

  Backend backend() const override { return Backend::hip; }

  std::string version_text(int version) const override {
    return fmt::format("HIP driver {}.{}", version / 10000000, version / 100000 % 100);
  }

  std::string error_text(int code) const override {
    return fmt::format("{} ({}): {}", error_name(code), code, error_string(code));
  }

  void* arguments_end() const override { return reinterpret_cast<void*>(3); }

  // The name of an AMD device's architecture is in a structure whose layout changes between versions. The driver knows
  // it and takes only a fitting code, so all are offered to it.
  Result<int> architecture(int) const override { return 0; }

  std::vector<const KernelCode*> suitable_codes(const KernelFile& file, int) const override {
    std::vector<const KernelCode*> codes;
    for (const KernelCode& code : file.codes) {
      if (code.backend == Backend::hip) codes.push_back(&code);
    }
    return codes;
  }

  DriverOutcome load_code(void** module, const KernelCode& code, std::string&) const override {
    return load_module(module, code.data.data(), 0, nullptr, nullptr);
  }

  bool is_other_target(int code) const override {
    // Invalid device function, invalid image, no binary for GPU, invalid kernel file, shared object initialisation
    // failed: versions of HIP differ in which they give.
    return code == 98 || code == 200 || code == 209 || code == 218 || code == 303;
  }

  // The driver makes the primary context with the first call for a device and keeps it.
  DriverOutcome retain_context(void**, int) const override { return {}; }
  void release_context(int) const override {}

  DriverOutcome enter(void*, int handle, int& previous) const override {
    const DriverOutcome outcome = get_device(&previous);
    return outcome.ok() && previous != handle ? set_device(handle) : outcome;
  }
  void leave(int handle, int previous) const override {
    if (previous != handle) set_device(previous);
  }

 private:
  const char* (*error_name)(int) = nullptr;
  const char* (*error_string)(int) = nullptr;
  DriverFunction<int*> get_device;
  DriverFunction<int> set_device;
};

LoadedDriver HipDriver::load() {
  if (!has_code(Backend::hip)) {
    return Status(StatusCode::unknown_device,
                  "this build has no HIP kernels: clang++-19 or ld.lld-19 was missing when it was built");
  }
  Result<DriverLibrary> opened = DriverLibrary::open(
      "ACUITY_HIP_DRIVER",
      {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"});
  if (!opened.ok()) return opened.status();
  DriverLibrary& library = *opened;
  auto driver = std::make_shared<HipDriver>();
  library.bind(driver->initialize, "hipInit");
  library.bind(driver->driver_version, "hipDriverGetVersion");
  library.bind(driver->device_count, "hipGetDeviceCount");
  library.bind(driver->device_at, "hipDeviceGet");
  library.bind(driver->device_name, "hipDeviceGetName");
  library.bind(driver->device_memory, "hipDeviceTotalMem");
  library.bind(driver->get_device, "hipGetDevice");
  library.bind(driver->set_device, "hipSetDevice");
  library.bind(driver->memory_info, "hipMemGetInfo");
  library.bind(driver->allocate, "hipMalloc");
  library.bind(driver->release, "hipFree");
  library.bind(driver->allocate_host, "hipHostMalloc");
  library.bind(driver->release_host, "hipHostFree");
  library.bind(driver->load_module, "hipModuleLoadDataEx");
  library.bind(driver->unload_module, "hipModuleUnload");
  library.bind(driver->find_function, "hipModuleGetFunction");
  library.bind(driver->create_stream, "hipStreamCreateWithFlags");
  library.bind(driver->destroy_stream, "hipStreamDestroy");
  library.bind(driver->synchronize_stream, "hipStreamSynchronize");
  library.bind(driver->stream_waits, "hipStreamWaitEvent");
  library.bind(driver->create_event, "hipEventCreateWithFlags");
  library.bind(driver->destroy_event, "hipEventDestroy");
  library.bind(driver->record_event, "hipEventRecord");
  library.bind(driver->copy_to_device, "hipMemcpyHtoDAsync");
  library.bind(driver->copy_to_host, "hipMemcpyDtoHAsync");
  library.bind(driver->fill_words, "hipMemsetD32Async");
  library.bind(driver->launch, "hipModuleLaunchKernel");
  library.bind_optional(driver->lock_host, "hipHostRegister");
  library.bind_optional(driver->unlock_host, "hipHostUnregister");
  library.bind_optional(driver->device_uuid, "hipDeviceGetUuid");
  library.bind_optional(driver->pci_address, "hipDeviceGetPCIBusId");
  // Since ROCm 4.5. HIP can also capture several streams at once, and wait for an event from outside with a flag of
  // hipStreamWaitEvent, as CUDA. Neither is used. Its streams that wait for each other in a ring (a for b, b for c, c
  // for a) never end their capture: hip::Stream::EndCapture calls itself for ever. The flag is known since ROCm 6.4.2,
  // and there and in the 7.x read so far it takes the list of nodes for the nodes. The functions below avoid both.
  GraphFunctions& graphs = driver->graphs;
  graphs.one_stream = true;
  graphs.frees_at_once = true;  // before ROCm 6.2
  library.bind_optional(graphs.begin_capture, "hipStreamBeginCapture");
  library.bind_optional(graphs.end_capture, "hipStreamEndCapture");
  library.bind_optional(graphs.instantiate, "hipGraphInstantiateWithFlags");
  library.bind_optional(graphs.launch, "hipGraphLaunch");
  library.bind_optional(graphs.destroy_executable, "hipGraphExecDestroy");
  library.bind_optional(graphs.destroy, "hipGraphDestroy");
  library.bind_optional(graphs.capture_info, "hipStreamGetCaptureInfo_v2");
  library.bind_optional(graphs.set_dependencies, "hipStreamUpdateCaptureDependencies");
  library.bind_optional(graphs.add_wait, "hipGraphAddEventWaitNode");
  driver->error_name = reinterpret_cast<const char* (*)(int)>(library.find("hipGetErrorName"));
  driver->error_string = reinterpret_cast<const char* (*)(int)>(library.find("hipGetErrorString"));
  if (const Status status = library.complete(); !status.ok()) return status;
  if (const DriverOutcome outcome = driver->initialize(0); !outcome.ok()) {
    return Status(StatusCode::device, driver->failure_text(outcome));
  }
  return std::shared_ptr<const GpuDriver>(std::move(driver));
}

}  // namespace

DeviceList list_hip_devices() { return list_gpu_devices(Backend::hip, HipDriver::load()); }

Result<std::shared_ptr<Device>> open_hip_device(int index) {
  return open_gpu_device(Backend::hip, HipDriver::load(), index);
}

}  // namespace acuity
