// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work that a device keeps, on the stand-in for CUDA's and HIP's drivers.
#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "acuity/input.h"
#include "acuity/scorer.h"
#include "base/try.h"
#include "device/device.h"
#include "device/fake_driver_test.h"

namespace acuity {

extern const KernelFile probe_kernels;

namespace {

constexpr Kernel<int> kKernel = {{&probe_kernels, "something", 32, 4}};

struct Names {
  const char* backend;
  const char* variable;
  size_t calls;  // for a replay: the launch and what makes the device current
  const char* end_capture;
  const char* instantiate;
  const char* launch;
  const char* synchronize;
  const char* invalid_value;
  // Messages.
  const char* nothing_recorded;
  const char* not_waited_for;
  const char* waits;
};
void PrintTo(const Names& names, std::ostream* out) { *out << names.backend; }
constexpr Names kCuda = {"cuda",
                         "ACUITY_CUDA_DRIVER",
                         3,
                         "cuStreamEndCapture",
                         "cuGraphInstantiateWithFlags",
                         "cuGraphLaunch",
                         "cuStreamSynchronize",
                         "CUDA_ERROR_INVALID_VALUE (1)",
                         "CUDA_ERROR_INVALID_VALUE",
                         "cuStreamEndCapture failed with CUDA_ERROR_STREAM_CAPTURE_UNJ",
                         "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"};
constexpr Names kHip = {"hip",
                        "ACUITY_HIP_DRIVER",
                        2,
                        "hipStreamEndCapture",
                        "hipGraphInstantiateWithFlags",
                        "hipGraphLaunch",
                        "hipStreamSynchronize",
                        "hipErrorInvalidValue (1)",
                        "no work is being recorded that could wait for an event outside it",
                        "the recording ended without waiting for the work of one of its queues",
                        "work that is being recorded cannot be waited for"};

class RecordingTest : public FakeDriverTest, public testing::WithParamInterface<Names> {
 protected:
  void SetUp() override { open(FAKE_DRIVER); }
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

  void open(const char* file) {
    load(GetParam().variable, file);
    device = must(open_device(GetParam().backend));
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

TEST_P(RecordingTest, DoesNothingUntilRepeatedAndThenAllOfItEachTime) {
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
    ASSERT_TRUE(recording->replay().ok());
    EXPECT_EQ(fake->calls.size(), GetParam().calls);
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

TEST_P(RecordingTest, WaitsForWhatIsSignalledOutside) {
  ASSERT_TRUE(other->signal(*event).ok());
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(queue->wait_for_outside(*event));
    ACUITY_TRY(upload(0, 0, 4));
    return download(96, 4);
  }));
  ASSERT_NE(recording, nullptr);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(other->signal(*event).ok());
    ASSERT_TRUE(recording->replay().ok());
    ASSERT_TRUE(queue->wait().ok());
    EXPECT_EQ(result(97), 1u);
  }
  EXPECT_TRUE(contains(queue->wait_for_outside(*event).message(), GetParam().nothing_recorded));
}

TEST_P(RecordingTest, RefusesToWaitAsUsualForWhatIsSignalledOutside) {
  ASSERT_TRUE(other->signal(*event).ok());
  EXPECT_FALSE(device->record(*queue, [this] { return queue->wait_for(*event); }).ok());
}

TEST_P(RecordingTest, TakesInQueuesThatWaitForIt) {
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
  ASSERT_TRUE(recording->replay().ok());
  EXPECT_EQ(result(96), 0u);
  EXPECT_EQ(result(100), 4u);
  // Signalled anew, an event serves outside again.
  ASSERT_TRUE(queue->signal(*event).ok());
  EXPECT_TRUE(other->wait_for(*event).ok());
}

TEST_P(RecordingTest, TakesInQueuesThatWaitForEachOtherInARing) {
  auto third = must(device->create_queue());
  auto passed = must(device->create_event());
  const auto recording = must(device->record(*queue, [&] {
    ACUITY_TRY(queue->signal(*event));  // before there is any work
    ACUITY_TRY(other->wait_for(*event));
    for (size_t turn = 0; turn < 2; ++turn) {
      ACUITY_TRY(other->upload(*memory, 0, *pinned, 16 * turn, 16));
      ACUITY_TRY(other->signal(*passed));
      ACUITY_TRY(third->wait_for(*passed));
      ACUITY_TRY(third->wait_for(*passed));
      ACUITY_TRY(third->clear(*memory, 4 * turn, 4));
      ACUITY_TRY(third->signal(*joined));
      ACUITY_TRY(other->wait_for(*joined));
    }
    ACUITY_TRY(queue->wait_for(*joined));
    return download(96, 16);
  }));
  ASSERT_NE(recording, nullptr);
  EXPECT_TRUE(other->wait().ok());
  EXPECT_TRUE(third->wait().ok());
  ASSERT_TRUE(recording->replay().ok());
  ASSERT_TRUE(queue->wait().ok());
  EXPECT_EQ(result(96), 16u);
  EXPECT_EQ(result(100), 0u);
  EXPECT_EQ(result(104), 24u);
}

TEST_P(RecordingTest, EveryQueueWaitsForTheOutsideOnItsOwn) {
  ASSERT_TRUE(other->signal(*event).ok());
  auto outside = must(device->create_event());
  ASSERT_TRUE(other->signal(*outside).ok());
  const auto recording = must(device->record(*queue, [&] {
    ACUITY_TRY(queue->wait_for_outside(*event));
    ACUITY_TRY(queue->wait_for_outside(*outside));
    ACUITY_TRY(queue->signal(*joined));
    ACUITY_TRY(other->wait_for(*joined));
    ACUITY_TRY(other->wait_for_outside(*event));
    ACUITY_TRY(other->upload(*memory, 0, *pinned, 0, 4));
    ACUITY_TRY(other->signal(*joined));
    ACUITY_TRY(queue->wait_for(*joined));
    return download(96, 4);
  }));
  ASSERT_NE(recording, nullptr);
  ASSERT_TRUE(recording->replay().ok());
  EXPECT_EQ(result(97), 1u);
}

TEST_P(RecordingTest, RefusesToWaitLaterForWhatIsSignalledInside) {
  const auto recording = must(device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return queue->signal(*event);
  }));
  ASSERT_NE(recording, nullptr);
  EXPECT_FALSE(other->wait_for(*event).ok());
}

