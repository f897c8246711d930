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

// Every processor has it. Highway is not asked: it would warn of one that lacks the AES instructions.
int64_t processor() { return HWY_STATIC_TARGET; }
int64_t allowed_targets() { return HWY_STATIC_TARGET; }
void allow(int64_t) {}
#else
constexpr std::array<Target, 3> kTargets{{
    {"avx512", "AVX-512", HWY_AVX3},
    {"avx2", "AVX2", HWY_AVX2},
    {"sse4", "SSE4", HWY_SSE4},
}};

// What this processor understands, asked once, before any limit is set.
int64_t processor() {
  static const int64_t targets = [] {
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedTargets();
  }();
  return targets;
}
int64_t allowed_targets() { return hwy::SupportedTargets(); }
// 0: all.
void allow(int64_t targets) { hwy::SetSupportedTargetsForTest(targets); }
#endif

// Compiled in, and in `supported`.
bool usable(const Target& target, int64_t supported) { return (target.bit & HWY_TARGETS & supported) != 0; }

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
    allow(0);
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
  allow(allowed);
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
    if (usable(target, allowed_targets())) return target.title;
  }
  return "none";
}

}  // namespace acuity
