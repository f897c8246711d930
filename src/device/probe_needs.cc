// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "device/probe.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile probe_needs_kernels;
namespace probe_needs {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &probe_needs_kernels;
#include "device/probe_needs_kernels.h"
}  // namespace probe_needs

namespace {

constexpr size_t kPairs = 128;

template <typename T>
struct Pair {
  T a, b;
};

/// As good as random, and the same each time.
class Numbers {
 public:
  uint64_t next() {
    uint64_t number = 0;
    for (int half = 0; half < 2; ++half) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      number = number << 32 | state_ >> 32;
    }
    return number;
  }

 private:
  uint64_t state_ = 1;
};

std::vector<Pair<int64_t>> integer_pairs() {
  std::vector<Pair<int64_t>> pairs = {{-1, 63}, {0x80000000, 0x7FFFFFFF}, {0x1000001, 1}, {0x7FFFFFC000000000, -1}};
  Numbers numbers;
  while (pairs.size() < kPairs) {
    const auto a = static_cast<int64_t>(numbers.next()), b = static_cast<int64_t>(numbers.next());
    pairs.push_back({a >> (pairs.size() % 48), b});
  }
  return pairs;
}

std::vector<Pair<double>> double_pairs() {
  std::vector<Pair<double>> pairs = {
      {1, 3}, {0x1.0000000000001p0, 0x1.fffffffffffffp-1}, {0x1.000001p0, 10}, {-2.5, 7}};
  Numbers numbers;
  const auto next = [&numbers] {
    const uint64_t number = numbers.next(), exponent = 1023 - 16 + (number >> 52 & 31);
    return std::bit_cast<double>((number & 0x800FFFFFFFFFFFFF) | exponent << 52);
  };
  while (pairs.size() < kPairs) pairs.push_back({next(), next()});
  return pairs;
}

constexpr size_t kIntegerAnswers = 6, kDoubleAnswers = 5;

std::array<int64_t, kIntegerAnswers> expected(const Pair<int64_t>& pair) {
  const auto [a, b] = pair;
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return {static_cast<int64_t>(x + y),
          static_cast<int64_t>(x * y),
          a >> (y & 63),
          std::min(a, b),
          int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b),
          std::bit_cast<int32_t>(static_cast<float>(a))};
}

std::array<double, kDoubleAnswers> expected(const Pair<double>& pair) {
  const auto [a, b] = pair;
  const double product = a * b;
  return {product + a, a / b, std::sqrt(std::abs(a)), static_cast<double>(static_cast<float>(a)),
          std::trunc(std::abs(a))};
}

/// The first answer that is wrong, in words; empty without one.
template <typename T, typename Kernel>
Result<std::string> first_mistake(Device& device, const Kernel& kernel, const std::vector<Pair<T>>& pairs) {
  constexpr size_t kAnswers = std::tuple_size_v<decltype(expected(Pair<T>()))>;
  constexpr size_t kQuestionBytes = kPairs * sizeof(Pair<T>), kBytes = kQuestionBytes + kPairs * kAnswers * sizeof(T);
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<PinnedMemory> pinned;
  std::unique_ptr<Queue> queue;
  ACUITY_TRY_ASSIGN(memory, device.allocate(kBytes));
  ACUITY_TRY_ASSIGN(pinned, device.allocate_pinned(kBytes));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());
  std::memcpy(pinned->data(), pairs.data(), kQuestionBytes);
  std::memset(pinned->data() + kQuestionBytes, 0xFF, kBytes - kQuestionBytes);
  ACUITY_TRY(queue->upload(*memory, 0, *pinned, 0, kBytes));
  ACUITY_TRY(queue->run(kernel, kPairs / 64, 1, DeviceArray<const T>{memory->address()},
                        DeviceArray<T>{memory->address() + kQuestionBytes}, static_cast<int>(kPairs)));
  ACUITY_TRY(queue->download(*pinned, 0, *memory, 0, kBytes));
  ACUITY_TRY(queue->wait());
  for (size_t i = 0; i < kPairs; ++i) {
    std::array<T, kAnswers> answers;
    std::memcpy(answers.data(), pinned->data() + kQuestionBytes + i * sizeof(answers), sizeof(answers));
    const std::array<T, kAnswers> right = expected(pairs[i]);
    for (size_t k = 0; k < kAnswers; ++k) {
      if (std::memcmp(&answers[k], &right[k], sizeof(T)) == 0) continue;
      return fmt::format("answer {} of kernel {} for {} and {} is {}, expected {}", k, kernel.name, pairs[i].a,
                         pairs[i].b, answers[k], right[k]);
    }
  }
  return std::string();
}

}  // namespace

NeedsReport probe_needs_of(Device& device) {
  NeedsReport report;
  const auto judge = [&report](Need need, const char* name, const Result<std::string>& mistake) {
    if (mistake.ok() && mistake->empty()) return;
    report.wrong |= need;
    report.note += fmt::format("{}{} of this device are not used: {}", report.note.empty() ? "" : "; ", name,
                               mistake.ok() ? *mistake : mistake.status().message());
  };
  const uint32_t lacks = device.info().lacks;
  if ((lacks & needs_int64) == 0) {
    judge(needs_int64, "64-bit integers", first_mistake(device, probe_needs::probe_int64, integer_pairs()));
  }
  if ((lacks & needs_double) == 0) {
    judge(needs_double, "doubles", first_mistake(device, probe_needs::probe_double, double_pairs()));
  }
  return report;
}

}  // namespace acuity
