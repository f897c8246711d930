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
#include "cli/text.h"
#include "device/device.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

std::string gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

std::string processor_memory() {
  return gibibytes(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

void print_gpus(Console& console) {
  const DeviceList list = list_devices();
  for (const DeviceInfo& device : list.devices) {
    console.print(
        fmt::format("{}  {}\n"
                    "  memory           {}\n"
                    "  driver           {}\n",
                    console.bold(device.id), printable(device.name),
                    gibibytes(static_cast<double>(device.memory_bytes)), printable(device.driver)));
    const std::string address = device.pci_address.empty() ? "" : ", PCI " + device.pci_address;
    if (!device.uuid.empty() && !device.is_software)
      console.print(fmt::format("  card             {}{}\n", device.uuid, address));
    std::vector<std::string> missing;
    for (const MetricInfo& metric : metrics()) {
      if (!has_gpu_version(metric) || (gpu_needs(metric) & device.lacks) != 0) missing.push_back(metric.name);
    }
    console.print(fmt::format("  metrics          {}\n",
                              missing.empty() ? "all" : fmt::format("all but {}", fmt::join(missing, ", "))));
    if (device.lacks != 0) {
      console.print(fmt::format("  lacks            {}; metrics that need them are refused by name\n",
                                needs_in_words(device.lacks)));
    }
    if (!device.same_as.empty()) console.print(fmt::format("  same card as     {}\n", device.same_as));
  }
  if (list.troubles.empty()) return;
  console.print(console.bold("not usable") + "\n");
  for (const BackendTrouble& trouble : list.troubles) console.print(fmt::format("  {}\n", printable(trouble.reason)));
}

}  // namespace

int run_devices(const Request&, Console& console) {
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
  print_gpus(console);
  return kExitOk;
}

}  // namespace acuity::cli
