// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work that a Vulkan device keeps, under Khronos's validation layer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "device/backends.h"
#include "device/device.h"
#include "support/vulkan_validation.h"

namespace acuity {
namespace {

#define ASSERT_OK(expression)                         \
  do {                                                \
    const Status asserted = (expression);             \
    ASSERT_TRUE(asserted.ok()) << asserted.message(); \
  } while (false)

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

class VulkanRecordingTest : public testing::Test {
 protected:
  VulkanRecordingTest() {
    for (size_t i = 0; i < pinned->size(); ++i) pinned->data()[i] = static_cast<std::byte>(i);
  }

  unsigned result(size_t place) const { return static_cast<unsigned>(pinned->data()[place]); }
  Status upload(size_t to, size_t from, size_t size) { return queue->upload(*memory, to, *pinned, from, size); }
  Status download(size_t to, size_t size) { return queue->download(*pinned, to, *memory, 0, size); }
  void expect_usable() {
    const Status status = upload(0, 0, 4);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(queue->wait().ok());
  }
  std::unique_ptr<Recording> record_round_trip() {
    return must(device->record(*queue, [this] {
      ACUITY_TRY(upload(0, 0, 16));
      return download(96, 16);
    }));
  }

  std::shared_ptr<Device> device = must(open_device("vulkan"));
  std::unique_ptr<DeviceMemory> memory = must(device->allocate(32));
  std::unique_ptr<PinnedMemory> pinned = must(device->allocate_pinned(128));
  std::unique_ptr<Event> event = must(device->create_event()), joined = must(device->create_event());
  std::unique_ptr<Queue> queue = must(device->create_queue()), other = must(device->create_queue());
};

TEST_F(VulkanRecordingTest, DoesNothingUntilRepeatedAndThenAllOfItEachTime) {
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->clear(*memory, 4, 4));
    return download(96, 16);
  }));
  ASSERT_NE(recording, nullptr);
  ASSERT_OK(queue->wait());
  EXPECT_EQ(result(96), 96u);
  for (const unsigned first : {200u, 100u, 50u}) {
    pinned->data()[0] = static_cast<std::byte>(first);
    pinned->data()[100] = std::byte{77};
    ASSERT_OK(recording->replay());
    ASSERT_OK(queue->wait());
    EXPECT_EQ(result(96), first);
    EXPECT_EQ(result(99), 3u);
    EXPECT_EQ(result(100), 0u) << "was not cleared";
    EXPECT_EQ(result(104), 8u);
  }
}

TEST_F(VulkanRecordingTest, KeepsItsPlaceAmongOtherWorkOfTheQueue) {
  const auto recording = record_round_trip();
  ASSERT_OK(queue->clear(*memory, 0, 32));
  ASSERT_OK(recording->replay());
  ASSERT_OK(queue->clear(*memory, 0, 4));
  ASSERT_OK(download(64, 16));
  ASSERT_OK(recording->replay());  // while it is in flight
  ASSERT_OK(queue->wait());
  EXPECT_EQ(result(64), 0u);
  EXPECT_EQ(result(69), 5u);
  EXPECT_EQ(result(97), 1u);
}

TEST_F(VulkanRecordingTest, WaitsForWhatIsSignalledOutside) {
  const auto copies = must(device->create_copy_queue());
  const auto source = must(device->allocate_pinned(32));
  const auto send = [&](unsigned value) -> Status {
    std::fill_n(source->data(), 32, static_cast<std::byte>(value));
    ACUITY_TRY(copies->upload(*memory, 0, *source, 0, 16));
    ACUITY_TRY(copies->signal(*event));
    ACUITY_TRY(copies->upload(*memory, 16, *source, 16, 16));
    ACUITY_TRY(copies->signal(*joined));
    return copies->flush();
  };
  ASSERT_OK(send(1));
  const auto recording = must(device->record(*queue, [&]() -> Status {
    ACUITY_TRY(queue->wait_for_outside(*event));
    ACUITY_TRY(queue->download(*pinned, 0, *memory, 0, 16));
    ACUITY_TRY(queue->wait_for_outside(*joined));
    return queue->download(*pinned, 16, *memory, 16, 16);
  }));
  ASSERT_NE(recording, nullptr);
  for (unsigned value = 2; value < 12; ++value) {
    ASSERT_OK(copies->wait());
    ASSERT_OK(send(value));
    ASSERT_OK(recording->replay());
    ASSERT_OK(queue->wait());
    EXPECT_EQ(result(0), value);
    EXPECT_EQ(result(31), value);
  }
  EXPECT_FALSE(queue->wait_for_outside(*event).ok()) << "nothing is recorded";
}

