// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_driver.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "device/fake_capture.h"
#include "device/fake_errors.h"
#include "device/fake_probe.h"
#include "device/fake_reads.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// For a command that cannot be told otherwise: which function fails, after how many calls, and with what.
FakeDriver state_of_environment() {
  FakeDriver told;
  if (const char* words = std::getenv("ACUITY_FAKE_DRIVER"); words != nullptr) {
    told.free_bytes = size_t{1} << 30;
    std::istringstream(words) >> told.failing_function >> told.calls_before_failure >> told.failure;
  }
  return told;
}

FakeDriver state = state_of_environment();
std::recursive_mutex mutex;
std::map<uintptr_t, size_t> memory_given;   // and its size
std::map<uintptr_t, size_t> memory_locked;  // by its owner's wish
void* graph_stream = nullptr;               // of the graph that is performed
uintptr_t handles_given = 0;
using FakeExecutable = std::vector<std::function<void()>>;  // a graph's work in order
thread_local std::vector<void*> contexts;                   // CUDA's stack
thread_local int current_device = 0;                        // HIP's

constexpr size_t kPage = 4096;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoBinary = 209;
constexpr int kNotFound = 500;
constexpr int kFirstFatal = 700;

bool is_hip(const std::string& call) { return call.starts_with("hip"); }

bool is_lost() { return state.failure >= kFirstFatal && state.failing_call == -2; }

/// Notes the call; its failure, if it is to fail.
int begin(const std::string& call) {
  if (const auto on_call = state.on_call) {
    mutex.unlock();
    on_call(call);
    mutex.lock();
  }
  const int number = static_cast<int>(state.calls.size());
  state.calls.push_back(call);
  const bool named = !state.failing_function.empty() && call.starts_with(state.failing_function);
  if (is_lost()) return state.failure;
  if (number != state.failing_call && !named) return 0;
  if (named && state.calls_before_failure-- > 0) return 0;
  state.failing_function.clear();
  state.failing_call = -2;
  return state.failure;
}

int begin_on_device(const std::string& call) {
  if (!is_hip(call) && contexts.empty() && !is_lost()) state.complaints.push_back(call + " without a context");
  return begin(call);
}

void* new_handle(const char* kind) {
  ++state.live[kind];
  return reinterpret_cast<void*>(++handles_given);
}

std::string numbered(const char* kind, void* handle) {
  return std::string(" ") + kind + std::to_string(reinterpret_cast<uintptr_t>(handle));
}

int give_handle(const char* call, const char* kind, void** handle) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(call);
  if (failure == 0) *handle = new_handle(kind);
  return failure;
}

/// Gives back even when the call is to fail: what fails here is only the answer.
int take_back(const char* call, const char* kind) {
  const std::lock_guard lock(mutex);
  const int failure = begin(call);
  if (--state.live[kind] < 0) state.complaints.push_back(std::string(call) + " of what is not there");
  return failure;
}

size_t free_bytes() {
  const std::lock_guard lock(mutex);
  return state.free_bytes - std::min(state.free_bytes, state.bytes["memory"]);
}

int give_memory(const char* call, const char* kind, void** address, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  if (bytes > free_bytes()) return kOutOfMemory;
  *address = std::calloc(bytes, 1);  // so that kernels, which do nothing, leave zeros
  memory_given[reinterpret_cast<uintptr_t>(*address)] = bytes;
  state.bytes[kind] += bytes;
  state.most_bytes[kind] = std::max(state.most_bytes[kind], state.bytes[kind]);
  ++state.live[kind];
  return 0;
}

// The beginning of the memory that an address lies in; 0: it is no address.
uintptr_t memory_at(uintptr_t address) {
  const auto after = memory_given.upper_bound(address);
  if (after == memory_given.begin()) return 0;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes ? begin : 0;
}

/// The memory that a kernel's arguments name, some of them more than once.
std::vector<uintptr_t> memory_in(const std::vector<unsigned char>& arguments) {
  std::vector<uintptr_t> begins;
  for (size_t i = 0; i + sizeof(uintptr_t) <= arguments.size(); i += sizeof(uintptr_t)) {
    uintptr_t address = 0;
    std::memcpy(&address, arguments.data() + i, sizeof address);
    if (const uintptr_t begin = memory_at(address); begin != 0) begins.push_back(begin);
  }
  return begins;
}

