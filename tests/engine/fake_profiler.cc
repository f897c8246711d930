// SPDX-License-Identifier: BSD-2-Clause-Patent
// A profiler that counts ranges, entered as Nsight's are and as libnvToolsExt was.
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "engine/fake_profiler.h"

namespace {

FakeProfiler counts;
std::mutex mutex;
thread_local int depth = 0;

int push(const char* name) {
  const std::lock_guard lock(mutex);
  ++counts.pushes[name];
  return depth++;
}

int pop() {
  const std::lock_guard lock(mutex);
  ++counts.pops;
  if (depth == 0) ++counts.pops_too_many;
  return --depth;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED FakeProfiler* fake_profiler() { return &counts; }

EXPORTED int nvtxRangePushA(const char* name) { return push(name); }
EXPORTED int nvtxRangePop() { return pop(); }

EXPORTED int InitializeInjectionNvtx2(const void* (*get)(uint32_t)) {
  using Any = void (*)();
  struct Callbacks {
    size_t size;
    int (*module)(int, Any***, unsigned*);
  };
  const auto* callbacks = static_cast<const Callbacks*>(get(1));
  if (callbacks == nullptr || callbacks->size < sizeof(Callbacks) || get(3) == nullptr || get(2) != nullptr) return 0;
  Any** table = nullptr;
  unsigned size = 0;
  // Profilers fill in all that they know of.
  for (int module = 1; module <= 6; ++module) {
    if (callbacks->module(module, &table, &size) == 0) return 0;
    for (unsigned i = 1; i < size; ++i) *table[i] = nullptr;
  }
  if (callbacks->module(7, &table, &size) != 0) return 0;
  if (callbacks->module(1, &table, &size) == 0 || size != 16) return 0;
  *table[9] = reinterpret_cast<Any>(push);
  *table[11] = reinterpret_cast<Any>(pop);
  return 1;
}
