// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/load_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/task_threads.h"
#include "base/threads.h"

namespace acuity {
namespace {

// The first kernel of each file, then the second of each, and so on: where a file is loaded as a whole, threads that
// want kernels of the same one would wait for each other.
std::vector<size_t> order_of(std::span<const KernelInfo> kernels) {
  std::map<const KernelFile*, int> seen;
  std::vector<std::pair<int, size_t>> turns;
  for (const KernelInfo& kernel : kernels) turns.emplace_back(seen[kernel.file]++, turns.size());
  std::sort(turns.begin(), turns.end());
  std::vector<size_t> order;
  for (const auto& [turn, i] : turns) order.push_back(i);
  return order;
}

}  // namespace

Status load_kernels(Device& device, std::span<const KernelInfo> kernels) {
  const std::vector<size_t> order = order_of(kernels);
  std::vector<Status> outcomes(kernels.size());
  std::atomic<size_t> next = 0;
  const auto load = [&] {
    for (size_t turn = next++; turn < order.size(); turn = next++) {
      const size_t i = order[turn];
      outcomes[i] = guarded<Status>([&] { return device.prepare(kernels[i]); }, "loading kernels");
    }
  };
  {
    TaskThreads others;  // its end waits for them
    const size_t threads = std::min(kernels.size(), static_cast<size_t>(Threads(0).count()));
    for (size_t i = 1; i < threads; ++i) others.run(load);
    load();
  }
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(), [](const Status& one) { return !one.ok(); });
  return failed == outcomes.end() ? Status() : *failed;
}

}  // namespace acuity
