// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integers, doubles, buffers and exact sums of the kernel dialect, against plain C++.
//
//   dialect_test cpu       one value at a time, and the vectors of every target
//   dialect_test DEVICE    kernels on a device: vulkan, cuda, hip:1 ...; with --all it must have everything they need
#include "dialect/check.h"

#include <cstdio>

#include <fmt/format.h>

#include "device/vulkan/validation.h"
#include "lang/targets.h"

namespace acuity::tests {

void Tally::fail(const std::string& message) {
  ++failures_;
  fmt::print("FAILED {}\n", message);
}

void Tally::compare(const std::string& where, const Operation& operation, std::span<const uint64_t> pairs, int bits,
                    const uint64_t* answers) {
  ++comparisons_;
  size_t asked = 0;
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    const Question question{pairs[2 * i], pairs[2 * i + 1], bits};
    if (!operation.defined(question)) continue;
    ++asked;
    const uint64_t expected = operation.expected(question);
    if (answers[i] == expected) continue;
    return fail(fmt::format("{} on {}: of {:#x}, {:#x} and {} it is {:#x}, not {:#x}", operation.name, where,
                            question.a, question.b, bits, expected, answers[i]));
  }
  if (asked < 100) fail(fmt::format("{} on {}: only {} questions have an answer", operation.name, where, asked));
}

int test(const std::string& device, bool all) {
  Tally tally;
  if (device == "cpu") {
    check_host(tally);
    check_vectors(tally);
  } else {
    const Result<std::shared_ptr<Device>> opened = open_device(device);
    if (opened.ok()) {
      const DeviceInfo& info = opened->get()->info();
      fmt::print("{}: {}, {}{}\n", info.id, info.name, info.driver, info.note.empty() ? "" : "; " + info.note);
      if (all) tally.compare("what the device lacks", info.lacks, 0u);
      check_device(*opened, tally);
      tally.expect_ok("calls of Vulkan", vulkan_validation());
    } else {
      tally.expect_ok(device, opened.status());
    }
  }
  fmt::print("{} passed, {} failed\n", tally.comparisons() - tally.failures(), tally.failures());
  return tally.failures() == 0 ? 0 : 1;
}

}  // namespace acuity::tests

int main(int count, char** words) {
  const bool all = count == 3 && std::string_view(words[2]) == "--all";
  if (count == 2 || all) return acuity::tests::test(words[1], all);
  std::fprintf(stderr, "usage: dialect_test cpu | DEVICE [--all]\n");
  return 2;
}
