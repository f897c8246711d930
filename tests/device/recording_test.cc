// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work that a device keeps, on the stand-in for CUDA's driver.
#include <cstring>
#include <functional>
#include <stdexcept>

#include "base/try.h"
#include "device/device.h"
#include "device/fake_driver_test.h"

namespace acuity {

extern const KernelFile probe_kernels;

namespace {

constexpr Kernel<int> kKernel = {{&probe_kernels, "something", 32, 4}};

class RecordingTest : public FakeDriverTest {
 protected:
  void SetUp() override { open("cuda", "ACUITY_CUDA_DRIVER", FAKE_DRIVER); }
  void TearDown() override {
    queue.reset();
    other.reset();
    event.reset();
    joined.reset();
    memory.reset();
    pinned.reset();
    device.reset();
    FakeDriverTest::TearDown();
  }

  void open(const char* id, const char* variable, const char* file) {
    load(variable, file);
    device = must(open_device(id));
    queue = must(device->create_queue());
    other = must(device->create_queue());
    event = must(device->create_event());
    joined = must(device->create_event());
    memory = must(device->allocate(32));
    pinned = must(device->allocate_pinned(128));
    for (size_t i = 0; i < pinned->size(); ++i) pinned->data()[i] = static_cast<std::byte>(i);
    fake->calls.clear();
  }

  unsigned result(size_t place) const { return static_cast<unsigned>(pinned->data()[place]); }
  Status upload(size_t to, size_t from, size_t size) { return queue->upload(*memory, to, *pinned, from, size); }
  Status download(size_t to, size_t size) { return queue->download(*pinned, to, *memory, 0, size); }
  Status nothing_wrong() {
    ACUITY_TRY(upload(0, 0, 4));
    return queue->wait();
  }

  /// 16 bytes from 0 on, brought to the device and back to 96.
  std::unique_ptr<Recording> record_round_trip() {
    return must(device->record(*queue, [this] {
      ACUITY_TRY(upload(0, 0, 16));
      return download(96, 16);
    }));
  }

  void expect_nothing_kept(const std::function<Status()>& work) {
    EXPECT_EQ(must(device->record(*queue, work)), nullptr);
    EXPECT_TRUE(nothing_wrong().ok());
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Queue> queue, other;
  std::unique_ptr<Event> event, joined;
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<PinnedMemory> pinned;
};

TEST_F(RecordingTest, DoesNothingUntilRepeatedAndThenAllOfItEachTime) {
  fake->arguments.clear();
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->clear(*memory, 4, 4));
    ACUITY_TRY(queue->run(kKernel, 7, 5, 42));
    return download(96, 16);
  }));
  ASSERT_NE(recording, nullptr);
  ASSERT_TRUE(queue->wait().ok());
  EXPECT_EQ(result(96), 96u);
  EXPECT_TRUE(fake->arguments.empty());
  for (const unsigned first : {200u, 100u, 50u}) {
    pinned->data()[0] = static_cast<std::byte>(first);
    pinned->data()[100] = std::byte{77};
    fake->arguments.clear();
    fake->calls.clear();
    ASSERT_TRUE(recording->repeat().ok());
    EXPECT_EQ(fake->calls.size(), 3u) << "more than the launch and what makes the device current";
    ASSERT_TRUE(queue->wait().ok());
    EXPECT_EQ(result(96), first);
    EXPECT_EQ(result(99), 3u);
    EXPECT_EQ(result(100), 0u) << "was not cleared";
    EXPECT_EQ(result(104), 8u);
    ASSERT_EQ(fake->arguments.size(), 4u);
    EXPECT_EQ(fake->arguments[0], 42u);
    EXPECT_EQ(fake->grid[0], 7u);
  }
}

TEST_F(RecordingTest, WaitsForWhatIsSignalledOutside) {
  ASSERT_TRUE(other->signal(*event).ok());
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(queue->wait_for_outside(*event));
    ACUITY_TRY(upload(0, 0, 4));
    return download(96, 4);
  }));
  ASSERT_NE(recording, nullptr);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(other->signal(*event).ok());
    ASSERT_TRUE(recording->repeat().ok());
    ASSERT_TRUE(queue->wait().ok());
    EXPECT_EQ(result(97), 1u);
  }
  EXPECT_TRUE(contains(queue->wait_for_outside(*event).message(), "CUDA_ERROR_INVALID_VALUE")) << "nothing is recorded";
}

