// SPDX-License-Identifier: BSD-2-Clause-Patent
// Jobs, references that several scorers and threads share, and several metrics in one call.
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "colour/yuv.h"
#include "device/device.h"
#include "support/layouts.h"
#include "support/scoring.h"
#include "support/slow_machine.h"
#include "support/synthetic_video.h"
#include "support/vulkan_validation.h"

namespace acuity {
namespace {

using tests::Sheet;

// One of those that are left under an emulator has a step on the host in the middle.
const std::vector<MetricRequest> kAll =
    tests::kEmulatedMachine ? std::vector<MetricRequest>{"dssim", "psnr", "mse"}
                            : std::vector<MetricRequest>{"ssimulacra2", "butteraugli", "dssim", "iwssim",
                                                         "msssim",      "psnr",        "mse",   "zensim"};

// Of metrics on a device that every scorer here opens anew, which takes seconds for each metric.
const std::vector<MetricRequest> kOpenedAnew =
    tests::kSlowMachine && !tests::kEmulatedMachine ? std::vector<MetricRequest>{"ssimulacra2", "psnr"} : kAll;

Sheet drawn(int number, Channels channels = Channels::rgb, int width = 90, int height = 61) {
  return Sheet({}, width, height, channels, [=](int c, int x, int y) {
    if (c == 3) return 0.5 + 0.5 * std::sin(0.1 * x - 0.2 * y);
    const double wave = 0.5 + 0.3 * std::sin(0.2 * x + 0.1 * y * (c + 1));
    return number == 0 ? wave : std::floor(wave * (number + 8)) / (number + 8);
  });
}

std::vector<std::string> devices() { return {"cpu", "vulkan"}; }

Scorer scorer_for(const std::string& device, const std::vector<MetricRequest>& metrics = kAll, int width = 90,
                  int height = 61) {
  Result<Scorer> scorer = Scorer::create({.metrics = metrics, .device = device, .threads = 2}, width, height);
  EXPECT_TRUE(scorer.ok()) << scorer.status().message();
  return std::move(*scorer);
}

Job started(Result<Job> job) {
  EXPECT_TRUE(job.ok()) << job.status().message();
  return std::move(*job);
}

void expect_same(const Result<std::vector<Score>>& found, const Result<std::vector<Score>>& expected) {
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_EQ(found->size(), expected->size());
  for (size_t i = 0; i < found->size(); ++i) tests::expect_same((*found)[i], (*expected)[i], (*found)[i].metric);
}

double value_of(const std::string& metric, const std::vector<Score>& scores) {
  for (const Score& score : scores) {
    if (score.metric == metric) return score.value;
  }
  ADD_FAILURE() << metric << " is not among the scores";
  return 0;
}

TEST(Lifetime, AJobWaitsWhenItIsDroppedAndWhenItsScorerGoes) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  for (const std::string& device : devices()) {
    const auto expected = scorer_for(device, kOpenedAnew).score(reference.view, distorted.view);
    std::vector<Job> jobs;
    {
      Scorer scorer = scorer_for(device, kOpenedAnew);
      for (int i = 0; i < (tests::kSlowMachine ? 6 : 20); ++i) {
        Result<Job> job = scorer.start(reference.view, distorted.view);
        ASSERT_TRUE(job.ok());
        if (i % 2 == 0) jobs.push_back(std::move(*job));
      }
    }
    for (Job& job : jobs) {
      EXPECT_TRUE(job.done());
      expect_same(job.finish(), expected);
    }
  }
}

TEST(Lifetime, AReferenceOutlivesItsScorer) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  for (const std::string& device : devices()) {
    Reference prepared = *scorer_for(device, kOpenedAnew).prepare(reference.view);
    Scorer later = scorer_for(device, kOpenedAnew);
    expect_same(later.score(prepared, distorted.view), later.score(reference.view, distorted.view));
  }
}

TEST(Job, SeveralMetricsAreEachAlone) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  for (const std::string& device : devices()) {
    Scorer together = scorer_for(device);
    const Result<std::vector<Score>> scores = together.score(reference.view, distorted.view);
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    ASSERT_EQ(scores->size(), kAll.size());
    for (size_t i = 0; i < kAll.size(); ++i) {
      EXPECT_EQ((*scores)[i].metric, kAll[i].metric);
      Scorer alone = scorer_for(device, {kAll[i]});
      const auto expected = alone.score(reference.view, distorted.view);
      ASSERT_TRUE(expected.ok());
      tests::expect_same((*scores)[i], expected->front(), kAll[i].metric);
    }
  }
}

