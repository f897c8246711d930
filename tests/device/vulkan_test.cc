// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Vulkan backend, under Khronos's validation layer. A machine without Vulkan fails these tests: lavapipe is enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "device/backends.h"
#include "device/device.h"
#include "device/probe.h"
#include "lang/host.h"
#include "support/vulkan_validation.h"

namespace acuity {

extern const KernelFile probe_kernels;
extern const KernelFile mse_kernels;
namespace probe {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &probe_kernels;
#include "device/probe_kernels.h"
}  // namespace probe
namespace mse {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &mse_kernels;
#include "metrics/mse/kernels.h"
}  // namespace mse

namespace {

#define ASSERT_OK(expression)                         \
  do {                                                \
    const Status asserted = (expression);             \
    ASSERT_TRUE(asserted.ok()) << asserted.message(); \
  } while (false)

std::vector<float> random_floats(size_t count, uint32_t seed, float low, float high) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = low + (high - low) * static_cast<float>(random()) * 0x1p-32f;
  return values;
}

class VulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Device>> opened = open_device("vulkan");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = std::move(opened).value();
    queue = create_queue();
  }

  std::unique_ptr<Queue> create_queue() {
    Result<std::unique_ptr<Queue>> created = device->create_queue();
    EXPECT_TRUE(created.ok()) << created.status().message();
    return std::move(created).value();
  }
  std::unique_ptr<DeviceMemory> allocate(size_t bytes) {
    Result<std::unique_ptr<DeviceMemory>> memory = device->allocate(bytes);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    return std::move(memory).value();
  }
  std::unique_ptr<PinnedMemory> allocate_pinned(size_t bytes) {
    Result<std::unique_ptr<PinnedMemory>> memory = device->allocate_pinned(bytes);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    return std::move(memory).value();
  }
  std::unique_ptr<Event> create_event() {
    Result<std::unique_ptr<Event>> event = device->create_event();
    EXPECT_TRUE(event.ok()) << event.status().message();
    return std::move(event).value();
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Queue> queue;
};

/// A pair of planar pictures, what sum_tiles makes of them here, and what it makes of them there.
struct TileSums {
  TileSums(int picture_width, int picture_height, uint32_t seed)
      : width(picture_width), height(picture_height), across((width + 31) / 32), down((height + 63) / 64) {
    const size_t count = static_cast<size_t>(3 * width * height);
    reference = random_floats(count, seed, 0.0f, 1.0f);
    distorted = random_floats(count, seed + 1, 0.0f, 1.0f);
  }

  size_t picture_bytes() const { return reference.size() * sizeof(float); }
  size_t sum_bytes() const { return static_cast<size_t>(3 * across * down) * sizeof(float); }

  std::vector<float> here() const {
    std::vector<float> sums;
    for (int tile = 0; tile < across * down; ++tile) {
      for (int c = 0; c < 3; ++c) {
        float columns[32] = {};
        for (int i = 0; i < 32; ++i) {
          const int x = tile % across * 32 + i;
          for (int y = tile / across * 64; y < std::min((tile / across + 1) * 64, height) && x < width; ++y) {
            const auto at = static_cast<size_t>((c * height + y) * width + x);
            const float difference = reference[at] - distorted[at];
            columns[i] += difference * difference;
          }
        }
        for (int step = 16; step >= 1; step /= 2) {
          for (int i = 0; i < step; ++i) columns[i] += columns[i + step];
        }
        sums.push_back(columns[0]);
      }
    }
    return sums;
  }

  /// memory: two pictures and the sums, one after the other.
  Status launch(Queue& queue, const DeviceMemory& memory) const {
    const uint64_t address = memory.address();
    const int plane = width * height;
    return queue.run(mse::sum_tiles, across, down, DeviceArray<const unsigned char>{address},
                     DeviceArray<const unsigned char>{address + picture_bytes()}, DeviceArray<const float>{},
                     DeviceArray<const float>{}, DeviceArray<float>{address + 2 * picture_bytes()}, FORMAT_PLANES, 0,
                     plane, 0, FORMAT_PLANES, 0, plane, 0, width, 0, height);
  }