// Where nothing follows the wait, the queue waits all the same.
TEST_F(VulkanRecordingTest, WaitsAtItsEnd) {
  const auto copies = must(device->create_copy_queue());
  ASSERT_OK(copies->upload(*memory, 0, *pinned, 0, 16));
  ASSERT_OK(copies->signal(*event));
  ASSERT_OK(copies->flush());
  const auto recording = must(device->record(*queue, [this] { return queue->wait_for_outside(*event); }));
  ASSERT_NE(recording, nullptr);
  ASSERT_OK(recording->replay());
  ASSERT_OK(download(96, 16));
  ASSERT_OK(queue->wait());
  EXPECT_EQ(result(97), 1u);
}

TEST_F(VulkanRecordingTest, RefusesToWaitAsUsualForWhatIsSignalledOutside) {
  ASSERT_OK(other->signal(*event));
  EXPECT_FALSE(device->record(*queue, [this] { return queue->wait_for(*event); }).ok());
}

TEST_F(VulkanRecordingTest, TakesInQueuesThatWaitForIt) {
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->signal(*event));
    ACUITY_TRY(other->wait_for(*event));
    ACUITY_TRY(other->clear(*memory, 0, 4));
    ACUITY_TRY(other->signal(*joined));
    ACUITY_TRY(queue->wait_for(*joined));
    return download(96, 16);
  }));
  ASSERT_NE(recording, nullptr);
  ASSERT_OK(other->wait());
  ASSERT_OK(recording->replay());
  ASSERT_OK(queue->wait());
  EXPECT_EQ(result(96), 0u);
  EXPECT_EQ(result(100), 4u);
  // Signalled anew, an event serves outside again.
  ASSERT_OK(queue->signal(*event));
  ASSERT_OK(other->wait_for(*event));
  EXPECT_FALSE(other->wait_for(*joined).ok()) << "it was signalled inside";
}

TEST_F(VulkanRecordingTest, TellsOfAQueueThatWasNotWaitedFor) {
  const auto recording = device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->signal(*event));
    ACUITY_TRY(other->wait_for(*event));
    return other->clear(*memory, 0, 4);
  });
  ASSERT_FALSE(recording.ok());
  EXPECT_NE(recording.status().message().find("ended without waiting"), std::string::npos)
      << recording.status().message();
  expect_usable();
  EXPECT_TRUE(other->wait().ok());
}

TEST_F(VulkanRecordingTest, FailsLikeItsWorkAndLeavesTheQueueUsable) {
  const auto fails = [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return Status(StatusCode::internal, "the work went wrong");
  };
  EXPECT_EQ(device->record(*queue, fails).status().message(), "the work went wrong");
  expect_usable();
  const auto throws = []() -> Status { throw std::runtime_error("no memory"); };
  EXPECT_THROW(must(device->record(*queue, throws)), std::runtime_error);
  expect_usable();
  EXPECT_NE(record_round_trip(), nullptr);
}

TEST_F(VulkanRecordingTest, FailsWhereTheWorkWaits) {
  const auto recording = device->record(*queue, [this] { return queue->wait(); });
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(queue->wait().message(), recording.status().message()) << "a call of this queue failed";
}

TEST_F(VulkanRecordingTest, MayGoWhileItIsInFlightAndAfterItsQueue) {
  auto recording = record_round_trip();
  ASSERT_OK(recording->replay());
  recording.reset();
  ASSERT_OK(queue->wait());
  EXPECT_EQ(result(97), 1u);
  recording = record_round_trip();
  ASSERT_OK(recording->replay());
  queue.reset();
  recording.reset();
}

// Random copies between places, on random queues that wait only for what they need.
struct Copies {
  static constexpr size_t kPlaces = 12, kBytes = 4096, kQueues = 4;
  struct Copy {
    size_t from, to, queue;
  };