/// What is performed on a stream as part of a graph happens on the stream of the graph.
void* performing(void* stream) { return graph_stream != nullptr ? graph_stream : stream; }

int take_memory(const char* call, const char* kind, uintptr_t address) {
  const std::lock_guard lock(mutex);
  forget_filled(address);
  if (const auto given = memory_given.find(address); given != memory_given.end()) {
    std::free(reinterpret_cast<void*>(address));
    state.bytes[kind] -= given->second;
    memory_given.erase(given);
  } else {
    state.complaints.push_back(std::string(call) + " of an unknown address");
  }
  return take_back(call, kind);
}

int lock(const char* call, void* data, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  if (begin % kPage != 0 || bytes % kPage != 0) state.complaints.push_back(std::string(call) + " of parts of pages");
  for (const auto& [locked, size] : memory_locked) {
    if (begin < locked + size && locked < begin + bytes) state.complaints.push_back(std::string(call) + " twice");
  }
  memory_locked[begin] = bytes;
  ++state.live["locked"];
  return 0;
}

int unlock(const char* call, void* data) {
  const std::lock_guard lock(mutex);
  if (memory_locked.erase(reinterpret_cast<uintptr_t>(data)) == 0) {
    state.complaints.push_back(std::string(call) + " of an unknown address");
  }
  static_cast<volatile char*>(data)[0] = static_cast<volatile char*>(data)[0];  // it must be there still
  return take_back(call, "locked");
}

int copy_up(const char* call, uint64_t to, const void* from, size_t bytes, void* stream) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  return submit(stream, [=] {
    state.uploads.emplace_back(from, bytes);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    const uintptr_t begin = memory_at(to);
    if (state.results_differ) note_filled(begin, to - begin + bytes);
  });
}

int copy_down(const char* call, void* to, uint64_t from, size_t bytes, void* stream) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  return submit(stream, [=] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    const std::optional<float> number = state.results_differ ? number_of_read(performing(stream)) : std::nullopt;
    if (number) std::fill_n(static_cast<float*>(to), bytes / sizeof(float), *number);
  });
}

int fill(const char* call, uint64_t address, unsigned value, size_t words, void* stream) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  return submit(stream, [=] { std::fill_n(reinterpret_cast<unsigned*>(address), words, value); });
}

int load(const char* call, void** module, const void* image, unsigned options, const int* keys) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  const char* text = static_cast<const char*>(image);
  std::string target;
  if (is_hip(call)) {
    // A bundle names the target of the code in it near its beginning.
    const std::string head(text, 512);
    const size_t name = head.find("gfx");
    const size_t end = head.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", name);
    if (name == std::string::npos) return kInvalidValue;
    target = head.substr(name, end - name);
    if (target != state.hip_target) return kNoBinary;
  } else if (std::memcmp(text, "\177ELF", 4) == 0) {
    target = "cubin";
  } else {
    const char* name = std::strstr(text, ".target sm_");  // ends at the text's zero
    constexpr int kLastKey = 33;                          // of drivers before CUDA 13
    const bool is_known =
        state.cuda_version >= 13000 || std::all_of(keys, keys + options, [](int key) { return key <= kLastKey; });
    if (name == nullptr || options < 2 || !is_known) return kInvalidValue;
    target = std::string(name + 8, 5);
    state.jit_options.assign(keys, keys + options);
    if (std::atoi(name + 11) > state.capability) return kNoBinary;
  }
  state.loaded.push_back(target);
  *module = new_handle("module");
  return 0;
}

const char kProbe[] = "probe";

int find(const char* call, void** function, const char* name) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  if (std::strcmp(name, "absent") == 0) return kNotFound;
  // A kernel's handle is its name, which stays where it is.
  *function = const_cast<char*>(state.found.insert(name).first->c_str());
  return 0;
}

