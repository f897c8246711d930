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

  HostBytes bytes(size_t offset, size_t size) const { return {pinned->data() + offset, size}; }
  unsigned result(size_t place) const { return static_cast<unsigned>(pinned->data()[place]); }
  Status upload(size_t to, size_t from, size_t size) { return queue->upload(*memory, to, *pinned, from, size); }
  Status download(size_t to, size_t size) { return queue->download(*pinned, to, *memory, 0, size); }
  Status nothing_wrong() {
    ACUITY_TRY(upload(0, 0, 4));
    return queue->wait();
  }

  /// One input of 16 bytes from 0 on, brought to the device and back to 96.
  std::unique_ptr<Recording> record_round_trip() {
    const HostBytes inputs[] = {bytes(0, 16)};
    return must(device->record(*queue, inputs, [this] {
      ACUITY_TRY(upload(0, 0, 16));
      return download(96, 16);
    }));
  }

  void expect_nothing_kept(const std::function<Status()>& work) {
    const HostBytes inputs[] = {bytes(0, 16)};
    EXPECT_EQ(must(device->record(*queue, inputs, work)), nullptr);
    EXPECT_TRUE(nothing_wrong().ok());
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Queue> queue, other;
  std::unique_ptr<Event> event, joined;
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<PinnedMemory> pinned;
};