  Copies(Device& device, uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 60; ++i) copies.push_back({random() % kPlaces, random() % kPlaces, random() % kQueues});
    memory = must(device.allocate(kPlaces * kBytes));
    pinned = must(device.allocate_pinned(copies.size() * kBytes));
    start = must(device.allocate_pinned(kPlaces * kBytes));
    end = must(device.allocate_pinned(kPlaces * kBytes));
    for (size_t i = 0; i < kPlaces * kBytes; ++i) start->data()[i] = static_cast<std::byte>(i / kBytes + 1);
    while (events.size() < copies.size() + 2) events.push_back(must(device.create_event()));
    while (queues.size() < kQueues) queues.push_back(must(device.create_queue()));
  }

  /// From `start` by all copies to `end`. Each goes by way of pinned memory of its own. Queue 0 begins and ends it.
  Status submit() {
    ACUITY_TRY(queues[0]->upload(*memory, 0, *start, 0, kPlaces * kBytes));
    ACUITY_TRY(queues[0]->signal(*events[copies.size()]));
    for (size_t q = 1; q < kQueues; ++q) ACUITY_TRY(queues[q]->wait_for(*events[copies.size()]));
    for (size_t i = 0; i < copies.size(); ++i) {
      Queue& queue = *queues[copies[i].queue];
      for (size_t k = 0; k < i; ++k) {
        const bool meet =
            copies[k].to == copies[i].from || copies[k].to == copies[i].to || copies[k].from == copies[i].to;
        if (meet && copies[k].queue != copies[i].queue) ACUITY_TRY(queue.wait_for(*events[k]));
      }
      ACUITY_TRY(queue.download(*pinned, i * kBytes, *memory, copies[i].from * kBytes, kBytes));
      ACUITY_TRY(queue.upload(*memory, copies[i].to * kBytes, *pinned, i * kBytes, kBytes));
      ACUITY_TRY(queue.signal(*events[i]));
    }
    for (size_t i = 0; i < copies.size(); ++i) ACUITY_TRY(queues[0]->wait_for(*events[i]));
    return queues[0]->download(*end, 0, *memory, 0, kPlaces * kBytes);
  }

  void expect_right(const char* what) {
    std::vector<std::byte> places;
    for (size_t i = 0; i < kPlaces; ++i) places.push_back(start->data()[i * kBytes]);
    for (const Copy& copy : copies) places[copy.to] = places[copy.from];
    for (size_t i = 0; i < kPlaces * kBytes; ++i) ASSERT_EQ(end->data()[i], places[i / kBytes]) << what << ", " << i;
  }

  std::vector<Copy> copies;
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<PinnedMemory> pinned, start, end;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Queue>> queues;
};

TEST_F(VulkanRecordingTest, KeepsTheOrderOfSeveralQueues) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    Copies copies(*device, seed);
    ASSERT_OK(copies.submit());
    ASSERT_OK(copies.queues[0]->wait());
    copies.expect_right("submitted");
    const auto recording = must(device->record(*copies.queues[0], [&] { return copies.submit(); }));
    ASSERT_NE(recording, nullptr);
    for (int i = 0; i < 3; ++i) {
      std::fill_n(copies.end->data(), copies.end->size(), std::byte{0});
      copies.start->data()[0] = static_cast<std::byte>(100 + i);
      std::fill_n(copies.start->data(), Copies::kBytes, static_cast<std::byte>(100 + i));
      ASSERT_OK(recording->replay());
      ASSERT_OK(copies.queues[0]->wait());
      copies.expect_right("replayed");
    }
  }
}

// Of our queues, those four apart share one of the driver's, and recorded work may move a queue to another.
class VulkanSharedQueuesTest : public VulkanRecordingTest {
 protected:
  static constexpr size_t kShared = 4;
  VulkanSharedQueuesTest() {
    while (queues.size() < 2 * kShared) queues.push_back(must(device->create_queue()));
  }

  /// Sets the memory to a value, after so many submissions that others would be done before. Signals `event`.
  Status set_late(Queue& to, unsigned value) {
    for (int i = 0; i < 30; ++i) {
      ACUITY_TRY(to.clear(*memory, 0, 32));
      ACUITY_TRY(to.signal(*event));
    }
    std::fill_n(pinned->data(), 32, static_cast<std::byte>(value));
    ACUITY_TRY(to.upload(*memory, 0, *pinned, 0, 32));
    return to.signal(*event);
  }

  /// What queues see behind `joined`.
  void expect_seen(size_t first, size_t last, unsigned value) {
    const auto place = [](size_t i) { return 64 + 4 * i; };
    std::fill_n(pinned->data() + 64, 64, std::byte{0});
    for (size_t i = first; i < last; ++i) {
      ASSERT_OK(queues[i]->wait_for(*joined));
      ASSERT_OK(queues[i]->download(*pinned, place(i), *memory, 0, 4));
      ASSERT_OK(queues[i]->signal(*ends[i]));
    }
    for (size_t i = first; i < last; ++i) {
      ASSERT_OK(queues[i]->wait());
      EXPECT_EQ(result(place(i)), value) << "queue " << i;
    }
  }

  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::unique_ptr<Event>> ends = [this] {
    std::vector<std::unique_ptr<Event>> events;
    while (events.size() < 2 * kShared) events.push_back(must(device->create_event()));
    return events;
  }();
};

