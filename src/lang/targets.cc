// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "lang/targets.h"

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace acuity {
namespace {

struct Target {
  const char* name;   // as ACUITY_CPU takes it
  const char* title;  // as results show it
  int64_t bit;
};

// Fastest first.
#if HWY_ARCH_ARM_A64
constexpr std::array<Target, 1> kTargets{{{"neon", "NEON", HWY_STATIC_TARGET}}};
constexpr int64_t kNeverMissing = HWY_STATIC_TARGET;  // whatever Highway finds: it also asks for AES instructions
#else
constexpr std::array<Target, 3> kTargets{{
    {"avx512", "AVX-512", HWY_AVX3},
    {"avx2", "AVX2", HWY_AVX2},
    {"sse4", "SSE4", HWY_SSE4},
}};
constexpr int64_t kNeverMissing = 0;
#endif

// What this processor understands, asked once, before any limit is set.
int64_t processor() {
  static const int64_t targets = [] {
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedTargets();
  }();
  return targets;
}

// Compiled in, and in `supported`.
bool usable(const Target& target, int64_t supported) {
  return (target.bit & HWY_TARGETS & (supported | kNeverMissing)) != 0;
}

}  // namespace

std::vector<std::string> cpu_targets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if (usable(target, processor())) names.emplace_back(target.name);
  }
  return names;
}

Status limit_cpu(const std::string& name) {
  const int64_t supported = processor();
  if (name.empty()) {
    hwy::SetSupportedTargetsForTest(0);
    return {};
  }
  int64_t allowed = 0;
  bool found = false;
  for (const Target& target : kTargets) {
    found = found || name == target.name;
    if (found && usable(target, supported)) allowed |= target.bit;
  }
  if (allowed == 0) {
    std::string offered;
    for (const std::string& usable_name : cpu_targets()) offered += " " + usable_name;
    return Status(StatusCode::usage, fmt::format("invalid value '{}' of ACUITY_CPU: expected one of{}", name, offered));
  }
  hwy::SetSupportedTargetsForTest(allowed);
  return {};
}

Status prepare_cpu() {
  static const Status prepared = [] {
    if (cpu_targets().empty()) {
      return Status(StatusCode::device,
                    "this processor lacks the lowest instruction set this build needs (SSE4.1 on x86)");
    }
    const char* limit = std::getenv("ACUITY_CPU");
    return limit_cpu(limit != nullptr ? limit : "");
  }();
  return prepared;
}

std::string cpu_target() {
  for (const Target& target : kTargets) {
    if (usable(target, hwy::SupportedTargets())) return target.title;
  }
  return "none";
}

}  // namespace acuity
