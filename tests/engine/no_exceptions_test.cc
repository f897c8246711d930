// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory of the host that runs out inside public functions, at one allocation after the other: none of them throws.
// What they return is right or states a failure.
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/capability.h"
#include "acuity/frame_scorer.h"
#include "acuity/picture.h"
#include "acuity/plan.h"
#include "acuity/schedule.h"
#include "acuity/scorer.h"
#include "support/fixtures.h"
#include "support/layouts.h"

namespace {

// Allocations of this thread; negative: none fails.
thread_local int64_t before_failure = -1;
thread_local bool fails_once = true;
thread_local int64_t allocations = 0;
// One of any thread; negative: none fails.
std::atomic<int64_t> before_failure_anywhere = -1;

bool fails_now() {
  ++allocations;
  if (before_failure_anywhere >= 0 && before_failure_anywhere-- == 0) return true;
  if (before_failure < 0) return false;
  if (before_failure > 0) {
    --before_failure;
    return false;
  }
  if (fails_once) before_failure = -1;
  return true;
}

}  // namespace

// Not inlined: g++ would find that what new returns goes to free().
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (fails_now()) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace acuity {
namespace {

// Calls it with every allocation failing, that one only or all from it on. `call` returns the status, ok if it has
// none. Returns how many calls failed.
int fail_everywhere(const std::function<Status()>& call) {
  allocations = 0;
  EXPECT_EQ(call().code(), StatusCode::ok);
  EXPECT_EQ(call().code(), StatusCode::ok);  // now with everything there that is made once
  allocations = 0;
  EXPECT_EQ(call().code(), StatusCode::ok);
  const int64_t all = allocations;
  int failed = 0;
  for (const bool once : {true, false}) {
    for (int64_t failing = 0; failing < all; ++failing) {
      SCOPED_TRACE(failing);
      fails_once = once;
      before_failure = failing;
      Status status;
      bool has_thrown = false;
      try {
        status = call();
      } catch (...) {
        has_thrown = true;
      }
      before_failure = -1;
      EXPECT_FALSE(has_thrown);
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
        ++failed;
      }
    }
  }
  return failed;
}

// First of all, while nothing is there that is made once.
TEST(NoExceptions, OfTheFirstLargeMemory) {
  for (int64_t failing = 0; failing < 8; ++failing) {
    before_failure = failing;
    const StatusCode code = HostMemory::allocate("cpu", size_t{1} << 20).status().code();
    before_failure = -1;
    EXPECT_TRUE(code == StatusCode::ok || code == StatusCode::out_of_memory);
  }
}

class NoExceptionsTest : public testing::Test {
 protected:
  const tests::Sheet sheet_{{}, 16, 16, Channels::rgb, [](int x, int y, int c) { return (x + y + c) % 7 / 7.0; }};
};

TEST_F(NoExceptionsTest, OfAScorer) {
  const ScorerOptions options{.metrics = {"mse"}, .device = "cpu", .threads = 1};
  EXPECT_GT(fail_everywhere([&] { return Scorer::create(options, 16, 16).status(); }), 10);
  Result<Scorer> scorer = Scorer::create(options, 16, 16);
  ASSERT_TRUE(scorer.ok());
  const Input picture(sheet_.view);  // one that finds no memory has no picture, which is another status
  EXPECT_GT(fail_everywhere([&] { return scorer->score(picture, picture).status(); }), 10);
  EXPECT_GT(fail_everywhere([&] { return scorer->prepare(picture).status(); }), 2);
  EXPECT_GT(fail_everywhere([&] { return plan_memory(options, 64, 64).status(); }), 10);
  EXPECT_GT(fail_everywhere([&] { return Input::copy(sheet_.view).status(); }), 1);
  EXPECT_GT(fail_everywhere([&] { return HostMemory::allocate("cpu", 4096).status(); }), 1);
}

// What was kept of a picture or a frame is all there, or the call that keeps it fails.
TEST_F(NoExceptionsTest, OfWhatIsKept) {
  const std::vector<std::byte> samples(16 * 16 * 3 / 2);
  FrameView view;
  view.width = view.height = 16;
  view.planes = {samples.data(), samples.data() + 256, samples.data() + 320};
  view.row_strides = {16, 8, 8};
  const Input picture(sheet_.view), frame(view, FrameFormat{{.width = 16, .height = 16}});
  for (const char* metric : {"mse", "zensim", "cvvdp"}) {
    const ScorerOptions options{.metrics = {metric}, .device = "cpu", .threads = 1};
    Result<Scorer> scorer = Scorer::create(options, 16, 16);
    ASSERT_TRUE(scorer.ok());
    for (const Input& input : {picture, frame}) {
      for (const Keep keep : {Keep::fast, Keep::small}) {
        EXPECT_GT(fail_everywhere([&] {
                    const Result<Reference> reference = scorer->prepare(input, keep);
                    return reference.ok() ? scorer->score(*reference, input).status() : reference.status();
                  }),
                  2)
            << metric;
      }
    }
  }
  EXPECT_GT(fail_everywhere([&] {
              const Result<Input> copy = Input::copy(sheet_.view);
              EXPECT_TRUE(!copy.ok() || copy->has_picture());
              return copy.status();
            }),
            2);
}

TEST_F(NoExceptionsTest, OfAFrameScorer) {
  const FrameScorerOptions options{
      .metrics = {{"motion"}}, .format = FrameFormat{{.width = 16, .height = 16}}, .device = "cpu", .threads = 1};
  const std::vector<std::byte> samples(16 * 16 * 3 / 2);
  FrameView frame;
  frame.width = frame.height = 16;
  frame.planes = {samples.data(), samples.data() + 256, samples.data() + 320};
  frame.row_strides = {16, 8, 8};
  const Input input(frame, options.format);
  EXPECT_GT(fail_everywhere([&] { return FrameScorer::create(options).status(); }), 10);
  EXPECT_GT(fail_everywhere([&] {
              Result<FrameScorer> scorer = FrameScorer::create(options);
              if (!scorer.ok()) return scorer.status();
              Status status = scorer->push(input, input);
              if (status.ok()) status = scorer->push(input, input);
              if (status.ok()) status = scorer->score_at(0).status();
              if (status.ok()) status = scorer->finish().status();
              return status;
            }),
            10);
  Result<FrameScorer> scorer = FrameScorer::create(options);
  ASSERT_TRUE(scorer.ok());
  EXPECT_EQ(fail_everywhere([&] {
              (void)scorer->output_names(0);
              return Status();
            }),
            0);
}

// Frames that are pushed although memory ran out in a call before, on this thread or another: no call waits for ever,
// and no frame gets the values of another.
TEST_F(NoExceptionsTest, AFrameScorerDoesNotGoOnWithHalfAFrame) {
  constexpr int kFrames = 6;
  const FrameFormat format{{.width = 16, .height = 16, .subsampling = Subsampling::grey}};
  std::array<std::vector<std::byte>, kFrames + 1> samples;
  for (size_t i = 0; i < samples.size(); ++i) samples[i].assign(256, static_cast<std::byte>(100 + i * i));
  const auto frame = [&](size_t i) {
    FrameView view{format};
    view.planes = {samples[i].data()};
    view.row_strides = {16};
    return view;
  };
  for (const int threads : {1, 3}) {
    std::array<double, kFrames> values{};
    // Whether all went well. Creating it is another test's.
    const auto score_all = [&](bool is_first) {
      const int64_t failing = before_failure_anywhere.exchange(-1);
      std::array<int, kFrames> delivered{};
      FrameScorerOptions options{.metrics = {{"psnr_yuv"}}, .format = format, .device = "cpu", .threads = threads};
      options.on_scores = [&](const FrameValues& found) {
        ASSERT_TRUE(found.number >= 0 && found.number < kFrames) << found.number;
        const auto number = static_cast<size_t>(found.number);
        ++delivered[number];
        if (is_first) values[number] = found.values[0];
        EXPECT_EQ(found.values[0], values[number]) << number;
      };
      Result<FrameScorer> scorer = FrameScorer::create(options);
      EXPECT_TRUE(scorer.ok()) << scorer.status().message();
      if (!scorer.ok()) return false;
      before_failure_anywhere = failing;
      std::array<bool, kFrames> pushed{};
      for (size_t i = 0; i < kFrames; ++i) {
        pushed[i] = scorer->push(frame(i), frame(i + 1), static_cast<int64_t>(i)).ok();
      }
      const bool finished = scorer->finish().ok();
      const bool found = scorer->score_at(kFrames - 1).ok();
      for (size_t i = 0; i < kFrames; ++i) {
        EXPECT_LE(delivered[i], 1) << i;
        EXPECT_TRUE(!finished || delivered[i] == (pushed[i] ? 1 : 0)) << i;
      }
      return finished && found;
    };
    EXPECT_TRUE(score_all(true));
    for (int64_t failing = 0; failing < 1000; ++failing) {
      SCOPED_TRACE(failing);
      before_failure_anywhere = failing;
      const bool all_went_well = score_all(false);
      const bool none_failed = before_failure_anywhere.exchange(-1) >= 0;
      if (none_failed) {
        EXPECT_TRUE(all_went_well);
        break;
      }
    }
  }
}

TEST_F(NoExceptionsTest, OfReadingPictures) {
  const std::string path = tests::tests_folder() + "/data/gradient.png";
  EXPECT_GT(fail_everywhere([&] { return read_picture(path).status(); }), 2);
  const std::string text = "P6 2 1 255\n123456";
  EXPECT_GT(fail_everywhere([&] {
              return decode_picture({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "text").status();
            }),
            2);
}

TEST_F(NoExceptionsTest, OfLists) {
  EXPECT_EQ(fail_everywhere([] {
              (void)metrics();
              (void)find_metric("mse");
              (void)meaning("ssimulacra2", 70);
              (void)capability_path();
              return Status();
            }),
            0);
}

TEST_F(NoExceptionsTest, OfAScheduler) {
  const SchedulerOptions options{
      .metrics = {"mse"}, .devices = {"cpu"}, .memory_limit_bytes = int64_t{64} << 20, .threads = 1};
  EXPECT_GT(fail_everywhere([&] { return Scheduler::create(options).status(); }), 10);
  Result<Scheduler> scheduler = Scheduler::create(options);
  ASSERT_TRUE(scheduler.ok());
  EXPECT_EQ(fail_everywhere([&] {
              (void)scheduler->statistics();
              (void)scheduler->devices();
              return Status();
            }),
            0);
}

}  // namespace
}  // namespace acuity
