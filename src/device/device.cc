// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/device.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "device/backends.h"
#include "device/checked_device.h"
#include "device/one_card.h"
#include "device/open_devices.h"
#include "device/probe.h"

namespace acuity {

extern const KernelFile probe_kernels;

namespace {

struct BackendEntry {
  Backend backend;
  const char* name;
  DeviceList (*list)();
  Result<std::shared_ptr<Device>> (*open)(int index);
};

constexpr BackendEntry kBackends[] = {
    {Backend::cuda, "cuda", list_cuda_devices, open_cuda_device},
    {Backend::hip, "hip", list_hip_devices, open_hip_device},
    {Backend::vulkan, "vulkan", list_vulkan_devices, open_vulkan_device},
};

struct Choice {
  const BackendEntry* backend;
  int index;
};

Result<Choice> parse(std::string_view id) {
  const size_t colon = id.find(':');
  for (const BackendEntry& entry : kBackends) {
    if (id.substr(0, colon) != entry.name) continue;
    if (colon == std::string_view::npos) return Choice{&entry, 0};
    const std::string_view number = id.substr(colon + 1);
    int index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || end != number.data() + number.size() || index < 0) break;
    return Choice{&entry, index};
  }
  return Status(
      StatusCode::unknown_device,
      fmt::format("unknown device '{}': expected auto, cpu, cuda, hip or vulkan; GPUs may have a number, as in cuda:1",
                  id));
}

// Opening takes a good part of a second; who comes while the device is open shares it.
struct OpenedDevices {
  std::mutex mutex;
  std::map<std::pair<Backend, int>, std::weak_ptr<Device>> devices;
};
OpenedDevices& opened_devices() {
  static OpenedDevices opened;
  return opened;
}

}  // namespace

const char* backend_name(Backend backend) { return kBackends[static_cast<size_t>(backend)].name; }

std::optional<Backend> backend_of(std::string_view id) {
  const Result<Choice> choice = parse(id);
  if (!choice.ok()) return std::nullopt;
  return choice->backend->backend;
}

bool has_code(Backend backend) {
  return std::any_of(probe_kernels.codes.begin(), probe_kernels.codes.end(),
                     [backend](const KernelCode& code) { return code.backend == backend; });
}

std::string uuid_text(std::span<const unsigned char, 16> bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

bool show_one_card(const DeviceInfo& a, const DeviceInfo& b) {
  return (a.backend != b.backend || a.backend == Backend::vulkan) && a.is_same_card(b);
}

void mark_same_cards(std::vector<DeviceInfo>& devices) {
  for (auto info = devices.begin(); info != devices.end(); ++info) {
    const auto same =
        std::find_if(devices.begin(), info, [&info](const DeviceInfo& other) { return show_one_card(*info, other); });
    if (same != info) info->same_as = same->same_as.empty() ? same->id : same->same_as;
  }
}

DeviceList list_devices() {
  DeviceList all;
  for (const BackendEntry& entry : kBackends) {
    DeviceList list = entry.list();
    all.devices.insert(all.devices.end(), list.devices.begin(), list.devices.end());
    all.troubles.insert(all.troubles.end(), list.troubles.begin(), list.troubles.end());
  }
  mark_same_cards(all.devices);
  return all;
}

std::shared_ptr<Device> device_if_open(std::string_view id) {
  const Result<Choice> choice = parse(id);
  if (!choice.ok()) return nullptr;
  OpenedDevices& opened = opened_devices();
  const std::lock_guard lock(opened.mutex);
  const auto found = opened.devices.find({choice->backend->backend, choice->index});
  return found == opened.devices.end() ? nullptr : found->second.lock();
}

bool is_device_open(std::string_view id) { return device_if_open(id) != nullptr; }

Result<std::shared_ptr<Device>> open_device(std::string_view id) {
  const Result<Choice> choice = parse(id);
  if (!choice.ok()) return choice.status();
  // A lost device answers nothing, even this, and is opened anew. It is asked without the lock: if it hangs, others are
  // opened nevertheless.
  const std::shared_ptr<Device> asked = device_if_open(id);
  if (asked && asked->free_bytes().ok()) return asked;
  OpenedDevices& opened = opened_devices();
  const std::lock_guard lock(opened.mutex);
  std::weak_ptr<Device>& known = opened.devices[{choice->backend->backend, choice->index}];
  if (std::shared_ptr<Device> device = known.lock(); device && device != asked) return device;  // opened meanwhile
  const auto begin = std::chrono::steady_clock::now();
  Result<std::shared_ptr<Device>> device = choice->backend->open(choice->index);
  if (device.status().code() == StatusCode::unknown_device) {
    return Status(StatusCode::unknown_device,
                  fmt::format("{}; 'acuity devices' lists those that can be used", device.status().message()));
  }
  if (!device.ok()) return device.status();
  const auto open = std::chrono::steady_clock::now();
  const Result<ProbeReport> report = probe_device(**device);
  if (!report.ok()) return report.status();
  DeviceInfo info = (*device)->info();
  info.open_ms = std::chrono::duration<double, std::milli>(open - begin).count();
  const bool vulkan = choice->backend->backend == Backend::vulkan;
  if (vulkan ? !report->acceptable() : !report->mistakes.empty()) {
    return Status(StatusCode::device, fmt::format("{} ({}, {}) computes wrongly and is not used: {}", info.id,
                                                  info.name, info.driver, report->first_mistake()));
  }
  if (!report->mistakes.empty()) {
    info.note = fmt::format("the driver treats numbers below 2^-126 as zero: {}", report->first_mistake());
  }
  // CUDA and HIP define their instructions exactly.
  if (vulkan) {
    const NeedsReport needs = probe_needs_of(**device);
    info.lacks |= needs.wrong;
    if (!needs.note.empty()) info.note += (info.note.empty() ? "" : "; ") + needs.note;
  }
  info.probe_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - open).count();
  std::shared_ptr<Device> checked = check_calls(std::move(*device), std::move(info));
  known = checked;
  return checked;
}

}  // namespace acuity
