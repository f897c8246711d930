// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels on a device, and the functions they are made of on the host.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "device/checked_device.h"
#include "dialect/check.h"
#include "lang/host.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile dialect_kernels;

namespace tests {
namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &dialect_kernels;
#include "dialect/kernels.h"
}  // namespace kernels

namespace {

constexpr size_t kPairs = 1 << 15;
constexpr int kGroups = kPairs / 64, kCount = kPairs;

/// Arrays in device memory and back: what a kernel reads and what it writes.
class Arrays {
 public:
  explicit Arrays(Device& device) : device_(device) {}

  /// The place of an array in the memory that `run` allocates.
  template <typename T>
  size_t add(const std::vector<T>& values) {
    const size_t place = bytes_.size();
    const auto* from = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), from, from + values.size() * sizeof(T));
    bytes_.resize(round_up(bytes_.size(), 16));
    return place;
  }
  template <typename T>
  std::vector<T> get(size_t place, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + place, count * sizeof(T));
    return values;
  }

  /// launch(queue, address of the memory)
  template <typename Launch>
  Status run(const Launch& launch) {
    std::unique_ptr<DeviceMemory> memory;
    std::unique_ptr<PinnedMemory> pinned;
    std::unique_ptr<Queue> queue;
    ACUITY_TRY_ASSIGN(memory, device_.allocate(bytes_.size()));
    ACUITY_TRY_ASSIGN(pinned, device_.allocate_pinned(bytes_.size()));
    ACUITY_TRY_ASSIGN(queue, device_.create_queue());
    std::memcpy(pinned->data(), bytes_.data(), bytes_.size());
    ACUITY_TRY(queue->upload(*memory, 0, *pinned, 0, bytes_.size()));
    ACUITY_TRY(launch(*queue, memory->address()));
    ACUITY_TRY(queue->download(*pinned, 0, *memory, 0, bytes_.size()));
    ACUITY_TRY(queue->wait());
    std::memcpy(bytes_.data(), pinned->data(), bytes_.size());
    return {};
  }

 private:
  Device& device_;
  std::vector<std::byte> bytes_;
};

/// The first operations are row by row those of the first table, the others those of the second.
void compare_answers(const std::string& where, std::span<const Operation> first, std::span<const Operation> second,
                     const std::vector<uint64_t>& pairs, int bits, const std::vector<uint64_t>& answers, Tally& tally) {
  for (size_t n = 0; n < first.size() + second.size(); ++n) {
    const Operation& operation = n < first.size() ? first[n] : second[n - first.size()];
    tally.compare(where, operation, pairs, bits, answers.data() + n * pairs.size() / 2);
  }
}

void check_integers(Device& device, Tally& tally) {
  const std::vector<uint64_t> integers = integer_pairs(kPairs);
  constexpr size_t kIntegerAnswers = kPairs * (SHARED_INTEGER_OPERATIONS + KERNEL_INTEGER_OPERATIONS);
  for (const int bits : {0, 1, 12, 31}) {
    Arrays arrays(device);
    const size_t numbers = arrays.add(integers), answers = arrays.add(std::vector<uint64_t>(kIntegerAnswers));
    tally.expect_ok("integers", arrays.run([&](Queue& queue, uint64_t memory) {
      return queue.run(kernels::integers, kGroups, 1, DeviceArray<const uint64_t>{memory + numbers},
                       DeviceArray<uint64_t>{memory + answers}, kCount, bits);
    }));
    compare_answers(device.info().id, shared_integer_operations(), kernel_integer_operations(), integers, bits,
                    arrays.get<uint64_t>(answers, kIntegerAnswers), tally);
  }
}

void check_doubles(Device& device, Tally& tally) {
  const std::vector<uint64_t> wides = wide_pairs(kPairs);
  constexpr size_t kWideAnswers = kPairs * (SHARED_WIDE_OPERATIONS + KERNEL_WIDE_OPERATIONS);
  Arrays arrays(device);
  const size_t numbers = arrays.add(wides), answers = arrays.add(std::vector<uint64_t>(kWideAnswers));
  tally.expect_ok("doubles", arrays.run([&](Queue& queue, uint64_t memory) {
    return queue.run(kernels::doubles, kGroups, 1, DeviceArray<const uint64_t>{memory + numbers},
                     DeviceArray<uint64_t>{memory + answers}, kCount);
  }));
  compare_answers(device.info().id, shared_wide_operations(), kernel_wide_operations(), wides, 0,
                  arrays.get<uint64_t>(answers, kWideAnswers), tally);
}