  void there(Device& device, Queue& queue, std::vector<float>& sums) const {
    const size_t bytes = 2 * picture_bytes() + sum_bytes();
    auto memory = device.allocate(bytes);
    ASSERT_OK(memory.status());
    auto pinned = device.allocate_pinned(bytes);
    ASSERT_OK(pinned.status());
    std::memcpy((*pinned)->data(), reference.data(), picture_bytes());
    std::memcpy((*pinned)->data() + picture_bytes(), distorted.data(), picture_bytes());
    ASSERT_OK(queue.upload(**memory, 0, **pinned, 0, 2 * picture_bytes()));
    ASSERT_OK(launch(queue, **memory));
    ASSERT_OK(queue.download(**pinned, 2 * picture_bytes(), **memory, 2 * picture_bytes(), sum_bytes()));
    ASSERT_OK(queue.wait());
    sums.resize(sum_bytes() / sizeof(float));
    std::memcpy(sums.data(), (*pinned)->data() + 2 * picture_bytes(), sum_bytes());
  }

  int width, height, across, down;
  std::vector<float> reference, distorted;
};

TEST(VulkanList, ShowsDevices) {
  const DeviceList list = list_vulkan_devices();
  ASSERT_FALSE(list.devices.empty()) << (list.troubles.empty() ? "no trouble either" : list.troubles[0].reason);
  for (const DeviceInfo& info : list.devices) {
    EXPECT_EQ(info.backend, Backend::vulkan);
    EXPECT_EQ(info.id, "vulkan:" + std::to_string(info.index));
    EXPECT_FALSE(info.name.empty());
    EXPECT_NE(info.driver.find("Vulkan 1."), std::string::npos) << info.driver;
    EXPECT_GT(info.memory_bytes, 0);
    EXPECT_EQ(info.uuid.size(), 36u);
  }
}

TEST(VulkanList, RefusesANumberThatIsNotThere) {
  const Result<std::shared_ptr<Device>> device = open_device("vulkan:99");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), StatusCode::unknown_device);
  EXPECT_NE(device.status().message().find("99"), std::string::npos) << device.status().message();
}

// What the validation layer finds must not be lost. In a process of its own, because it stays found.
TEST(VulkanDeathTest, ValidationFailsTheCall) {
  if (std::string_view(std::getenv("ACUITY_VULKAN_VALIDATION")) != "1") GTEST_SKIP() << "validation is off";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto clear_three_bytes = [] {
    const Result<std::shared_ptr<Device>> device = open_vulkan_device(0);  // without the checks of the front
    if (!device.ok()) std::_Exit(2);
    auto memory = device.value()->allocate(256);
    auto queue = device.value()->create_queue();
    Status status = (*queue)->clear(**memory, 0, 3);
    if (status.ok()) status = (*queue)->wait();
    std::fputs(status.message().c_str(), stderr);
    std::_Exit(status.ok() ? 0 : 1);
  };
  EXPECT_EXIT(clear_three_bytes(), testing::ExitedWithCode(1), "validation layer found.*vkCmdFillBuffer");
}