void run(void* function, const std::vector<unsigned>& grid, const std::vector<unsigned char>& arguments, void* stream) {
  std::copy(grid.begin(), grid.end(), state.grid);
  state.arguments = arguments;
  if (std::strcmp(static_cast<const char*>(function), kProbe) != 0) {
    if (state.results_differ) note_read(performing(stream), memory_in(arguments));
    return;
  }
  uint64_t addresses[2] = {};
  int count = 0;
  std::memcpy(addresses, arguments.data(), 16);
  std::memcpy(&count, arguments.data() + 16, 4);
  run_probe(state.mistake, reinterpret_cast<const float*>(addresses[0]), reinterpret_cast<float*>(addresses[1]), count);
}

int launch(const char* call, void* function, const unsigned (&grid)[6], unsigned shared, void* stream, void** unused,
           void** extra) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call + numbered("stream", stream)); failure != 0) return failure;
  if (shared != 0 || unused != nullptr) state.complaints.push_back("unexpected arguments of a launch");
  std::vector<unsigned char> arguments;
  if (extra != nullptr) {
    const auto end = reinterpret_cast<uintptr_t>(extra[4]);
    if (extra[0] != reinterpret_cast<void*>(1) || extra[2] != reinterpret_cast<void*>(2) ||
        end != (is_hip(call) ? 3 : 0)) {
      return kInvalidValue;
    }
    const auto* block = static_cast<const unsigned char*>(extra[1]);
    arguments.assign(block, block + *static_cast<size_t*>(extra[3]));
  }
  state.launched.insert(static_cast<const char*>(function));
  const std::vector<unsigned> groups(std::begin(grid), std::end(grid));
  return submit(stream, [=] { run(function, groups, arguments, stream); });
}

/// HIP loses its way among several streams that capture: some never end, some waits are done at once.
void expect_no_capture(const std::string& call, void* stream) {
  if (is_hip(call) && is_capturing(stream)) state.complaints.push_back(call + " of a stream that captures");
}

int record_event(const std::string& call, void* event, void* stream) {
  const std::lock_guard lock(mutex);
  expect_no_capture(call, stream);
  const int failure = begin_on_device(call + numbered("stream", stream) + numbered("event", event));
  if (state.results_differ) note_event_recorded(event, stream);
  return failure != 0 ? failure : capture_event(event, stream);
}

void complain_of_wait() { state.complaints.push_back("a graph waits for nothing"); }

int wait_event(const std::string& call, void* stream, void* event, unsigned flags) {
  const std::lock_guard lock(mutex);
  expect_no_capture(call, stream);
  const int failure = begin_on_device(call + numbered("stream", stream) + numbered("event", event));
  if (failure != 0) return failure;
  if (state.results_differ) note_event_awaited(stream, event);
  if (flags == 0) return capture_wait(stream, event);
  if (flags != 1 || is_hip(call)) return kInvalidValue;
  return capture_wait_outside(stream, event, complain_of_wait);
}

int synchronize(const std::string& call, void* stream) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(call + numbered("stream", stream));
  note_synchronized(stream);
  return failure != 0 ? failure : capture_synchronize(stream);
}

int begin_graph(const char* call, void* stream, int mode) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(call);
  if (mode != 2) state.complaints.push_back("a capture that other threads can disturb");
  return failure != 0 ? failure : begin_capture(stream);
}

/// Ends even when the call is to fail.
int end_graph(const char* call, void* stream, void** graph) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(call);
  const int outcome = end_capture(stream, graph);
  if (is_hip(call) && outcome != 0) state.complaints.push_back(std::string(call) + " of what HIP does not end");
  if (failure != 0 && *graph != nullptr) delete static_cast<FakeGraph*>(std::exchange(*graph, nullptr));
  if (*graph != nullptr) ++state.live["graph"];
  return failure != 0 ? failure : outcome;
}

[[maybe_unused]] int instantiate(const char* call, void** executable, void* graph, unsigned long long flags) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call); failure != 0) return failure;
  if (flags != 0) return kInvalidValue;
  *executable = new FakeExecutable(latest_first(*static_cast<FakeGraph*>(graph)));
  ++state.live["executable graph"];
  return 0;
}