/// Of whatever the integer can hold.
template <typename T>
std::vector<T> random_integers(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1, static_cast<T>(-1)};
  while (values.size() < count) values.push_back(static_cast<T>(random()));
  return values;
}

template <typename T>
std::vector<T> three_times_and_one(std::vector<T> values) {
  for (T& value : values) value = static_cast<T>(static_cast<int>(value) * 3 + 1);
  return values;
}

template <typename T>
std::vector<T> plus(std::vector<T> values, T added) {
  using Wrapping = std::make_unsigned_t<T>;
  for (T& value : values) value = static_cast<T>(static_cast<Wrapping>(value) + static_cast<Wrapping>(added));
  return values;
}

constexpr size_t kElements = 1027;  // ends in the middle of a group, and of a word

void check_small_buffers(Device& device, Tally& tally) {
  const auto bytes = random_integers<uint8_t>(kElements, 1);
  const auto halves = random_integers<uint16_t>(kElements, 2);
  const auto signed_halves = random_integers<int16_t>(kElements, 3);
  Arrays small(device);
  const size_t a = small.add(bytes), b = small.add(bytes), c = small.add(halves), d = small.add(halves),
               e = small.add(signed_halves), f = small.add(signed_halves);
  tally.expect_ok("small buffers", small.run([&](Queue& queue, uint64_t memory) {
    return queue.run(kernels::small_buffers, (kElements + 63) / 64, 1, DeviceArray<const uint8_t>{memory + a},
                     DeviceArray<uint8_t>{memory + b}, DeviceArray<const uint16_t>{memory + c},
                     DeviceArray<uint16_t>{memory + d}, DeviceArray<const int16_t>{memory + e},
                     DeviceArray<int16_t>{memory + f}, kElements);
  }));
  tally.compare("u8 buffers", small.get<uint8_t>(b, kElements), three_times_and_one(bytes));
  tally.compare("u16 buffers", small.get<uint16_t>(d, kElements), three_times_and_one(halves));
  tally.compare("i16 buffers", small.get<int16_t>(f, kElements), three_times_and_one(signed_halves));
}

void check_large_buffers(Device& device, Tally& tally) {
  const auto naturals = random_integers<uint32_t>(kElements, 4);
  auto wholes = random_integers<int32_t>(kElements, 5);
  auto wholes64 = random_integers<int64_t>(kElements, 6);
  for (int32_t& value : wholes) value /= 2;  // no sum may overflow
  for (int64_t& value : wholes64) value /= 2;
  std::vector<double> wides(wholes64.begin(), wholes64.end());
  Arrays large(device);
  const size_t g = large.add(wholes), h = large.add(wholes), i = large.add(naturals), j = large.add(naturals),
               k = large.add(wholes64), l = large.add(wholes64), m = large.add(wides), n = large.add(wides);
  constexpr int64_t kAdded64 = -0x123456789ABCDE;
  tally.expect_ok("large buffers", large.run([&](Queue& queue, uint64_t memory) {
    return queue.run(kernels::large_buffers, (kElements + 63) / 64, 1, DeviceArray<const int32_t>{memory + g},
                     DeviceArray<int32_t>{memory + h}, DeviceArray<const uint32_t>{memory + i},
                     DeviceArray<uint32_t>{memory + j}, DeviceArray<const int64_t>{memory + k},
                     DeviceArray<int64_t>{memory + l}, DeviceArray<const double>{memory + m},
                     DeviceArray<double>{memory + n}, kElements, 0.1, 4000000000u, kAdded64, -77);
  }));
  tally.compare("i32 buffers", large.get<int32_t>(h, kElements), plus(wholes, -77));
  tally.compare("u32 buffers", large.get<uint32_t>(j, kElements), plus(naturals, 4000000000u));
  tally.compare("i64 buffers", large.get<int64_t>(l, kElements), plus(wholes64, kAdded64));
  for (double& value : wides) value += 0.1;
  tally.compare("f64 buffers", large.get<double>(n, kElements), wides);
}

/// What a group of so many threads sums up to, seen by each thread. Sums wrap around in these, as natural64 do.
std::vector<int64_t> group_sums(const std::vector<int64_t>& numbers, size_t threads) {
  std::vector<int64_t> sums;
  for (size_t i = 0; i < numbers.size(); i += threads) {
    uint64_t sum = 0;
    for (size_t k = i; k < i + threads; ++k) sum += static_cast<uint64_t>(numbers[k]);
    sums.insert(sums.end(), threads, static_cast<int64_t>(sum));
  }
  return sums;
}