TEST_F(VulkanTest, CopiesAnyBytes) {
  constexpr size_t kBytes = 70001;
  const auto memory = allocate(kBytes);
  EXPECT_EQ(memory->address() % 256, 0u);
  const auto pinned = allocate_pinned(2 * kBytes);
  std::mt19937 random(1);
  for (const size_t bytes : {size_t{1}, size_t{2}, size_t{3}, size_t{5}, size_t{255}, size_t{4097}, size_t{65535}}) {
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{7}, size_t{1026}}) {
      std::vector<std::byte> expected(kBytes);
      for (std::byte& value : expected) value = static_cast<std::byte>(random());
      std::memcpy(pinned->data(), expected.data(), kBytes);
      ASSERT_OK(queue->upload(*memory, 0, *pinned, 0, kBytes));
      // Part of it again, from elsewhere to elsewhere.
      std::copy_n(expected.begin() + 13, bytes, expected.begin() + static_cast<ptrdiff_t>(offset));
      ASSERT_OK(queue->upload(*memory, offset, *pinned, 13, bytes));
      ASSERT_OK(queue->download(*pinned, kBytes, *memory, 0, kBytes));
      ASSERT_OK(queue->wait());
      ASSERT_EQ(std::memcmp(pinned->data() + kBytes, expected.data(), kBytes), 0) << bytes << " bytes at " << offset;
      // And one piece down, with nothing around it touched.
      std::fill_n(pinned->data() + kBytes, kBytes, std::byte{0xA5});
      ASSERT_OK(queue->download(*pinned, kBytes + 3, *memory, offset, bytes));
      ASSERT_OK(queue->wait());
      ASSERT_EQ(std::memcmp(pinned->data() + kBytes + 3, expected.data() + offset, bytes), 0);
      ASSERT_EQ(pinned->data()[kBytes + 2], std::byte{0xA5});
      ASSERT_EQ(pinned->data()[kBytes + 3 + bytes], std::byte{0xA5});
    }
  }
}

TEST_F(VulkanTest, ClearsWhatItWasTold) {
  constexpr size_t kBytes = 4096;
  const auto memory = allocate(kBytes);
  const auto pinned = allocate_pinned(kBytes);
  std::fill_n(pinned->data(), kBytes, std::byte{0xFF});
  ASSERT_OK(queue->upload(*memory, 0, *pinned, 0, kBytes));
  ASSERT_OK(queue->clear(*memory, 12, 1004));
  ASSERT_OK(queue->download(*pinned, 0, *memory, 0, kBytes));
  ASSERT_OK(queue->wait());
  for (size_t i = 0; i < kBytes; ++i) {
    ASSERT_EQ(pinned->data()[i], i >= 12 && i < 1016 ? std::byte{0} : std::byte{0xFF}) << i;
  }
}

TEST_F(VulkanTest, SumsTilesLikeTheHost) {
  for (const auto& [width, height] : {std::pair{1, 1}, {31, 64}, {33, 65}, {64, 63}, {200, 131}}) {
    const TileSums tiles(width, height, static_cast<uint32_t>(width));
    std::vector<float> sums;
    tiles.there(*device, *queue, sums);
    EXPECT_EQ(sums, tiles.here()) << width << " x " << height;
  }
}