int launch_graph(const char* call, void* executable, void* stream) {
  const std::lock_guard lock(mutex);
  if (const int failure = begin_on_device(call + numbered("stream", stream)); failure != 0) return failure;
  graph_stream = stream;
  for (const auto& perform : *static_cast<FakeExecutable*>(executable)) perform();
  graph_stream = nullptr;
  return 0;
}

int destroy_executable(const char* call, void* executable) {
  delete static_cast<FakeExecutable*>(executable);
  return take_back(call, "executable graph");
}

int destroy_graph(const char* call, void* graph) {
  delete static_cast<FakeGraph*>(graph);
  return take_back(call, "graph");
}

int plain(const std::string& call) {
  const std::lock_guard lock(mutex);
  return begin(call);
}

int on_device(const std::string& call) {
  const std::lock_guard lock(mutex);
  return begin_on_device(call);
}

int number(const char* call, int* to, int value) {
  *to = value;
  return plain(call);
}

int name_device(const char* call, char* name, int size, const char* text) {
  std::snprintf(name, static_cast<size_t>(size), "%s", text);
  return plain(call);
}

int identify(const char* call, void* uuid, int device, unsigned char last) {
  unsigned char bytes[16] = {static_cast<unsigned char>(device)};
  bytes[15] = last;
  std::memcpy(uuid, bytes, sizeof bytes);
  return plain(call);
}

int locate(const char* call, char* text, int size, int device, char letter) {
  std::snprintf(text, static_cast<size_t>(size), "0000:%d%c:00.0", device, letter);
  return plain(call);
}

int memory_of_device(const char* call, size_t* bytes) {
  *bytes = size_t{8} << 30;
  return plain(call);
}

int memory_info(const char* call, size_t* available, size_t* total) {
  *available = free_bytes();
  *total = size_t{8} << 30;
  return on_device(call);
}

}  // namespace

EXPORT FakeDriver* reset_fake_driver() {
  state = {};
  reset_reads();
  reset_captures();
  contexts.clear();
  current_device = 0;
  return &state;
}

EXPORT int cuInit(unsigned) { return plain(__func__); }
EXPORT int hipInit(unsigned) { return plain(__func__); }
EXPORT int cuDriverGetVersion(int* version) { return number(__func__, version, state.cuda_version); }
EXPORT int hipDriverGetVersion(int* version) { return number(__func__, version, 60342134); }
EXPORT int cuDeviceGetCount(int* count) { return number(__func__, count, state.devices); }
EXPORT int hipGetDeviceCount(int* count) { return number(__func__, count, state.devices); }
EXPORT int cuDeviceGet(int* device, int index) { return number(__func__, device, index); }
EXPORT int hipDeviceGet(int* device, int index) { return number(__func__, device, index); }
EXPORT int cuDeviceGetName(char* name, int size, int) { return name_device(__func__, name, size, "Fake GeForce"); }
EXPORT int hipDeviceGetName(char* name, int size, int) { return name_device(__func__, name, size, "Fake Radeon"); }
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) { return memory_of_device(__func__, bytes); }
EXPORT int hipDeviceTotalMem(size_t* bytes, int) { return memory_of_device(__func__, bytes); }
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  return number(__func__, value, attribute == 75 ? state.capability / 10 : state.capability % 10);
}

// Drivers agree on where a card is, and not on its UUID.
#ifndef FAKE_WITHOUT_GRAPHS
EXPORT int cuDeviceGetUuid(void* uuid, int device) { return identify(__func__, uuid, device, 0xcd); }
#endif
EXPORT int hipDeviceGetUuid(void* uuid, int device) { return identify(__func__, uuid, device, 0xad); }
EXPORT int cuDeviceGetPCIBusId(char* text, int size, int device) { return locate(__func__, text, size, device, 'A'); }
EXPORT int hipDeviceGetPCIBusId(char* text, int size, int device) { return locate(__func__, text, size, device, 'a'); }

EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  const std::lock_guard lock(mutex);
  const int failure = begin(__func__);
  if (failure == 0) *context = new_handle("context");
  return failure;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return take_back(__func__, "context"); }
EXPORT int cuCtxPushCurrent_v2(void* context) {
  const int failure = plain(__func__);
  if (failure == 0) contexts.push_back(context);
  return failure;
}
EXPORT int cuCtxPopCurrent_v2(void** context) {
  if (!contexts.empty()) {
    *context = contexts.back();
    contexts.pop_back();
  }
  return plain(__func__);
}
EXPORT int hipGetDevice(int* device) { return number(__func__, device, current_device); }
EXPORT int hipSetDevice(int device) {
  current_device = device;
  return plain(__func__);
}

EXPORT int cuMemGetInfo_v2(size_t* available, size_t* total) { return memory_info(__func__, available, total); }
EXPORT int hipMemGetInfo(size_t* available, size_t* total) { return memory_info(__func__, available, total); }
EXPORT int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  return give_memory(__func__, "memory", reinterpret_cast<void**>(address), bytes);
}
EXPORT int hipMalloc(uint64_t* address, size_t bytes) {
  return give_memory(__func__, "memory", reinterpret_cast<void**>(address), bytes);
}
EXPORT int cuMemFree_v2(uint64_t address) { return take_memory(__func__, "memory", address); }
EXPORT int hipFree(uint64_t address) { return take_memory(__func__, "memory", address); }
EXPORT int cuMemHostAlloc(void** data, size_t bytes, unsigned) { return give_memory(__func__, "pinned", data, bytes); }
EXPORT int hipHostMalloc(void** data, size_t bytes, unsigned) { return give_memory(__func__, "pinned", data, bytes); }
EXPORT int cuMemFreeHost(void* data) { return take_memory(__func__, "pinned", reinterpret_cast<uintptr_t>(data)); }
EXPORT int hipHostFree(void* data) { return take_memory(__func__, "pinned", reinterpret_cast<uintptr_t>(data)); }
EXPORT int cuMemHostRegister_v2(void* data, size_t bytes, unsigned) { return lock(__func__, data, bytes); }
EXPORT int hipHostRegister(void* data, size_t bytes, unsigned) { return lock(__func__, data, bytes); }
EXPORT int cuMemHostUnregister(void* data) { return unlock(__func__, data); }
EXPORT int hipHostUnregister(void* data) { return unlock(__func__, data); }

EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* keys, void**) {
  return load(__func__, module, image, options, keys);
}
EXPORT int hipModuleLoadDataEx(void** module, const void* image, unsigned options, int* keys, void**) {
  return load(__func__, module, image, options, keys);
}
EXPORT int cuModuleUnload(void*) { return take_back(__func__, "module"); }
EXPORT int hipModuleUnload(void*) { return take_back(__func__, "module"); }
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) { return find(__func__, function, name); }
EXPORT int hipModuleGetFunction(void** function, void*, const char* name) { return find(__func__, function, name); }

