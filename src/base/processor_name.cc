// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/processor_name.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace acuity {
namespace {

struct Numbered {
  std::string_view number;
  const char* name;
};

// As Linux numbers them in arch/arm64/include/asm/cputype.h.
constexpr Numbered kMakers[] = {
    {"0x41", "ARM"},       {"0x42", "Broadcom"}, {"0x43", "Cavium"},    {"0x46", "Fujitsu"},
    {"0x48", "HiSilicon"}, {"0x4e", "NVIDIA"},   {"0x50", "APM"},       {"0x51", "Qualcomm"},
    {"0x53", "Samsung"},   {"0x61", "Apple"},    {"0x6d", "Microsoft"}, {"0xc0", "Ampere"},
};
constexpr Numbered kParts[] = {
    {"0xd02", "Cortex-A34"},   {"0xd03", "Cortex-A53"},  {"0xd04", "Cortex-A35"},  {"0xd05", "Cortex-A55"},
    {"0xd06", "Cortex-A65"},   {"0xd07", "Cortex-A57"},  {"0xd08", "Cortex-A72"},  {"0xd09", "Cortex-A73"},
    {"0xd0a", "Cortex-A75"},   {"0xd0b", "Cortex-A76"},  {"0xd0c", "Neoverse-N1"}, {"0xd0d", "Cortex-A77"},
    {"0xd0e", "Cortex-A76AE"}, {"0xd40", "Neoverse-V1"}, {"0xd41", "Cortex-A78"},  {"0xd42", "Cortex-A78AE"},
    {"0xd44", "Cortex-X1"},    {"0xd46", "Cortex-A510"}, {"0xd47", "Cortex-A710"}, {"0xd48", "Cortex-X2"},
    {"0xd49", "Neoverse-N2"},  {"0xd4a", "Neoverse-E1"}, {"0xd4b", "Cortex-A78C"}, {"0xd4d", "Cortex-A715"},
    {"0xd4e", "Cortex-X3"},    {"0xd4f", "Neoverse-V2"}, {"0xd80", "Cortex-A520"}, {"0xd81", "Cortex-A720"},
    {"0xd82", "Cortex-X4"},    {"0xd84", "Neoverse-V3"}, {"0xd85", "Cortex-X925"}, {"0xd87", "Cortex-A725"},
    {"0xd8e", "Neoverse-N3"},
};

template <size_t count>
const char* name_of(std::string_view number, const Numbered (&list)[count]) {
  const auto* found = std::ranges::find(list, number, &Numbered::number);
  return found != std::end(list) ? found->name : nullptr;
}

std::string core_name(const std::string& maker, const std::string& part) {
  const char* maker_name = name_of(maker, kMakers);
  const char* part_name = maker == "0x41" ? name_of(part, kParts) : nullptr;
  return fmt::format("{} {}", maker_name != nullptr ? maker_name : "implementer " + maker,
                     part_name != nullptr ? part_name : "part " + part);
}

}  // namespace

std::string processor_name(std::istream& cpuinfo) {
  std::string line, maker;
  std::vector<std::string> cores;
  while (std::getline(cpuinfo, line)) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) maker = value;
    if (!line.starts_with("CPU part")) continue;
    const std::string core = core_name(maker, value);
    if (std::ranges::find(cores, core) == cores.end()) cores.push_back(core);
  }
  return cores.empty() ? "processor of unknown name" : fmt::format("{}", fmt::join(cores, ", "));
}

}  // namespace acuity
