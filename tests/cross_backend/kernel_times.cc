// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long each kernel of a metric takes when it has the device to itself, so that two backends of one card can be
// compared kernel by kernel.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "cross_backend/bench.h"
#include "device/device.h"
#include "device/pool.h"
#include "engine/metric.h"
#include "engine/requests.h"

namespace acuity::tests {
namespace {

struct KernelTime {
  int launches = 0;
  int groups = 0;      // of the largest launch
  double most_us = 0;  // of one launch
  double all_us = 0;
};

// By name, and by groups: launches of the same size take the same time, and only the first few are timed.
class KernelTimes {
 public:
  void add(const KernelInfo& kernel, int groups, double us) {
    KernelTime& time = times_[kernel.name];
    ++time.launches;
    time.groups = std::max(time.groups, groups);
    time.most_us = std::max(time.most_us, us);
    time.all_us += us;
  }
  struct Known {
    int count = 0;
    double us = 0;
  };
  Known& known(const KernelInfo& kernel, int groups_x, int groups_y) {
    return known_[{kernel.name, groups_x, groups_y}];
  }
  void forget() { times_.clear(); }
  void print(const std::string& what) const {
    std::vector<std::pair<std::string, KernelTime>> sorted(times_.begin(), times_.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.all_us > b.second.all_us; });
    for (const auto& [name, time] : sorted) {
      fmt::print("{:<10} {:<28} {:>9} {:>9} {:>11.1f} {:>11.1f}\n", what, name, time.launches, time.groups,
                 time.most_us, time.all_us);
    }
  }

 private:
  std::map<std::string, KernelTime> times_;
  std::map<std::tuple<std::string, int, int>, Known> known_;
};

// What it launches is done again and again, alone, and then counts as done: the numbers it makes are of no use.
class TimingQueue final : public Queue {
 public:
  TimingQueue(std::unique_ptr<Queue> queue, KernelTimes& times) : queue_(std::move(queue)), times_(times) {}
  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override {
    return queue_->upload(to, offset, from, from_offset, bytes);
  }
  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override {
    return queue_->download(to, to_offset, from, offset, bytes);
  }
  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override {
    return queue_->clear(memory, offset, bytes);
  }
  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override {
    constexpr int kTimed = 3, kFewer = 4, kMore = 12;
    KernelTimes::Known& known = times_.known(kernel, groups_x, groups_y);
    if (known.count < kTimed) {
      double fewer = 0, more = 0;
      ACUITY_TRY(repeat(kFewer, kernel, groups_x, groups_y, arguments, fewer));  // the first may compile
      ACUITY_TRY(repeat(kFewer, kernel, groups_x, groups_y, arguments, fewer));
      ACUITY_TRY(repeat(kMore, kernel, groups_x, groups_y, arguments, more));
      const double us = std::max(more - fewer, 0.0) / (kMore - kFewer);
      known.us = known.count == 0 ? us : std::min(known.us, us);
      ++known.count;
    } else {
      ACUITY_TRY(queue_->launch(kernel, groups_x, groups_y, arguments));
    }
    times_.add(kernel, groups_x * groups_y, known.us);
    return {};
  }
  Status signal(Event& event) override { return queue_->signal(event); }
  Status wait_for(const Event& event) override { return queue_->wait_for(event); }
  Status wait_for_outside(const Event& event) override { return queue_->wait_for_outside(event); }
  Status wait() override { return queue_->wait(); }
  Status flush() override { return queue_->flush(); }

 private:
  Status repeat(int count, const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments,
                double& us) {
    ACUITY_TRY(queue_->wait());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) ACUITY_TRY(queue_->launch(kernel, groups_x, groups_y, arguments));
    ACUITY_TRY(queue_->wait());
    us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    return {};
  }

  std::unique_ptr<Queue> queue_;
  KernelTimes& times_;
};

class TimingDevice final : public Device {
 public:
  explicit TimingDevice(std::shared_ptr<Device> device) : device_(std::move(device)) { info_ = device_->info(); }
  KernelTimes& times() { return times_; }

  Result<int64_t> free_bytes() const override { return device_->free_bytes(); }
  Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) override { return device_->allocate(bytes); }
  Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) override {
    return device_->allocate_pinned(bytes);
  }
  Result<std::unique_ptr<Queue>> create_queue() override {
    Result<std::unique_ptr<Queue>> queue = device_->create_queue();
    if (!queue.ok()) return queue;
    return std::unique_ptr<Queue>(new TimingQueue(std::move(*queue), times_));
  }
  Result<std::unique_ptr<Event>> create_event() override { return device_->create_event(); }
  Status prepare(const KernelInfo& kernel) override { return device_->prepare(kernel); }
  Result<std::unique_ptr<Recording>> record(Queue&, const std::function<Status()>&) override {
    return std::unique_ptr<Recording>();
  }

 private:
  std::shared_ptr<Device> device_;
  KernelTimes times_;
};

Status time_kernels(const std::string& id, const std::string& name, int side) {
  std::shared_ptr<Device> device;
  ACUITY_TRY_ASSIGN(device, open_device(id));
  std::vector<RequestedMetric> requested;
  ACUITY_TRY_ASSIGN(requested, find_requested_metrics({.metrics = {name}, .device = id}, side, side));
  const auto timing = std::make_shared<TimingDevice>(device);
  const Threads threads(1);
  TaskThreads tasks;
  std::unique_ptr<Metric> metric;
  ACUITY_TRY_ASSIGN(metric, requested[0].entry->create({.width = side,
                                                        .height = side,
                                                        .options = requested[0].options,
                                                        .threads = &threads,
                                                        .tasks = &tasks,
                                                        .pool = std::make_shared<DevicePool>(timing)}));
  std::vector<unsigned char> samples(static_cast<size_t>(side) * static_cast<size_t>(side) * 6);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  const std::byte* bytes = reinterpret_cast<const std::byte*>(samples.data());
  const Input reference(interleaved_view(bytes, side, side, Channels::rgb, SampleType::u8));
  const Input distorted(interleaved_view(bytes + samples.size() / 2, side, side, Channels::rgb, SampleType::u8));
  fmt::print("{} at {} on {} ({}): each kernel alone on the device\n", name, side, device->info().id,
             device->info().name);
  fmt::print("{:<10} {:<28} {:>9} {:>9} {:>11} {:>11}\n", "", "kernel", "launches", "groups", "us, most", "us, all");
  // What was made of the numbers may look like pictures that cannot be scored.
  const auto done = [](const Status& status) { return status.code() == StatusCode::input ? Status() : status; };
  ACUITY_TRY(done(metric->score(reference, distorted).status()));
  timing->times().print("pair");
  timing->times().forget();
  std::shared_ptr<const PreparedReference> prepared;
  ACUITY_TRY_ASSIGN(prepared, metric->prepare(reference));
  timing->times().print("prepare");
  timing->times().forget();
  ACUITY_TRY(done(metric->score(*prepared, distorted).status()));
  timing->times().print("prepared");
  return {};
}

}  // namespace

int kernel_times(const std::string& id, const std::string& metric, int side) {
  const Status status = time_kernels(id, metric, side);
  if (!status.ok()) fmt::print("{}\n", status.message());
  return status.ok() ? 0 : 1;
}

}  // namespace acuity::tests