EXPORT int cuStreamCreate(void** stream, unsigned) { return give_handle(__func__, "stream", stream); }
EXPORT int hipStreamCreateWithFlags(void** stream, unsigned) { return give_handle(__func__, "stream", stream); }
EXPORT int cuStreamDestroy_v2(void*) { return take_back(__func__, "stream"); }
EXPORT int hipStreamDestroy(void*) { return take_back(__func__, "stream"); }
EXPORT int cuStreamSynchronize(void* stream) { return synchronize(__func__, stream); }
EXPORT int hipStreamSynchronize(void* stream) { return synchronize(__func__, stream); }
EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return wait_event(__func__, stream, event, flags);
}
EXPORT int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return wait_event(__func__, stream, event, flags);
}
EXPORT int cuEventCreate(void** event, unsigned) { return give_handle(__func__, "event", event); }
EXPORT int hipEventCreateWithFlags(void** event, unsigned) { return give_handle(__func__, "event", event); }
EXPORT int cuEventDestroy_v2(void*) { return take_back(__func__, "event"); }
EXPORT int hipEventDestroy(void*) { return take_back(__func__, "event"); }
EXPORT int cuEventRecord(void* event, void* stream) { return record_event(__func__, event, stream); }
EXPORT int hipEventRecord(void* event, void* stream) { return record_event(__func__, event, stream); }

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return copy_up(__func__, to, from, bytes, stream);
}
EXPORT int hipMemcpyHtoDAsync(uint64_t to, const void* from, size_t bytes, void* stream) {
  return copy_up(__func__, to, from, bytes, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return copy_down(__func__, to, from, bytes, stream);
}
EXPORT int hipMemcpyDtoHAsync(void* to, uint64_t from, size_t bytes, void* stream) {
  return copy_down(__func__, to, from, bytes, stream);
}
EXPORT int cuMemsetD32Async(uint64_t address, unsigned value, size_t words, void* stream) {
  return fill(__func__, address, value, words, stream);
}
EXPORT int hipMemsetD32Async(uint64_t address, unsigned value, size_t words, void* stream) {
  return fill(__func__, address, value, words, stream);
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z,
                          unsigned shared, void* stream, void** parameters, void** extra) {
  return launch(__func__, function, {gx, gy, gz, x, y, z}, shared, stream, parameters, extra);
}
EXPORT int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y,
                                 unsigned z, unsigned shared, void* stream, void** parameters, void** extra) {
  return launch(__func__, function, {gx, gy, gz, x, y, z}, shared, stream, parameters, extra);
}

EXPORT int hipStreamBeginCapture(void* stream, int mode) { return begin_graph(__func__, stream, mode); }
EXPORT int hipStreamEndCapture(void* stream, void** graph) { return end_graph(__func__, stream, graph); }
EXPORT int hipGraphLaunch(void* executable, void* stream) { return launch_graph(__func__, executable, stream); }
EXPORT int hipGraphExecDestroy(void* executable) { return destroy_executable(__func__, executable); }
EXPORT int hipGraphDestroy(void* graph) { return destroy_graph(__func__, graph); }
#ifndef FAKE_WITHOUT_GRAPHS
EXPORT int cuStreamBeginCapture_v2(void* stream, int mode) { return begin_graph(__func__, stream, mode); }
EXPORT int cuStreamEndCapture(void* stream, void** graph) { return end_graph(__func__, stream, graph); }
EXPORT int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return instantiate(__func__, executable, graph, flags);
}
EXPORT int cuGraphLaunch(void* executable, void* stream) { return launch_graph(__func__, executable, stream); }
EXPORT int cuGraphExecDestroy(void* executable) { return destroy_executable(__func__, executable); }
EXPORT int cuGraphDestroy(void* graph) { return destroy_graph(__func__, graph); }

// HIP has these since ROCm 4.5, and the others since 4.3.
EXPORT int hipGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return instantiate(__func__, executable, graph, flags);
}
EXPORT int hipStreamGetCaptureInfo_v2(void* stream, int* capture_state, unsigned long long*, void** graph,
                                      void* const** nodes, size_t* count) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(__func__);
  return failure != 0 ? failure : capture_info(stream, capture_state, graph, nodes, count);
}
EXPORT int hipStreamUpdateCaptureDependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(__func__);
  return failure != 0 ? failure : set_capture_dependencies(stream, nodes, count, flags);
}
EXPORT int hipGraphAddEventWaitNode(void** node, void* graph, void* const* after, size_t count, void* event) {
  const std::lock_guard lock(mutex);
  const int failure = begin_on_device(__func__ + numbered("event", event));
  return failure != 0 ? failure : add_wait_node(node, graph, after, count, event, complain_of_wait);
}
#endif

EXPORT int cuGetErrorName(int code, const char** name) {
  *name = find_error(code).cuda;
  return *name == nullptr ? kInvalidValue : 0;
}
EXPORT int cuGetErrorString(int code, const char** text) {
  *text = find_error(code).text;
  return 0;
}
EXPORT const char* hipGetErrorName(int code) { return find_error(code).hip; }
EXPORT const char* hipGetErrorString(int code) { return find_error(code).text; }