void check_sums(Device& device, Tally& tally) {
  constexpr size_t kNumbers = 1 << 16;
  std::vector<int64_t> numbers = random_integers<int64_t>(kNumbers, 7);
  // Some groups of small numbers, as those of codes are, and some that carry into the upper half each time.
  for (size_t i = kNumbers / 4; i < kNumbers / 2; ++i) numbers[i] %= 70000;
  for (size_t i = kNumbers / 2; i < kNumbers * 3 / 4; ++i) numbers[i] = 0xFFFFFFFF;
  for (size_t i = kNumbers * 3 / 4; i < kNumbers * 7 / 8; ++i) numbers[i] = -1;
  const std::vector<int64_t> nothing(kNumbers, -1);
  Arrays arrays(device);
  const size_t from = arrays.add(numbers), by_32 = arrays.add(nothing), by_256 = arrays.add(nothing),
               totals = arrays.add(std::vector<int64_t>{5, -7});
  tally.expect_ok("sums", arrays.run([&](Queue& queue, uint64_t memory) {
    const DeviceArray<const int64_t> numbers_there{memory + from};
    const Status status =
        queue.run(kernels::sums_of_32, kNumbers / 32, 1, numbers_there, DeviceArray<int64_t>{memory + by_32});
    if (!status.ok()) return status;
    return queue.run(kernels::sums_of_256, kNumbers / 256, 1, numbers_there, DeviceArray<int64_t>{memory + by_256},
                     DeviceArray<int64_t>{memory + totals});
  }));
  tally.compare("sums over 32 threads", arrays.get<int64_t>(by_32, kNumbers), group_sums(numbers, 32));
  tally.compare("sums over 256 threads", arrays.get<int64_t>(by_256, kNumbers), group_sums(numbers, 256));
  constexpr int64_t kPlaces = -(int64_t{kNumbers} * (int64_t{kNumbers} - 1) / 2);
  const auto total = static_cast<int64_t>(static_cast<uint64_t>(group_sums(numbers, kNumbers)[0]) + 5);
  tally.compare("sums over all groups", arrays.get<int64_t>(totals, 2), {total, kPlaces - 7});
}

void check_counts(Device& device, Tally& tally) {
  constexpr size_t kNumbers = 1 << 14;
  const auto numbers = random_integers<uint32_t>(kNumbers, 8);
  std::vector<uint32_t> counts(10);
  int32_t sum = 0;
  std::vector<int32_t> swapped;
  std::vector<float> sums;
  for (size_t i = 0; i < kNumbers; ++i) {
    ++counts[numbers[i] % 10];
    sum += static_cast<int32_t>(numbers[i] % 1000) - 500;
    swapped.push_back(static_cast<int32_t>(numbers[i ^ 31]));
    if (i % 32 == 0) {
      const std::vector<float> together(numbers.begin() + static_cast<ptrdiff_t>(i),
                                        numbers.begin() + static_cast<ptrdiff_t>(i + 32));
      sums.insert(sums.end(), 32, sum_tile_columns(together.data()));
    }
  }
  Arrays arrays(device);
  const size_t from = arrays.add(numbers), counts_there = arrays.add(std::vector<uint32_t>(10)),
               sum_there = arrays.add(std::vector<int32_t>(1)),
               swapped_there = arrays.add(std::vector<int32_t>(kNumbers)),
               sums_there = arrays.add(std::vector<float>(kNumbers));
  tally.expect_ok("counts", arrays.run([&](Queue& queue, uint64_t memory) {
    return queue.run(kernels::count_digits, kNumbers / 64, 1, DeviceArray<const uint32_t>{memory + from},
                     DeviceArray<uint32_t>{memory + counts_there}, DeviceArray<int32_t>{memory + sum_there},
                     DeviceArray<int32_t>{memory + swapped_there}, DeviceArray<float>{memory + sums_there});
  }));
  tally.compare("counts", arrays.get<uint32_t>(counts_there, 10), counts);
  tally.compare("a sum of 32 bits", arrays.get<int32_t>(sum_there, 1), {sum});
  tally.compare("sums of 32 floats", arrays.get<float>(sums_there, kNumbers), sums);
  tally.compare("whole numbers swapped", arrays.get<int32_t>(swapped_there, kNumbers), swapped);
}