// Far more than the few answers asked for at open, over all exponents.
TEST_F(VulkanTest, RoundsLikeTheHost) {
  constexpr int kTriples = 64 * 1024, kAnswers = 7;
  std::mt19937 random(2);
  std::vector<float> triples;
  while (triples.size() < 3 * kTriples) {
    const float a = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float b = std::bit_cast<float>(static_cast<uint32_t>(random()));
    // A summand near the product in half of them, where a second rounding would show.
    const float near = -a * b * (1.0f + static_cast<float>(random() % 64) * 0x1p-23f);
    const float c = random() % 2 == 0 ? near : std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float product = a * b;
    // Infinities and no-numbers never reach a kernel; some drivers give no-numbers other bits.
    if (!std::isfinite(a) || !std::isfinite(b) || b == 0 || !std::isfinite(product + c)) continue;
    if (!std::isfinite(product) || !std::isfinite(a / b)) continue;
    triples.insert(triples.end(), {a, b, c});
  }
  const size_t question_bytes = triples.size() * sizeof(float);
  const size_t answer_bytes = kAnswers * kTriples * sizeof(float);
  const auto memory = allocate(question_bytes + answer_bytes);
  const auto pinned = allocate_pinned(question_bytes + answer_bytes);
  std::memcpy(pinned->data(), triples.data(), question_bytes);
  ASSERT_OK(queue->upload(*memory, 0, *pinned, 0, question_bytes));
  ASSERT_OK(queue->run(probe::probe, kTriples / 64, 1, DeviceArray<const float>{memory->address()},
                       DeviceArray<float>{memory->address() + question_bytes}, kTriples));
  ASSERT_OK(queue->download(*pinned, question_bytes, *memory, question_bytes, answer_bytes));
  ASSERT_OK(queue->wait());
  std::vector<uint32_t> answers(kAnswers * kTriples);
  std::memcpy(answers.data(), pinned->data() + question_bytes, answer_bytes);
  const Result<ProbeReport> report = probe_device(*device);
  ASSERT_OK(report.status());
  const bool flushes = !report->mistakes.empty();
  EXPECT_EQ(flushes, device->info().note.find("2^-126") != std::string::npos) << device->info().note;
  for (size_t i = 0; i < kTriples; ++i) {
    const float a = triples[3 * i];
    const float b = triples[3 * i + 1];
    const float c = triples[3 * i + 2];
    const float product = a * b;
    ASSERT_EQ(answers[kAnswers * i], std::bit_cast<uint32_t>(product + c)) << a << " * " << b << " + " << c;
    const float fused = std::fma(a, b, c);
    const float smallest = std::min({std::abs(a), std::abs(b), std::abs(c), std::abs(fused)});
    if (!flushes || smallest > std::numeric_limits<float>::min()) {
      ASSERT_EQ(answers[kAnswers * i + 1], std::bit_cast<uint32_t>(fused)) << a << ", " << b << ", " << c;
    }
    ASSERT_EQ(answers[kAnswers * i + 2], std::bit_cast<uint32_t>(a / b)) << a << " / " << b;
    ASSERT_EQ(answers[kAnswers * i + 3], std::bit_cast<uint32_t>(std::sqrt(std::abs(a)))) << a;
    const float of_quotient = std::fma(a / b, b, c);
    const float least = std::min({smallest, std::abs(a / b), std::abs(of_quotient)});
    if (std::isfinite(of_quotient) && (!flushes || least > std::numeric_limits<float>::min())) {
      ASSERT_EQ(answers[kAnswers * i + 6], std::bit_cast<uint32_t>(of_quotient)) << a << ", " << b << ", " << c;
    }
  }
}

TEST_F(VulkanTest, QueuesWaitForEachOthersEvents) {
  const TileSums tiles(64, 64, 3);
  const std::vector<float> expected = tiles.here();
  const size_t bytes = 2 * tiles.picture_bytes() + tiles.sum_bytes();
  const auto memory = allocate(bytes);
  const auto pinned = allocate_pinned(bytes);
  const auto sums = allocate_pinned(tiles.sum_bytes());
  const auto copies = create_queue();
  const auto uploaded = create_event();
  const auto summed = create_event();
  std::memcpy(pinned->data(), tiles.reference.data(), tiles.picture_bytes());
  std::memcpy(pinned->data() + tiles.picture_bytes(), tiles.distorted.data(), tiles.picture_bytes());
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(copies->clear(*memory, 0, bytes));
    ASSERT_OK(copies->upload(*memory, 0, *pinned, 0, 2 * tiles.picture_bytes()));
    ASSERT_OK(copies->signal(*uploaded));
    ASSERT_OK(queue->wait_for(*uploaded));
    ASSERT_OK(tiles.launch(*queue, *memory));
    ASSERT_OK(queue->signal(*summed));
    ASSERT_OK(copies->wait_for(*summed));
    std::fill_n(sums->data(), tiles.sum_bytes(), std::byte{0xFF});
    ASSERT_OK(copies->download(*sums, 0, *memory, 2 * tiles.picture_bytes(), tiles.sum_bytes()));
    ASSERT_OK(copies->wait());
    ASSERT_EQ(std::memcmp(sums->data(), expected.data(), tiles.sum_bytes()), 0) << i;
  }
}