TEST(Job, AMetricMayBeAskedForTwice) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  const std::vector<MetricRequest> metrics{"mse", {"iwssim", {{"weights", "none"}}}, "iwssim", "mse"};
  const Result<std::vector<Score>> scores = scorer_for("cpu", metrics).score(reference.view, distorted.view);
  ASSERT_TRUE(scores.ok());
  EXPECT_EQ((*scores)[0].value, (*scores)[3].value);
  EXPECT_NE((*scores)[1].value, (*scores)[2].value);
}

TEST(Job, IsFinishedOnce) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  for (const std::string& device : devices()) {
    Scorer scorer = scorer_for(device);
    const auto expected = scorer.score(reference.view, distorted.view);
    Result<Job> job = scorer.start(reference.view, distorted.view);
    ASSERT_TRUE(job.ok()) << job.status().message();
    expect_same(job->finish(), expected);
    EXPECT_TRUE(job->done());
    const auto again = job->finish();
    EXPECT_EQ(again.status().code(), StatusCode::usage);
    EXPECT_EQ(again.status().message(), "finish() was called before");
    const Job kept = std::move(*job);
    EXPECT_EQ(job->finish().status().message(), "this Job was moved from; use the one it was moved to");
    EXPECT_TRUE(job->done());
    job->cancel();
  }
}

TEST(Job, CanBeCancelled) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  Scorer scorer = scorer_for("cpu");
  std::vector<Job> jobs;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back(started(scorer.start(reference.view, distorted.view)));
    jobs.back().cancel();
  }
  int cancelled = 0;
  for (Job& job : jobs) cancelled += job.finish().status().code() == StatusCode::cancelled ? 1 : 0;
  EXPECT_GT(cancelled, 0);
  EXPECT_TRUE(scorer.score(reference.view, distorted.view).ok()) << "the scorer goes on";
}

TEST(Job, TellsWhatIsWrongWithItsPictures) {
  const Sheet reference = drawn(0), other = drawn(1, Channels::rgb, 40, 40);
  for (const std::string& device : devices()) {
    Scorer scorer = scorer_for(device);
    EXPECT_EQ(scorer.start(reference.view, other.view)->finish().status().code(), StatusCode::input);
    EXPECT_EQ(scorer.start(reference.view, Input())->finish().status().message(), "the distorted Input has no picture");
    EXPECT_EQ(scorer.score(Input(), reference.view).status().code(), StatusCode::usage);
    EXPECT_EQ(scorer.score(Reference(), reference.view).status().code(), StatusCode::usage);
    EXPECT_EQ(scorer.prepare(Input()).status().code(), StatusCode::usage);
    ImageView broken = reference.view;
    broken.planes[1] = nullptr;
    EXPECT_EQ(scorer.score(reference.view, broken).status().message(), "plane 1 of the distorted view is null");
    EXPECT_EQ(Input::copy(broken).status().message(), "plane 1 of the view is null");
    const Input elsewhere = Input::on_device(reference.view, "cuda:7");
    EXPECT_EQ(scorer.score(elsewhere, reference.view).status().code(), StatusCode::usage);
    EXPECT_TRUE(scorer.score(reference.view, reference.view).ok());
  }
}