// In this order at least two of them move.
TEST_F(VulkanSharedQueuesTest, WorkThatMovesComesAfterAllThatWasWaitedFor) {
  for (size_t q = kShared; q-- > 0;) {
    Queue& moved = *queues[q];
    const auto value = static_cast<unsigned>(10 + q);
    ASSERT_OK(set_late(*queues[q + kShared], value));
    ASSERT_OK(moved.wait_for(*event));
    const auto recording = must(device->record(moved, [&] { return moved.download(*pinned, 96, *memory, 0, 16); }));
    ASSERT_NE(recording, nullptr);
    ASSERT_OK(recording->replay());
    ASSERT_OK(moved.wait());
    EXPECT_EQ(result(96), value) << "queue " << q;
  }
}

TEST_F(VulkanSharedQueuesTest, AnEventComesAfterWorkFromBeforeTheMove) {
  for (size_t q = kShared; q-- > 0;) {
    Queue& moved = *queues[q];
    const auto value = static_cast<unsigned>(20 + q);
    ASSERT_OK(set_late(moved, value));
    const auto recording = must(device->record(moved, [&] { return moved.download(*pinned, 96, *memory, 0, 16); }));
    ASSERT_OK(moved.signal(*joined));
    expect_seen(kShared, 2 * kShared, value);
  }
}

TEST_F(VulkanSharedQueuesTest, AnEventComesAfterAllThatWasWaitedFor) {
  for (size_t q = 0; q < kShared; ++q) {
    const auto value = static_cast<unsigned>(30 + q);
    ASSERT_OK(set_late(*queues[q + kShared], value));
    ASSERT_OK(queues[q]->wait_for(*event));
    ASSERT_OK(queues[q]->signal(*joined));
    expect_seen(0, kShared, value);
  }
}

TEST_F(VulkanSharedQueuesTest, TheHostWaitsForAllThatWasWaitedFor) {
  for (size_t q = 0; q < kShared; ++q) {
    Queue& late = *queues[q + kShared];
    const auto value = static_cast<unsigned>(40 + q);
    ASSERT_OK(set_late(late, value));
    ASSERT_OK(late.download(*pinned, 96, *memory, 0, 16));
    ASSERT_OK(late.signal(*event));
    ASSERT_OK(queues[q]->wait_for(*event));
    ASSERT_OK(queues[q]->wait());
    EXPECT_EQ(result(96), value) << "queue " << q;
  }
}

// A finding fails every call, but does not stop what was submitted. In a process of its own, because it stays found.
TEST(VulkanRecordingDeathTest, WaitsForWorkThatWasFoundWrong) {
  if (std::string_view(std::getenv("ACUITY_VULKAN_VALIDATION")) != "1") GTEST_SKIP() << "validation is off";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto repeat_after_a_finding = [] {
    constexpr size_t kBytes = 32 << 20;
    const auto device = must(open_vulkan_device(0));  // without the checks of the front
    const auto memory = must(device->allocate(kBytes)), other_memory = must(device->allocate(256));
    const auto from = must(device->allocate_pinned(kBytes)), to = must(device->allocate_pinned(kBytes));
    const auto queue = must(device->create_queue()), other = must(device->create_queue());
    from->data()[kBytes - 1] = std::byte{77};
    to->data()[kBytes - 1] = std::byte{0};
    auto recording = must(device->record(*queue, [&] {
      for (int i = 0; i < 16; ++i) ACUITY_TRY(queue->upload(*memory, 0, *from, 0, kBytes));
      return queue->download(*to, 0, *memory, 0, kBytes);
    }));
    static_cast<void>(other->clear(*other_memory, 0, 3));
    if (recording->replay().ok()) std::_Exit(2);
    recording.reset();
    std::_Exit(to->data()[kBytes - 1] == std::byte{77} ? 0 : 1);
  };
  EXPECT_EXIT(repeat_after_a_finding(), testing::ExitedWithCode(0), "");
}

// Kernels and copies on a queue for copies are done in order, too.
TEST_F(VulkanRecordingTest, AQueueForCopiesTakesOtherWork) {
  const auto copies = must(device->create_copy_queue());
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(copies->upload(*memory, 0, *pinned, 0, 32));
    ASSERT_OK(copies->clear(*memory, 4, 4));
    ASSERT_OK(copies->upload(*memory, 5, *pinned, 40, 1));
    std::fill_n(pinned->data() + 96, 32, std::byte{0xFF});
    ASSERT_OK(copies->download(*pinned, 96, *memory, 0, 32));
    ASSERT_OK(copies->wait());
    EXPECT_EQ(result(99), 3u);
    EXPECT_EQ(result(100), 0u);
    EXPECT_EQ(result(101), 40u);
    EXPECT_EQ(result(104), 8u);
  }
}

}  // namespace
}  // namespace acuity
