// SPDX-License-Identifier: BSD-2-Clause-Patent
// The driver interface that CUDA and HIP share. HIP's functions were modelled on CUDA's: same arguments, same order,
// and most error codes. So one table serves both, and no header of either vendor is needed. Addresses and handles are
// 64 bits in the calling convention whatever a vendor calls them; results are int, 0 for success.
#ifndef ACUITY_DEVICE_GPU_DRIVER_H
#define ACUITY_DEVICE_GPU_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "acuity/status.h"
#include "lang/kernel.h"

namespace acuity {

/// What a driver function returned, and which it was.
struct DriverOutcome {
  const char* function = "";
  int code = 0;
  bool ok() const { return code == 0; }
};

template <typename... Arguments>
struct DriverFunction {
  const char* name = "";
  int (*pointer)(Arguments...) = nullptr;
  DriverOutcome operator()(Arguments... arguments) const { return {name, pointer(arguments...)}; }
  bool found() const { return pointer != nullptr; }
};

/// A driver's shared library. It stays loaded: drivers keep threads and do not like to be unloaded.
class DriverLibrary {
 public:
  /// The first of `names` that loads, or the one that the environment variable names, for tests.
  static Result<DriverLibrary> open(const char* variable, std::initializer_list<const char*> names);

  void* find(const char* symbol);
  template <typename... Arguments>
  void bind(DriverFunction<Arguments...>& function, const char* symbol) {
    function.name = symbol;
    function.pointer = reinterpret_cast<int (*)(Arguments...)>(find(symbol));
  }
  /// For a function that the driver may lack.
  void* find_optional(const char* symbol) const;
  template <typename... Arguments>
  void bind_optional(DriverFunction<Arguments...>& function, const char* symbol) {
    function.name = symbol;
    function.pointer = reinterpret_cast<int (*)(Arguments...)>(find_optional(symbol));
  }
  /// Whether everything looked for was found, except what may be lacking.
  Status complete() const;

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string missing_;
};

/// Flags and codes that are the same in both.
inline constexpr unsigned kPortableHostMemory = 1;
inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr unsigned kEventWithoutTiming = 2;
inline constexpr int kErrorOutOfMemory = 2;
inline constexpr unsigned kWaitOutsideOfGraph = 1;  // CUDA, in work that is being recorded

/// Graphs: work that a driver records from streams and keeps.
struct GraphFunctions {
  DriverFunction<void*, int> begin_capture;                       // stream, mode
  DriverFunction<void*, void**> end_capture;                      // stream, graph
  DriverFunction<void**, void*, unsigned long long> instantiate;  // executable graph, graph, flags
  DriverFunction<void*, void*> launch;                            // executable graph, stream
  DriverFunction<void*> destroy_executable;
  DriverFunction<void*> destroy;

  /// Whether one stream must capture the work of all queues (gpu/capture.h). Only then the next three are needed.
  bool one_stream = false;
  DriverFunction<void*, int*, unsigned long long*, void**, void* const**, size_t*>
      capture_info;                                                     // stream, state, id, graph, nodes, count
  DriverFunction<void*, void**, size_t, unsigned> set_dependencies;     // stream, nodes, count, flags
  DriverFunction<void**, void*, void* const*, size_t, void*> add_wait;  // node, graph, nodes, count, event
  /// Whether an executable graph may be destroyed only when it is not in flight.
  bool frees_at_once = false;

  bool complete() const {
    return begin_capture.found() && end_capture.found() && instantiate.found() && launch.found() &&
           destroy_executable.found() && destroy.found() &&
           (!one_stream || (capture_info.found() && set_dependencies.found() && add_wait.found()));
  }
};

class GpuDriver {
 public:
  virtual ~GpuDriver() = default;

  DriverFunction<unsigned> initialize;
  DriverFunction<int*> driver_version;
  DriverFunction<int*> device_count;
  DriverFunction<int*, int> device_at;           // handle, index
  DriverFunction<char*, int, int> device_name;   // text, its size, handle
  DriverFunction<size_t*, int> device_memory;    // bytes, handle
  DriverFunction<void*, int> device_uuid;        // 16 bytes, handle; may be lacking
  DriverFunction<char*, int, int> pci_address;   // text, its size, handle; may be lacking
  DriverFunction<size_t*, size_t*> memory_info;  // free, total
  DriverFunction<uint64_t*, size_t> allocate;
  DriverFunction<uint64_t> release;
  DriverFunction<void**, size_t, unsigned> allocate_host;
  DriverFunction<void*> release_host;
  DriverFunction<void*, size_t, unsigned> lock_host;  // may be lacking, as may the next
  DriverFunction<void*> unlock_host;
  DriverFunction<void**, const void*, unsigned, int*, void**>
      load_module;  // module, image, options, their keys and values
  DriverFunction<void*> unload_module;
  DriverFunction<void**, void*, const char*> find_function;
  DriverFunction<void**, unsigned> create_stream;
  DriverFunction<void*> destroy_stream;
  DriverFunction<void*> synchronize_stream;
  DriverFunction<void*, void*, unsigned> stream_waits;  // stream, event, flags
  DriverFunction<void**, unsigned> create_event;
  DriverFunction<void*> destroy_event;
  DriverFunction<void*, void*> record_event;  // event, stream
  DriverFunction<uint64_t, const void*, size_t, void*> copy_to_device;
  DriverFunction<void*, uint64_t, size_t, void*> copy_to_host;
  DriverFunction<uint64_t, unsigned, size_t, void*> fill_words;
  // function, groups x y z, threads x y z, shared bytes, stream, unused, argument block
  DriverFunction<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**>
      launch;
  GraphFunctions graphs;  // where they are not complete, devices keep no work

  // Where they differ.

  virtual Backend backend() const = 0;
  virtual std::string version_text(int version) const = 0;
  /// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
  virtual std::string error_text(int code) const = 0;
  /// What ends the list that hands an argument block to `launch`.
  virtual void* arguments_end() const = 0;

  /// What the device is to suitable_codes, e.g. 90 for sm_90. Fails where no code of this build can run.
  virtual Result<int> architecture(int handle) const = 0;
  /// The codes that a device may accept, to be tried in this order.
  virtual std::vector<const KernelCode*> suitable_codes(const KernelFile& file, int architecture) const = 0;
  /// Loads one; `log` gets what the driver's compiler says if it fails.
  virtual DriverOutcome load_code(void** module, const KernelCode& code, std::string& log) const = 0;
  /// Whether that failure means that the code is for another device.
  virtual bool is_other_target(int code) const = 0;

  /// The device's primary context, which an application's own use of the driver shares.
  virtual DriverOutcome retain_context(void** context, int handle) const = 0;
  virtual void release_context(int handle) const = 0;
  /// Makes it current on this thread; `previous` is for leave.
  virtual DriverOutcome enter(void* context, int handle, int& previous) const = 0;
  virtual void leave(int handle, int previous) const = 0;

  /// "cuMemAlloc_v2 failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
  std::string failure_text(DriverOutcome outcome) const;
};

}  // namespace acuity

#endif
