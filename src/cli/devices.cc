// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "acuity/scorer.h"
#include "base/processor_name.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/gpu_metrics.h"
#include "cli/request.h"
#include "cli/text.h"
#include "device/device.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

std::string gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

std::string processor_memory() {
  return gibibytes(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

struct MetricOnGpus {
  std::string name;
  bool has_version;
  std::vector<KernelInfo> kernels;
};

std::vector<MetricOnGpus> metrics_on_gpus() {
  std::vector<MetricOnGpus> all;
  for (const MetricInfo& metric : metrics()) {
    all.push_back({metric.name, has_gpu_version(metric), gpu_kernels(metric)});
  }
  return all;
}

// Why the device cannot compute the metric; empty if it can.
std::string obstacle(const DeviceInfo& device, const MetricOnGpus& metric) {
  if (!metric.has_version) return "it has no GPU version";
  for (const KernelInfo& kernel : metric.kernels) {
    const std::string missing = missing_needs(device, kernel);
    if (!missing.empty()) return "it needs " + missing;
  }
  return "";
}

void print_gpu(const DeviceInfo& device, Console& console) {
  console.print(
      fmt::format("{}  {}\n"
                  "  memory           {}\n"
                  "  driver           {}\n",
                  console.bold(device.id), printable(device.name), gibibytes(static_cast<double>(device.memory_bytes)),
                  printable(device.driver)));
  const std::string address = device.pci_address.empty() ? "" : ", PCI " + device.pci_address;
  if (!device.uuid.empty() && !device.is_software)
    console.print(fmt::format("  card             {}{}\n", device.uuid, address));
  if (!device.same_as.empty()) console.print(fmt::format("  same card as     {}\n", device.same_as));
}

void print_limits(const DeviceInfo& device, Console& console) {
  const auto has = [&device](Need need) { return (device.lacks & need) == 0 ? "yes" : "no"; };
  const char* unified = !device.has_unified_memory ? "not known" : *device.has_unified_memory ? "yes" : "no";
  console.print(
      fmt::format("  groups           at most {} threads, {} x {}\n"
                  "  shared memory    {} bytes per group\n"
                  "  sub-groups       {}\n"
                  "  64-bit integers  {}\n"
                  "  doubles          {}\n"
                  "  16-bit memory    {}\n"
                  "  8-bit memory     {}\n"
                  "  unified memory   {}\n",
                  device.group_threads, device.group_width, device.group_height, device.shared_bytes,
                  device.subgroup_threads > 0 ? fmt::format("{} threads", device.subgroup_threads) : "not known",
                  has(needs_int64), has(needs_double), has(needs_storage16), has(needs_storage8), unified));
  if (!device.note.empty()) console.print(fmt::format("  note             {}\n", printable(device.note)));
}

void print_metrics(const DeviceInfo& device, const std::vector<MetricOnGpus>& metrics, bool with_reasons,
                   Console& console) {
  std::vector<std::string> missing;
  std::string reasons;
  for (const MetricOnGpus& metric : metrics) {
    const std::string why = obstacle(device, metric);
    if (why.empty()) continue;
    missing.push_back(metric.name);
    reasons += fmt::format("  refused          {}: {}\n", metric.name, why);
  }
  console.print(fmt::format("  metrics          {}\n",
                            missing.empty() ? "all" : fmt::format("all but {}", fmt::join(missing, ", "))));
  if (with_reasons) return console.print(reasons);
  if (device.lacks != 0) {
    console.print(fmt::format("  lacks            {}; metrics that need them are refused by name\n",
                              needs_in_words(device.lacks)));
  }
}

// Some of what a device lacks shows only when it is opened.
void print_opened(const DeviceInfo& listed, const std::vector<MetricOnGpus>& metrics, Console& console) {
  const Result<std::shared_ptr<Device>> device = open_device(listed.id);
  if (device.ok()) {
    print_limits((*device)->info(), console);
    return print_metrics((*device)->info(), metrics, true, console);
  }
  print_limits(listed, console);
  console.print(fmt::format("  metrics          none: {}\n", printable(device.status().message())));
}

void print_gpus(bool verbose, Console& console) {
  const DeviceList list = list_devices();
  const std::vector<MetricOnGpus> metrics = list.devices.empty() ? std::vector<MetricOnGpus>() : metrics_on_gpus();
  for (const DeviceInfo& device : list.devices) {
    print_gpu(device, console);
    verbose ? print_opened(device, metrics, console) : print_metrics(device, metrics, false, console);
  }
  if (list.troubles.empty()) return;
  console.print(console.bold("not usable") + "\n");
  for (const BackendTrouble& trouble : list.troubles) console.print(fmt::format("  {}\n", printable(trouble.reason)));
}

}  // namespace

int run_devices(const Request& request, Console& console) {
  const std::vector<std::string> targets = cpu_targets();
  if (const Status cpu = prepare_cpu(); !cpu.ok()) {
    console.complain(cpu.message());
    return exit_code(cpu.code());
  }
  std::ifstream cpuinfo("/proc/cpuinfo");
  console.print(
      fmt::format("{}  {}\n"
                  "  instruction set  {} in use; ACUITY_CPU accepts {}\n"
                  "  cores            {}\n"
                  "  memory           {}\n",
                  console.bold("cpu"), printable(processor_name(cpuinfo)), cpu_target(), fmt::join(targets, ", "),
                  Threads(0).count(), processor_memory()));
  print_gpus(request.has("--verbose"), console);
  return kExitOk;
}

}  // namespace acuity::cli