TEST_F(VulkanTest, AnEventOutlivesItsQueue) {
  const auto memory = allocate(256);
  const auto event = create_event();
  {
    const auto other = create_queue();
    ASSERT_OK(other->clear(*memory, 0, 256));
    ASSERT_OK(other->signal(*event));
  }
  ASSERT_OK(queue->wait_for(*event));
  ASSERT_OK(queue->clear(*memory, 0, 256));
  ASSERT_OK(queue->wait());
}

TEST_F(VulkanTest, TakesManyLaunches) {
  const TileSums tiles(8, 4, 4);
  const std::vector<float> expected = tiles.here();
  const size_t sums_at = 2 * tiles.picture_bytes();
  constexpr size_t kLaunches = 1000;
  const size_t all_sums = kLaunches * tiles.sum_bytes();
  const auto memory = allocate(sums_at + all_sums);
  const auto pinned = allocate_pinned(sums_at + all_sums);
  std::memcpy(pinned->data(), tiles.reference.data(), tiles.picture_bytes());
  std::memcpy(pinned->data() + tiles.picture_bytes(), tiles.distorted.data(), tiles.picture_bytes());
  ASSERT_OK(queue->upload(*memory, 0, *pinned, 0, sums_at));
  for (size_t i = 0; i < kLaunches; ++i) {
    ASSERT_OK(tiles.launch(*queue, *memory));
    ASSERT_OK(queue->download(*pinned, sums_at + i * tiles.sum_bytes(), *memory, sums_at, tiles.sum_bytes()));
    if (i % 100 == 99) ASSERT_OK(queue->wait());
  }
  for (size_t i = 0; i < kLaunches; ++i) {
    ASSERT_EQ(std::memcmp(pinned->data() + sums_at + i * tiles.sum_bytes(), expected.data(), tiles.sum_bytes()), 0)
        << i;
  }
}

TEST_F(VulkanTest, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const auto own = create_queue();
      const TileSums tiles(70, 70, i);
      for (int j = 0; j < 5; ++j) {
        std::vector<float> sums;
        tiles.there(*device, *own, sums);
        EXPECT_EQ(sums, tiles.here());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(VulkanTest, SaysWhenMemoryIsShort) {
  const auto total = static_cast<size_t>(device->info().memory_bytes);
  for (const size_t bytes : {total + 4096, size_t{1} << 50}) {
    const auto memory = device->allocate(bytes);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.status().code(), StatusCode::device_memory);
    EXPECT_NE(memory.status().message().find(device->info().name), std::string::npos) << memory.status().message();
  }
  const TileSums tiles(40, 40, 5);
  std::vector<float> sums;
  tiles.there(*device, *queue, sums);
  EXPECT_EQ(sums, tiles.here());
}

TEST_F(VulkanTest, CountsFreeMemory) {
  constexpr int64_t kBytes = 64 << 20;
  const Result<int64_t> before = device->free_bytes();
  ASSERT_OK(before.status());
  EXPECT_LE(*before, device->info().memory_bytes);
  {
    const auto memory = allocate(kBytes);
    const Result<int64_t> during = device->free_bytes();
    ASSERT_OK(during.status());
    EXPECT_LE(*during, *before - kBytes);
  }
  const Result<int64_t> after = device->free_bytes();
  ASSERT_OK(after.status());
  EXPECT_GT(*after, *before - kBytes);
}

TEST_F(VulkanTest, SaysWhenAKernelHasNoCode) {
  const KernelFile file = {"nothing", {}};
  const Status status = device->prepare({&file, "absent", 64, 1});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("absent"), std::string::npos) << status.message();
  ASSERT_OK(device->prepare(mse::sum_tiles));
}

TEST_F(VulkanTest, MemoryOutlivesItsDevice) {
  const auto memory = allocate(1000);
  const auto pinned = allocate_pinned(1000);
  device.reset();
  ASSERT_OK(queue->clear(*memory, 0, 1000));
  ASSERT_OK(queue->download(*pinned, 0, *memory, 0, 1000));
  ASSERT_OK(queue->wait());
  EXPECT_EQ(pinned->data()[999], std::byte{0});
}

}  // namespace
}  // namespace acuity