TEST_P(RecordingTest, RefusesToRecordAQueueThatIsRecorded) {
  EXPECT_FALSE(
      device->record(*queue, [this] { return device->record(*queue, [] { return Status(); }).status(); }).ok());
  EXPECT_TRUE(nothing_wrong().ok());
}

TEST_P(RecordingTest, TellsOfAQueueThatWasNotWaitedFor) {
  const auto recording = device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    ACUITY_TRY(queue->signal(*event));
    ACUITY_TRY(other->wait_for(*event));
    ACUITY_TRY(other->clear(*memory, 0, 4));
    return upload(16, 0, 16);
  });
  EXPECT_EQ(recording.status().code(), StatusCode::device);
  EXPECT_TRUE(contains(recording.status().message(), GetParam().not_waited_for)) << recording.status().message();
  EXPECT_TRUE(nothing_wrong().ok());
  EXPECT_TRUE(other->wait().ok());
}

TEST_P(RecordingTest, FailsLikeItsWorkAndLeavesTheQueueUsable) {
  const auto fails = [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return Status(StatusCode::internal, "the work went wrong");
  };
  EXPECT_EQ(device->record(*queue, fails).status().message(), "the work went wrong");
  EXPECT_EQ(calls_of(GetParam().end_capture), 1);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  const auto throws = []() -> Status { throw std::runtime_error("no memory"); };
  EXPECT_THROW(must(device->record(*queue, throws)), std::runtime_error);
  EXPECT_EQ(calls_of(GetParam().end_capture), 2);
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_TRUE(nothing_wrong().ok());

  auto recording = record_round_trip();
  ASSERT_NE(recording, nullptr);
  EXPECT_TRUE(recording->replay().ok());
  EXPECT_EQ(result(97), 1u);
}

TEST_P(RecordingTest, FailsWhereTheWorkWaits) {
  const auto recording = device->record(*queue, [this] {
    ACUITY_TRY(upload(0, 0, 16));
    return queue->wait();
  });
  EXPECT_TRUE(contains(recording.status().message(), GetParam().waits));
  EXPECT_EQ(queue->wait().message(), recording.status().message()) << "a call of this queue failed";
  EXPECT_EQ(calls_of(GetParam().end_capture), 1);
}