TEST_F(RecordingTest, DoesNothingUntilRepeatedAndThenAllOfItEachTime) {
  const HostBytes inputs[] = {bytes(0, 16)};
  fake->arguments.clear();
  const auto recording = must(device->record(*queue, inputs, [this] {
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
    ASSERT_TRUE(recording->repeat(inputs).ok());
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

TEST_F(RecordingTest, UploadsFollowTheirInputs) {
  const char* const set = "cuGraphExecMemcpyNodeSetParams";
  for (const bool unified : {false, true}) {
    fake->unified_copies = unified;
    const HostBytes inputs[] = {bytes(0, 8), bytes(8, 8)};
    const auto recording = must(device->record(*queue, inputs, [this] {
      ACUITY_TRY(upload(0, 0, 4));
      ACUITY_TRY(upload(4, 8, 3));
      ACUITY_TRY(upload(7, 13, 3));
      ACUITY_TRY(upload(10, 5, 1));
      ACUITY_TRY(upload(11, 16, 1));  // right behind the inputs
      return download(96, 12);
    }));
    ASSERT_NE(recording, nullptr);
    const auto expect = [&](const std::vector<unsigned>& expected, HostBytes first, HostBytes second, int moved) {
      fake->calls.clear();
      std::fill_n(pinned->data() + 96, 12, std::byte{255});
      const HostBytes now[] = {first, second};
      ASSERT_TRUE(recording->repeat(now).ok());
      ASSERT_TRUE(queue->wait().ok());
      EXPECT_EQ(calls_of(set), moved);
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(result(96 + i), expected[i]) << i;
    };
    expect({0, 1, 2, 3, 8, 9, 10, 13, 14, 15, 5, 16}, inputs[0], inputs[1], 0);
    expect({0, 1, 2, 3, 40, 41, 42, 45, 46, 47, 5, 16}, inputs[0], bytes(40, 8), 2);
    expect({0, 1, 2, 3, 40, 41, 42, 45, 46, 47, 5, 16}, inputs[0], bytes(40, 8), 0);
    expect({8, 9, 10, 11, 0, 1, 2, 5, 6, 7, 13, 16}, inputs[1], inputs[0], 4);
    expect({60, 61, 62, 63, 60, 61, 62, 65, 66, 67, 65, 16}, bytes(60, 8), bytes(60, 8), 4);
    expect({0, 1, 2, 3, 8, 9, 10, 13, 14, 15, 5, 16}, inputs[0], inputs[1], 4);
  }
}

TEST_F(RecordingTest, TakesInQueuesThatWaitForIt) {
  const HostBytes inputs[] = {bytes(0, 16)};
  const auto recording = must(device->record(*queue, inputs, [this] {
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
  const HostBytes moved[] = {bytes(16, 16)};
  ASSERT_TRUE(recording->repeat(moved).ok());
  EXPECT_EQ(result(96), 0u);
  EXPECT_EQ(result(100), 20u);
  // Signalled anew, an event serves outside again.
  ASSERT_TRUE(queue->signal(*event).ok());
  EXPECT_TRUE(other->wait_for(*event).ok());
}

TEST_F(RecordingTest, TellsOfAQueueThatWasNotWaitedFor) {
  const auto recording = device->record(*queue, {}, [this] {
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
  EXPECT_EQ(device->record(*queue, {}, fails).status().message(), "the work went wrong");
  EXPECT_EQ(calls_of("cuStreamEndCapture"), 1);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  const auto throws = []() -> Status { throw std::runtime_error("no memory"); };
  EXPECT_THROW(must(device->record(*queue, {}, throws)), std::runtime_error);
  EXPECT_EQ(calls_of("cuStreamEndCapture"), 2);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  auto recording = record_round_trip();
  ASSERT_NE(recording, nullptr);
  const HostBytes inputs[] = {bytes(16, 16)};
  EXPECT_TRUE(recording->repeat(inputs).ok());
  EXPECT_EQ(result(96), 16u);
}

TEST_F(RecordingTest, FailsWhereTheWorkWaits) {
  const auto recording = device->record(*queue, {}, [this] {
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

TEST_F(RecordingTest, KeepsNothingFromInputsThatOverlap) {
  const auto fails = [] { return Status(StatusCode::internal, "called"); };
  const HostBytes same[] = {bytes(0, 16), bytes(0, 16)};
  const HostBytes crossed[] = {bytes(15, 16), bytes(64, 16), bytes(0, 16)};
  EXPECT_EQ(must(device->record(*queue, same, fails)), nullptr);
  EXPECT_EQ(must(device->record(*queue, crossed, fails)), nullptr);
  const HostBytes neighbours[] = {bytes(16, 16), bytes(0, 16)};
  EXPECT_FALSE(device->record(*queue, neighbours, fails).ok()) << "these can be told apart";
}

TEST_F(RecordingTest, RefusesOtherInputs) {
  const std::pair<std::vector<HostBytes>, const char*> refused[] = {
      {{}, "work recorded with 1 inputs is repeated with 0"},
      {{bytes(0, 16), bytes(16, 16)}, "work recorded with 1 inputs is repeated with 2"},
      {{bytes(0, 15)}, "input 0 of recorded work had 16 bytes and has 15 when it is repeated"},
  };
  for (const auto& [inputs, words] : refused) {
    const auto recording = record_round_trip();
    fake->calls.clear();
    const Status status = recording->repeat(inputs);
    EXPECT_EQ(status.code(), StatusCode::internal);
    EXPECT_EQ(status.message(), words);
    EXPECT_EQ(queue->wait().message(), words) << "work is missing now, so waiting fails too";
    EXPECT_TRUE(fake->calls.empty());
    queue = must(device->create_queue());
  }
}

TEST_F(RecordingTest, FailsWithItsQueueAndItsQueueWithIt) {
  const HostBytes inputs[] = {bytes(0, 16)};
  auto recording = record_round_trip();
  fake->failing_function = "cuGraphLaunch";
  fake->failure = 1;
  const Status status = recording->repeat(inputs);
  EXPECT_TRUE(contains(status.message(), "cuGraphLaunch failed with CUDA_ERROR_INVALID_VALUE (1)"));
  fake->calls.clear();
  EXPECT_EQ(queue->wait().message(), status.message());
  EXPECT_EQ(recording->repeat(inputs).message(), status.message());
  EXPECT_EQ(device->record(*queue, inputs, [] { return Status(); }).status().message(), status.message());
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