/// Whether the device has what kernels need. If not, says so, and sees to it that they are refused.
bool has(Device& device, std::initializer_list<KernelInfo> needed, Tally& tally) {
  bool all = true;
  for (const KernelInfo& kernel : needed) {
    const Status status = check_needs(device.info(), kernel);
    if (status.ok()) continue;
    all = false;
    fmt::print("not checked: {}\n", status.message());
    tally.compare("a refusal", device.prepare(kernel).message(), status.message());
  }
  return all;
}

void check_refusals(const std::shared_ptr<Device>& device, Tally& tally) {
  constexpr std::pair<Need, const char*> kNames[] = {{needs_int64, "64-bit integers"},
                                                     {needs_double, "exact doubles"},
                                                     {needs_storage16, "16-bit integers in buffers"},
                                                     {needs_storage8, "bytes in buffers"}};
  for (const auto& [need, name] : kNames) {
    DeviceInfo info = device->info();
    info.lacks = need;
    const std::shared_ptr<Device> lacking = check_calls(device, info);
    for (const KernelInfo& kernel :
         {KernelInfo(kernels::integers), KernelInfo(kernels::doubles), KernelInfo(kernels::small_buffers)}) {
      if ((kernel.needs & need) == 0) continue;
      const std::string expected =
          fmt::format("{} ({}, {}) lacks {}, which kernel {} of dialect_kernels needs; use another device", info.id,
                      info.name, info.driver, name, kernel.name);
      const Status prepared = lacking->prepare(kernel);
      tally.compare("the refusal to prepare", prepared.message(), expected);
      tally.compare("the code of a refusal", prepared.code() == StatusCode::device, true);
      const auto queue = lacking->create_queue();
      tally.expect_ok("a queue", queue.status());
      if (queue.ok()) tally.compare("the refusal to launch", (*queue)->launch(kernel, 1, 1, {}).message(), expected);
    }
  }
  // Vulkan's code tells what it needs; who does not say it is found out.
  if (device->info().backend != Backend::vulkan) return;
  static const KernelFile not_loaded_yet = dialect_kernels;
  KernelInfo silent = kernels::doubles;
  silent.file = &not_loaded_yet;
  silent.needs = needs_int64;
  const Status status = device->prepare(silent);
  tally.compare("a need that is not declared", status.code() == StatusCode::internal, true);
  tally.compare("its name", status.message().find("NEEDS_doubles") != std::string::npos, true);
}

}  // namespace

void check_host(Tally& tally) {
  const auto check = [&](std::span<const Operation> operations, const std::vector<uint64_t>& pairs, int bits,
                         const auto& answer) {
    for (size_t n = 0; n < operations.size(); ++n) {
      std::vector<uint64_t> answers(pairs.size() / 2);
      for (size_t i = 0; i < answers.size(); ++i) {
        const Question question{pairs[2 * i], pairs[2 * i + 1], bits};
        if (operations[n].defined(question)) answers[i] = answer(static_cast<int>(n), question.a, question.b);
      }
      tally.compare("host", operations[n], pairs, bits, answers.data());
    }
  };
  const std::vector<uint64_t> integers = integer_pairs(kPairs), wides = wide_pairs(kPairs);
  for (const int bits : {0, 1, 12, 31}) {
    check(shared_integer_operations(), integers, bits,
          [bits](int n, uint64_t a, uint64_t b) { return kernels::integer_answer(n, a, b, bits); });
  }
  check(kernel_integer_operations(), integers, 0, kernels::integer_kernel_answer);
  check(shared_wide_operations(), wides, 0, kernels::wide_answer);
  check(kernel_wide_operations(), wides, 0, kernels::wide_kernel_answer);
}

void check_device(const std::shared_ptr<Device>& device, Tally& tally) {
  if (has(*device, {kernels::integers}, tally)) check_integers(*device, tally);
  if (has(*device, {kernels::doubles}, tally)) check_doubles(*device, tally);
  if (has(*device, {kernels::small_buffers}, tally)) check_small_buffers(*device, tally);
  if (has(*device, {kernels::large_buffers}, tally)) check_large_buffers(*device, tally);
  if (has(*device, {kernels::sums_of_32, kernels::sums_of_256}, tally)) check_sums(*device, tally);
  check_counts(*device, tally);
  check_refusals(device, tally);
}

}  // namespace tests
}  // namespace acuity