TEST(Reference, IsSharedByScorersAndThreads) {
  for (const Channels channels : {Channels::rgb, Channels::rgba}) {
    const Sheet reference = drawn(0, channels);
    const Sheet distorted[] = {drawn(1), drawn(2), drawn(3), drawn(4)};
    for (const std::string& device : devices()) {
      Scorer first = scorer_for(device), second = scorer_for(device, {"psnr", "dssim"});
      std::vector<Result<std::vector<Score>>> expected;
      for (const Sheet& sheet : distorted) expected.push_back(first.score(reference.view, sheet.view));
      Result<Reference> prepared = [&] {
        const Sheet gone = drawn(0, channels);
        return first.prepare(gone.view);
      }();
      ASSERT_TRUE(prepared.ok()) << prepared.status().message();
      EXPECT_GT(prepared->bytes(), 90 * 61 * 3);
      std::vector<std::thread> threads;
      for (size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (int i = 0; i < (tests::kSlowMachine ? 1 : 3); ++i) {
            const Reference own = *prepared;
            expect_same(first.score(own, distorted[t].view), expected[t]);
            const auto some = second.score(own, distorted[t].view);
            ASSERT_TRUE(some.ok()) << some.status().message();
            for (const Score& score : *some) EXPECT_EQ(score.value, value_of(score.metric, *expected[t]));
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  }
}

TEST(Reference, MayBeItsSamplesAlone) {
  const Sheet distorted = drawn(1);
  Reference small;
  for (const std::string& device : devices()) {
    const Sheet reference = drawn(0);
    Scorer scorer = scorer_for(device), other = scorer_for(device, {"psnr"});
    small = *scorer.prepare(reference.view, Keep::small);
    const Reference fast = *scorer.prepare(reference.view, Keep::fast);
    EXPECT_GE(small.bytes(), 90 * 61 * 3);
    EXPECT_LT(small.bytes(), fast.bytes());
    for (int i = 0; i < 2; ++i) expect_same(scorer.score(small, distorted.view), scorer.score(fast, distorted.view));
    expect_same(other.score(small, distorted.view), other.score(reference.view, distorted.view));
  }
  const Sheet reference = drawn(0);
  for (const std::string& device : devices()) {
    Scorer scorer = scorer_for(device);
    expect_same(scorer.score(small, distorted.view), scorer.score(reference.view, distorted.view));
  }
  EXPECT_EQ(scorer_for("cpu", {"mse"}, 40, 40).score(small, drawn(1, Channels::rgb, 40, 40).view).status().code(),
            StatusCode::input);
}

TEST(Reference, FitsOnlyScorersLikeItsOwn) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  const Reference prepared = *scorer_for("cpu", {"mse", "iwssim"}).prepare(reference.view);
  const auto refusal = [&](Scorer scorer, const ImageView& view) { return scorer.score(prepared, view).status(); };
  const Sheet small = drawn(1, Channels::rgb, 40, 40);
  const std::string advice = "; prepare it with this Scorer or one like it";
  EXPECT_EQ(refusal(scorer_for("cpu", {"mse"}, 40, 40), small.view).message(),
            "the reference was prepared for pictures of 90x61 pixels, not 40x40" + advice);
  EXPECT_EQ(refusal(scorer_for("vulkan", {"mse"}), distorted.view).message(),
            "the reference was prepared for another device" + advice);
  const std::string other = "the reference was prepared for other metrics or options than ";
  EXPECT_EQ(refusal(scorer_for("cpu", {"psnr"}), distorted.view).message(), other + "psnr's" + advice);
  EXPECT_EQ(refusal(scorer_for("cpu", {{"iwssim", {{"weights", "none"}}}}), distorted.view).message(),
            other + "iwssim's" + advice);
  EXPECT_TRUE(refusal(scorer_for("cpu", {"iwssim"}), distorted.view).ok());
}

TEST(Input, MayBeCopiedOrOwned) {
  const Sheet reference = drawn(0), distorted = drawn(1);
  for (const std::string& device : devices()) {
    Scorer scorer = scorer_for(device);
    const auto expected = scorer.score(reference.view, distorted.view);
    Result<HostMemory> memory = HostMemory::allocate(device, reference.memory.size());
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    ASSERT_EQ(memory->size(), reference.memory.size());
    std::copy(reference.memory.begin(), reference.memory.end(), memory->data());
    const Input owned(interleaved_view(memory->data(), 90, 61, Channels::rgb, SampleType::u8), memory->owner());
    memory = HostMemory();
    Input copied;
    {
      const Sheet gone = drawn(1);
      copied = *Input::copy(gone.view);
    }
    Result<Job> job = scorer.start(owned, copied);
    ASSERT_TRUE(job.ok());
    expect_same(job->finish(), expected);
    const Reference prepared = *scorer.prepare(owned);
    expect_same(scorer.score(prepared, copied), expected);
  }
  EXPECT_EQ(HostMemory::allocate("no such device", 10).status().code(), StatusCode::unknown_device);
}

// Where there are two: the environment names lavapipe twice.
TEST(Input, MayBeAFrame) {
  const tests::SyntheticVideo video(90, 61, 10, Subsampling::yuv420);
  const tests::OwnedFrame reference = video.reference(0), distorted = video.distorted(0);
  FrameFormat format{reference.format};
  format.colour.transfer = Transfer::pq;
  std::vector<float> planes(2 * converted_floats(format));
  float* const second = planes.data() + converted_floats(format);
  convert_frame(format, reference.view(), Threads(1), planes.data());
  convert_frame(format, distorted.view(), Threads(1), second);
  const auto expected = scorer_for("cpu").score(converted_view(format, planes.data()), converted_view(format, second));
  // On all devices at once, and twice on each.
  const Input inputs[] = {Input(reference.view(), format), Input(distorted.view(), format)};
  std::vector<Scorer> scorers;
  for (const std::string& device : devices()) {
    for (int i = 0; i < 2; ++i) scorers.push_back(scorer_for(device));
  }
  std::vector<Job> jobs;
  for (Scorer& scorer : scorers) jobs.push_back(started(scorer.start(inputs[0], inputs[1])));
  for (Job& job : jobs) expect_same(job.finish(), expected);
  for (Scorer& scorer : scorers) {
    const Result<Reference> kept = scorer.prepare(Input(reference.view(), format));
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_GT(kept->bytes(), 0);
    expect_same(scorer.score(*kept, inputs[1]), expected);
  }
}

TEST(Input, AFrameMustBeOne) {
  const tests::OwnedFrame frame = tests::SyntheticVideo(90, 61, 8, Subsampling::yuv420).reference(0);
  const FrameFormat format{frame.format};
  for (const std::string& device : devices()) {
    Scorer scorer = scorer_for(device, {"mse"});
    const auto message = [&](const FrameView& view, const FrameFormat& its_format) {
      return scorer.score(Input(frame.view(), format), Input(view, its_format)).status().message();
    };
    EXPECT_EQ(message(frame.view(), format), "");
    FrameView wrong = frame.view();
    wrong.planes[1] = nullptr;
    EXPECT_EQ(message(wrong, format), "plane 1 of the distorted frame is null or not aligned to its samples");
    wrong = frame.view();
    wrong.depth = 17;
    FrameFormat deep = format;
    deep.depth = 17;
    EXPECT_EQ(message(wrong, deep), "the distorted frame has 17 bits per sample: expected 8 to 16");
    FrameFormat other = format;
    other.subsampling = Subsampling::yuv422;
    EXPECT_EQ(message(frame.view(), other),
              "the size, depth or subsampling of the distorted frame is not that of its format");
    other = format;
    other.width = 92;
    EXPECT_EQ(message(frame.view(), other).find("the distorted picture is 92x61 pixels, but 90x61 is expected"), 0u);
  }
}

TEST(Devices, ScoreOneListTogether) {
  std::vector<std::string> ids;
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.backend == Backend::vulkan) ids.push_back(info.id);
  }
  ASSERT_GE(ids.size(), 2u) << "the test's main names lavapipe twice";
  const Sheet reference = drawn(0);
  const Sheet distorted[] = {drawn(1), drawn(2), drawn(3), drawn(4), drawn(5), drawn(6), drawn(7)};
  Scorer first = scorer_for(ids[0]), second = scorer_for(ids[1]);
  std::vector<Job> jobs;
  for (size_t i = 0; i < std::size(distorted); ++i) {
    jobs.push_back(started((i % 2 == 0 ? first : second).start(reference.view, distorted[i].view)));
  }
  Scorer alone = scorer_for("cpu");
  for (size_t i = 0; i < std::size(distorted); ++i) {
    const auto scores = jobs[i].finish();
    expect_same(scores, alone.score(reference.view, distorted[i].view));
    EXPECT_TRUE(scores->front().provenance.device.starts_with(ids[i % 2]));
  }
}

// Whoever opens lavapipe waits for its kernels to compile. It stays open from case to case, once those are done that
// depend on who holds it.
class HoldsTheDevice : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    if (test.test_suite_name() != std::string("Lifetime") && device_ == nullptr) device_ = *open_device("vulkan");
  }
  void OnTestProgramEnd(const testing::UnitTest&) override { device_.reset(); }

  std::shared_ptr<Device> device_;
};

}  // namespace
}  // namespace acuity

int main(int count, char** arguments) {
  // Two devices, both of them lavapipe.
  const char* chosen = getenv("VK_ICD_FILENAMES");  // by whoever emulates another processor
  const std::string driver = chosen != nullptr ? chosen : LAVAPIPE,
                    copy = testing::TempDir() + "acuity_second_lavapipe.json";
  std::ofstream(copy) << std::ifstream(driver).rdbuf();
  setenv("VK_ICD_FILENAMES", (driver + ":" + copy).c_str(), 1);
  testing::InitGoogleTest(&count, arguments);
  testing::UnitTest::GetInstance()->listeners().Append(new acuity::HoldsTheDevice);
  return RUN_ALL_TESTS();
}