TEST_F(RecordingTest, RefusesToWaitAsUsualForWhatIsSignalledOutside) {
  ASSERT_TRUE(other->signal(*event).ok());
  EXPECT_FALSE(device->record(*queue, [this] { return queue->wait_for(*event); }).ok());
}

TEST_F(RecordingTest, TakesInQueuesThatWaitForIt) {
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
  EXPECT_TRUE(other->wait().ok()) << "the other queue still records";
  ASSERT_TRUE(recording->repeat().ok());
  EXPECT_EQ(result(96), 0u);
  EXPECT_EQ(result(100), 4u);
  // Signalled anew, an event serves outside again.
  ASSERT_TRUE(queue->signal(*event).ok());
  EXPECT_TRUE(other->wait_for(*event).ok());
}

TEST_F(RecordingTest, TellsOfAQueueThatWasNotWaitedFor) {
  const auto recording = device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->signal(*event));
    ACUITY_TRY(other->wait_for(*event));
    return other->clear(*memory, 0, 4);
  });
  EXPECT_EQ(recording.status().code(), StatusCode::device);
  EXPECT_TRUE(contains(recording.status().message(), "cuStreamEndCapture failed with CUDA_ERROR_STREAM_CAPTURE_UNJ"))
      << recording.status().message();
  EXPECT_TRUE(nothing_wrong().ok());
  EXPECT_TRUE(other->wait().ok());
}

TEST_F(RecordingTest, FailsLikeItsWorkAndLeavesTheQueueUsable) {
  const auto fails = [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return Status(StatusCode::internal, "the work went wrong");
  };
  EXPECT_EQ(device->record(*queue, fails).status().message(), "the work went wrong");
  EXPECT_EQ(calls_of("cuStreamEndCapture"), 1);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  const auto throws = []() -> Status { throw std::runtime_error("no memory"); };
  EXPECT_THROW(must(device->record(*queue, throws)), std::runtime_error);
  EXPECT_EQ(calls_of("cuStreamEndCapture"), 2);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  auto recording = record_round_trip();
  ASSERT_NE(recording, nullptr);
  EXPECT_TRUE(recording->repeat().ok());
  EXPECT_EQ(result(97), 1u);
}

TEST_F(RecordingTest, FailsWhereTheWorkWaits) {
  const auto recording = device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return queue->wait();
  });
  EXPECT_TRUE(contains(recording.status().message(), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"));
  EXPECT_EQ(queue->wait().message(), recording.status().message()) << "a call of this queue failed";
  EXPECT_EQ(calls_of("cuStreamEndCapture"), 1);
}

TEST_F(RecordingTest, KeepsNothingWithoutMemoryForIt) {
  fake->failing_function = "cuGraphInstantiateWithFlags";
  fake->failure = 2;
  expect_nothing_kept([this] { return upload(0, 16, 4); });
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_NE(record_round_trip(), nullptr) << "once there is memory again";
}

TEST_F(RecordingTest, FailsWithItsQueueAndItsQueueWithIt) {
  auto recording = record_round_trip();
  fake->failing_function = "cuGraphLaunch";
  fake->failure = 1;
  const Status status = recording->repeat();
  EXPECT_TRUE(contains(status.message(), "cuGraphLaunch failed with CUDA_ERROR_INVALID_VALUE (1)"));
  fake->calls.clear();
  EXPECT_EQ(queue->wait().message(), status.message());
  EXPECT_EQ(recording->repeat().message(), status.message());
  EXPECT_EQ(device->record(*queue, [] { return Status(); }).status().message(), status.message());
  EXPECT_TRUE(fake->calls.empty());
}

TEST_F(RecordingTest, MayGoAfterItsQueue) {
  auto recording = record_round_trip();
  queue.reset();
  recording.reset();
  EXPECT_EQ(fake->live["executable graph"], 0);
}

class WithoutGraphsTest : public RecordingTest {
 protected:
  void SetUp() override {}
  void expect_work_is_not_kept() {
    expect_nothing_kept([] { return Status(StatusCode::internal, "called"); });
  }
};

TEST_F(WithoutGraphsTest, AnOldDriverKeepsNothing) {
  open("cuda", "ACUITY_CUDA_DRIVER", FAKE_OLD_DRIVER);
  expect_work_is_not_kept();
}

TEST_F(WithoutGraphsTest, HipKeepsNothing) {
  open("hip", "ACUITY_HIP_DRIVER", FAKE_DRIVER);
  expect_work_is_not_kept();
}

}  // namespace
}  // namespace acuity