TEST_P(RecordingTest, KeepsNothingWithoutMemoryForIt) {
  fake->failing_function = GetParam().instantiate;
  fake->failure = 2;
  expect_nothing_kept([this] { return upload(0, 16, 4); });
  EXPECT_EQ(fake->live["graph"], 0);
  EXPECT_NE(record_round_trip(), nullptr) << "once there is memory again";
}

TEST_P(RecordingTest, FailsWithItsQueueAndItsQueueWithIt) {
  auto recording = record_round_trip();
  fake->failing_function = GetParam().launch;
  fake->failure = 1;
  const Status status = recording->replay();
  EXPECT_TRUE(
      contains(status.message(), fmt::format("{} failed with {}", GetParam().launch, GetParam().invalid_value)));
  fake->calls.clear();
  EXPECT_EQ(queue->wait().message(), status.message());
  EXPECT_EQ(recording->replay().message(), status.message());
  EXPECT_EQ(device->record(*queue, [] { return Status(); }).status().message(), status.message());
  EXPECT_TRUE(fake->calls.empty());
}

TEST_P(RecordingTest, MayGoAfterItsQueue) {
  auto recording = record_round_trip();
  queue.reset();
  recording.reset();
  EXPECT_EQ(fake->live["executable graph"], 0);
}

TEST_P(RecordingTest, MetricsReplayTheirWork) {
  constexpr int kWidth = 1100, kHeight = 900;  // more than one band
  constexpr size_t kBytes = size_t{kWidth} * kHeight * 3;
  fake->free_bytes = size_t{1} << 30;
  const HostMemory pictures = must(HostMemory::allocate(GetParam().backend, 2 * kBytes));
  std::memset(pictures.data(), 100, pictures.size());
  const auto view = [&](size_t number) {
    return interleaved_view(pictures.data() + number * kBytes, kWidth, kHeight, Channels::rgb, SampleType::u8);
  };
  for (const char* metric : {"ssimulacra2", "butteraugli", "dssim"}) {
    Scorer scorer = must(Scorer::create({.metrics = {metric}, .device = GetParam().backend}, kWidth, kHeight));
    const int before = calls_of(GetParam().launch);
    // Places of samples may change at first, and each is recorded on its own.
    for (int call = 0; call < 20 && calls_of(GetParam().launch) < before + 2; ++call) {
      ASSERT_TRUE(scorer.score(view(0), view(1)).ok());
    }
    EXPECT_GE(calls_of(GetParam().launch), before + 2) << metric;
  }
}

class WithoutGraphsTest : public RecordingTest {
 protected:
  void SetUp() override { open(FAKE_OLD_DRIVER); }
};

TEST_P(WithoutGraphsTest, AnOldDriverKeepsNothing) {
  expect_nothing_kept([] { return Status(StatusCode::internal, "called"); });
}

class HipRecordingTest : public RecordingTest {};

TEST_P(HipRecordingTest, WaitsBeforeItIsDestroyed) {
  auto recording = record_round_trip();
  ASSERT_TRUE(recording->replay().ok());
  fake->calls.clear();
  recording.reset();
  const auto first = [this](const char* name) {
    return std::find_if(fake->calls.begin(), fake->calls.end(), [&](auto& call) { return call.starts_with(name); });
  };
  EXPECT_LT(first(GetParam().synchronize), first("hipGraphExecDestroy"));
}

TEST_P(HipRecordingTest, KeepsNothingWithoutAStreamForIt) {
  fake->failing_function = "hipStreamCreateWithFlags";
  fake->failure = 2;
  expect_nothing_kept([] { return Status(StatusCode::internal, "called"); });
}

const auto name = [](const auto& test) { return std::string(test.param.backend); };
INSTANTIATE_TEST_SUITE_P(Drivers, RecordingTest, testing::Values(kCuda, kHip), name);
INSTANTIATE_TEST_SUITE_P(Drivers, WithoutGraphsTest, testing::Values(kCuda, kHip), name);
INSTANTIATE_TEST_SUITE_P(Drivers, HipRecordingTest, testing::Values(kHip), name);

}  // namespace
}  // namespace acuity
