// SPDX-License-Identifier: BSD-2-Clause-Patent
// What travels to a device, counted by a stand-in for CUDA's driver. Its kernels do nothing, so scores mean nothing.
#include <atomic>
#include <cstring>
#include <future>
#include <set>
#include <vector>

#include "acuity/frame_scorer.h"
#include "acuity/input.h"
#include "acuity/scorer.h"
#include "base/large_memory.h"
#include "device/fake_driver_test.h"
#include "device/pinned.h"

namespace acuity {
namespace {

class UploadOnceTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
  }

  static constexpr int kWidth = 1100, kHeight = 900;  // more than one band
  static constexpr size_t kBytes = size_t{kWidth} * kHeight * 3;
  static inline const std::vector<MetricRequest> kFive{"ssimulacra2", "butteraugli", "dssim", "msssim", "psnr"};

  static ImageView view_of(const std::byte* pixels, int width = kWidth, int height = kHeight) {
    return interleaved_view(pixels, width, height, Channels::rgb, SampleType::u8);
  }

  /// How many bytes were sent from there.
  size_t sent_from(const std::byte* begin, size_t size) const {
    size_t sum = 0;
    for (const auto& [from, bytes] : fake->uploads) {
      const auto* place = static_cast<const std::byte*>(from);
      if (place >= begin && place < begin + size) sum += bytes;
    }
    return sum;
  }
  size_t sent() const {
    size_t sum = 0;
    for (const auto& [from, bytes] : fake->uploads) sum += bytes;
    return sum;
  }

  /// Calls until one replays what was recorded before. Threads that still send samples or let places go decide when
  /// work is first recorded, and for how many places.
  template <typename Score>
  void expect_replay(const Score& score) {
    for (int call = 0; call < 20; ++call) {
      const int recorded = calls_of("cuGraphInstantiateWithFlags"), replayed = calls_of("cuGraphLaunch");
      ASSERT_TRUE(score().ok());
      const bool records = calls_of("cuGraphInstantiateWithFlags") > recorded;
      if (!records && calls_of("cuGraphLaunch") > replayed) return;
    }
    ADD_FAILURE() << "nothing was replayed";
  }
};

TEST_F(UploadOnceTest, OneCallOfFiveMetrics) {
  for (const auto& [width, height] : {std::pair(kWidth, kHeight), std::pair(200, 190)}) {
    const size_t bytes = static_cast<size_t>(width * height * 3);
    const HostMemory memory = must(HostMemory::allocate("cuda", 2 * bytes));
    std::memset(memory.data(), 100, memory.size());
    Scorer scorer = must(Scorer::create({.metrics = kFive, .device = "cuda"}, width, height));
    for (int call = 0; call < 4; ++call) {
      fake->uploads.clear();
      const auto scores =
          scorer.score(view_of(memory.data(), width, height), view_of(memory.data() + bytes, width, height));
      ASSERT_TRUE(scores.ok()) << scores.status().message();
      EXPECT_EQ(scores->size(), kFive.size());
      EXPECT_EQ(sent_from(memory.data(), bytes), bytes) << call;
      EXPECT_EQ(sent_from(memory.data() + bytes, bytes), bytes) << call;
      if (call > 0) {
        EXPECT_EQ(sent(), 2 * bytes) << "tables are sent once";
      }
    }
  }
}

TEST_F(UploadOnceTest, OrdinaryMemoryToo) {
  std::vector<std::byte> pixels(2 * kBytes, std::byte{100});
  Scorer scorer = must(Scorer::create({.metrics = kFive, .device = "cuda"}, kWidth, kHeight));
  for (int call = 0; call < 3; ++call) {
    fake->uploads.clear();
    const auto scores = scorer.score(view_of(pixels.data()), view_of(pixels.data() + kBytes));
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    if (call > 0) {
      EXPECT_EQ(sent(), 2 * kBytes);
    }
  }
}

// Pictures stay on the device while their Inputs do; what they were sent from serves the next.
TEST_F(UploadOnceTest, PageLockedMemoryIsThatOfWhatIsInFlight) {
  for (const auto& [width, height] : {std::pair(kWidth, kHeight), std::pair(200, 190)}) {
    const size_t bytes = static_cast<size_t>(width * height * 3);
    const std::vector<std::byte> pixels(bytes, std::byte{100});
    Scorer scorer = must(Scorer::create({.metrics = {"psnr"}, .device = "cuda"}, width, height));
    const Input reference(view_of(pixels.data(), width, height));
    std::vector<Input> all;
    ASSERT_TRUE(scorer.score(reference, all.emplace_back(view_of(pixels.data(), width, height))).ok());
    const size_t before = fake->bytes["pinned"], device_before = fake->bytes["memory"];
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(scorer.score(reference, all.emplace_back(view_of(pixels.data(), width, height))).ok());
    }
    EXPECT_LT(fake->bytes["pinned"] - before, 2 * bytes);
    EXPECT_GE(fake->bytes["memory"] - device_before, 15 * bytes);
  }
}

// A job gives away nothing that a copy of another job reads: neither one that fails, nor one that needs no device.
TEST_F(UploadOnceTest, PageLockedMemoryStaysWhileACopyIsInFlight) {
  struct Other {
    int side = 0;  // small: sent on the queue of the job's metric
    MetricRequest metric;
    Transfer transfer = Transfer::srgb;  // of what it compares
    bool works = true;
  };
  for (const Other& other : {Other{190, {"zensim"}, Transfer::pq, false},
                             Other{7, {"butteraugli", {{"small", "libjxl"}}}, Transfer::srgb, true}}) {
    SCOPED_TRACE(other.metric.metric);
    const auto bytes = static_cast<size_t>(other.side * other.side * 3);
    const std::vector<std::byte> pixels(bytes, std::byte{100});
    const ImageView view = view_of(pixels.data(), other.side, other.side);
    Scorer scorer = must(Scorer::create({.metrics = {"psnr"}, .device = "cuda"}, other.side, other.side));
    Scorer beside = must(Scorer::create({.metrics = {other.metric}, .device = "cuda"}, other.side, other.side));
    ASSERT_TRUE(must(scorer.start(Input(view), Input(view))).finish().ok());  // sends what is sent once
    const Input reference(view);
    std::promise<void> is_waiting, may_go_on;
    std::atomic<bool> waits = true;
    fake->on_call = [&](const std::string& call) {
      if (call.find("Synchronize") == std::string::npos || !waits.exchange(false)) return;
      is_waiting.set_value();
      may_go_on.get_future().wait();
    };
    fake->uploads.clear();
    Job job = must(scorer.start(reference, Input(view)));
    is_waiting.get_future().wait();
    std::set<const void*> in_flight;
    for (const auto& [from, size] : fake->uploads) {
      if (size >= bytes) in_flight.insert(from);
    }
    EXPECT_EQ(in_flight.size(), 2u);
    ImageView compared = view;
    compared.colour.transfer = other.transfer;
    EXPECT_EQ(beside.score(reference, Input(compared)).ok(), other.works);
    fake->uploads.clear();
    EXPECT_TRUE(scorer.score(Input(view), Input(view)).ok());
    for (const auto& [from, size] : fake->uploads) EXPECT_FALSE(in_flight.contains(from));
    may_go_on.set_value();
    EXPECT_TRUE(job.finish().ok());
    fake->on_call = nullptr;
  }
}

TEST_F(UploadOnceTest, PageLockedOnTheSpot) {
  constexpr size_t kPieces = 3;
  std::vector<std::shared_ptr<std::byte[]>> pictures;
  for (size_t i = 0; i < kPieces; ++i) {
    pictures.emplace_back(allocate_large(kBytes), free_large);
    std::memset(pictures[i].get(), 100, kBytes);
  }
  Scorer scorer = must(Scorer::create({.metrics = kFive, .device = "cuda"}, kWidth, kHeight));
  const std::shared_ptr<Device> device = must(open_device("cuda"));
  std::vector<std::byte> ordinary(kBytes);
  lock_samples(device, ordinary.data());
  EXPECT_EQ(fake->live["locked"], 0) << "other things may lie on its pages";
  for (int times = 0; times < 2; ++times) {
    lock_samples(device, pictures[0].get() + 5);
    lock_samples(device, pictures[1].get());
  }
  EXPECT_EQ(fake->live["locked"], 2);

  fake->failing_function = "cuMemHostRegister";
  fake->failure = 1;
  lock_samples(device, pictures[2].get());
  EXPECT_EQ(fake->live["locked"], 2) << "refused, and then it is copied";
  for (size_t i = 1; i < kPieces; ++i) {
    fake->uploads.clear();
    const Input reference(view_of(pictures[0].get()), pictures[0]), other(view_of(pictures[i].get()), pictures[i]);
    ASSERT_TRUE(scorer.score(reference, other).ok());
    EXPECT_EQ(sent_from(pictures[0].get(), kBytes), kBytes);
    EXPECT_EQ(sent_from(pictures[i].get(), kBytes), i == 1 ? kBytes : 0u);
  }
  // The samples stay there after their memory is gone, which may not be page-locked any more then.
  Reference kept = must(scorer.prepare(view_of(pictures[0].get())));
  pictures.clear();
  EXPECT_EQ(fake->live["locked"], 0);
}

TEST_F(UploadOnceTest, AnInputStaysWhereItIs) {
  std::vector<std::byte> pixels(3 * kBytes, std::byte{100});
  const Input inputs[] = {view_of(pixels.data()), view_of(pixels.data() + kBytes), view_of(pixels.data() + 2 * kBytes)};
  Scorer first = must(Scorer::create({.metrics = kFive, .device = "cuda"}, kWidth, kHeight));
  Scorer second = must(Scorer::create({.metrics = {"psnr"}, .device = "cuda:0"}, kWidth, kHeight));
  ASSERT_TRUE(first.score(inputs[0], inputs[1]).ok());
  ASSERT_TRUE(second.score(inputs[1], inputs[0]).ok());
  fake->uploads.clear();
  ASSERT_TRUE(first.score(inputs[0], inputs[1]).ok());
  const Reference reference = must(first.prepare(inputs[0]));
  EXPECT_EQ(sent(), 0u);
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(must(first.start(reference, inputs[2])));
  for (Job& job : jobs) EXPECT_TRUE(job.finish().ok());
  EXPECT_GE(sent(), kBytes);
  EXPECT_LT(sent(), kBytes + kBytes / 4) << "more than what further jobs need for themselves";
}

TEST_F(UploadOnceTest, EachDeviceGetsItOnce) {
  std::vector<std::byte> pixels(2 * kBytes, std::byte{100});
  const Input inputs[] = {view_of(pixels.data()), view_of(pixels.data() + kBytes)};
  Scorer first = must(Scorer::create({.metrics = {"psnr"}, .device = "cuda:0"}, kWidth, kHeight));
  Scorer second = must(Scorer::create({.metrics = {"psnr"}, .device = "cuda:1"}, kWidth, kHeight));
  fake->uploads.clear();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(first.score(inputs[0], inputs[1]).ok());
    ASSERT_TRUE(second.score(inputs[0], inputs[1]).ok());
  }
  const size_t tables = 4 * 256 * sizeof(float);
  EXPECT_EQ(sent(), 4 * kBytes + tables);
}

TEST_F(UploadOnceTest, APictureThatCouldNotBeSentIsSentAnew) {
  std::vector<std::byte> pixels(2 * kBytes, std::byte{100});
  const Input inputs[] = {view_of(pixels.data()), view_of(pixels.data() + kBytes)};
  Scorer scorer =
      must(Scorer::create({.metrics = {"psnr"}, .device = "cuda", .memory = MemoryMode::full()}, kWidth, kHeight));
  ASSERT_TRUE(scorer.score(view_of(pixels.data()), view_of(pixels.data())).ok());
  fake->failing_function = "cuMemcpyHtoDAsync_v2";
  fake->failure = 2;
  EXPECT_FALSE(scorer.score(inputs[0], inputs[1]).ok());
  fake->uploads.clear();
  const auto scores = scorer.score(inputs[0], inputs[1]);
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(sent(), 2 * kBytes + 2 * 256 * sizeof(float)) << "with the tables of a new slot";
}

TEST_F(UploadOnceTest, WorkOnPicturesInTheSamePlacesIsRecorded) {
  constexpr int kLargeWidth = 2600, kLargeHeight = 2000;  // several bands for every metric
  constexpr size_t kLargeBytes = size_t{kLargeWidth} * kLargeHeight * 3;
  const HostMemory memory = must(HostMemory::allocate("cuda", 2 * kLargeBytes));
  std::memset(memory.data(), 100, memory.size());
  const ImageView first = view_of(memory.data(), kLargeWidth, kLargeHeight),
                  second = view_of(memory.data() + kLargeBytes, kLargeWidth, kLargeHeight);
  for (const char* metric :
       {"ssimulacra2", "butteraugli", "cvvdp", "dssim", "iwssim", "msssim", "zensim", "psnr", "mse"}) {
    SCOPED_TRACE(metric);
    Scorer scorer = must(Scorer::create({.metrics = {metric}, .device = "cuda"}, kLargeWidth, kLargeHeight));
    expect_replay([&] { return scorer.score(first, second); });
    expect_replay([&] { return scorer.score(second, first); });
    for (const Keep keep : {Keep::fast, Keep::small}) {
      const Reference reference = must(scorer.prepare(first, keep));
      expect_replay([&] { return scorer.score(reference, second); });
    }
  }
}

TEST_F(UploadOnceTest, WorkOnPicturesInDeviceMemoryIsReplayedInTheSamePlaceOnly) {
  constexpr size_t kPixels = size_t{kWidth} * kHeight;
  Scorer scorer = must(Scorer::create({.metrics = {"dssim"}, .device = "cuda"}, kWidth, kHeight));
  // Planes of codes, of which pixels are made first.
  const auto picture_at = [&](size_t number) {
    const auto* address = reinterpret_cast<const std::byte*>((uintptr_t{1} << 20) + number * 4 * kPixels);
    ImageView view = view_of(address);
    view.planes = {address, address + kPixels, address + 2 * kPixels};
    view.pixel_stride = 1;
    view.row_stride = kWidth;
    return Input::on_device(view, "cuda");
  };
  expect_replay([&] { return scorer.score(picture_at(0), picture_at(1)); });
  const int launches = calls_of("cuGraphLaunch");
  ASSERT_TRUE(scorer.score(picture_at(0), picture_at(2)).ok());
  EXPECT_EQ(calls_of("cuGraphLaunch"), launches);
}

TEST_F(UploadOnceTest, FramesTravelAsTheyAreStored) {
  FrameFormat format{{.width = 1280, .height = 1100}};
  constexpr size_t kLuma = size_t{1280} * 1100, kFrame = kLuma * 3 / 2;
  const HostMemory memory = must(HostMemory::allocate("cuda", 2 * kFrame));
  std::memset(memory.data(), 100, memory.size());
  std::vector<std::byte> ordinary(memory.size(), std::byte{100});
  const auto frame_at = [&](const std::byte* samples) {
    FrameView view{format};
    view.planes = {samples, samples + kLuma, samples + kLuma * 5 / 4};
    view.row_strides = {1280, 640, 640};
    return Input(view, format);
  };
  {
    Scorer scorer = must(Scorer::create({.metrics = kFive, .device = "cuda"}, format.width, format.height));
    for (const std::byte* from : {memory.data(), ordinary.data()}) {
      for (int call = 0; call < 3; ++call) {
        fake->uploads.clear();
        const auto scores = scorer.score(frame_at(from), frame_at(from + kFrame));
        ASSERT_TRUE(scores.ok()) << scores.status().message();
        if (from == memory.data()) {
          EXPECT_EQ(sent_from(memory.data(), memory.size()), 2 * kFrame);
        }
        if (call > 0) {
          EXPECT_EQ(sent(), 2 * kFrame);
        }
      }
    }
  }  // waits for threads that still let frames go, whose places would be taken by some calls and not by others
  // What is recorded is done again for frames of the same kind alone.
  Scorer alone = must(Scorer::create({.metrics = {"ssimulacra2"}, .device = "cuda"}, format.width, format.height));
  const auto score = [&] { return alone.score(frame_at(memory.data()), frame_at(memory.data() + kFrame)); };
  expect_replay(score);
  const int launches = calls_of("cuGraphLaunch");
  format.siting = Siting::centre;
  ASSERT_TRUE(score().ok());
  EXPECT_EQ(calls_of("cuGraphLaunch"), launches);
  format.siting = Siting::left;
  expect_replay(score);
}

TEST_F(UploadOnceTest, FramesTravelOnceForMetricsOfPicturesAndOfFrames) {
  const FrameFormat format{{.width = 1280, .height = 1100}};
  constexpr size_t kLuma = size_t{1280} * 1100, kFrame = kLuma * 3 / 2;
  const auto samples = std::make_shared<std::vector<std::byte>>(2 * kFrame, std::byte{100});
  const auto frame_at = [&](size_t offset) {
    FrameView view{format};
    const std::byte* first = samples->data() + offset;
    view.planes = {first, first + kLuma, first + kLuma * 5 / 4};
    view.row_strides = {1280, 640, 640};
    view.owner = samples;
    return Input(view, format);
  };
  Scorer pictures = must(Scorer::create({.metrics = kFive, .device = "cuda"}, format.width, format.height));
  const auto scorer_of = [&](const std::string& chroma) {
    return must(FrameScorer::create(
        {.metrics = {{"psnr_yuv", {{"enable_chroma", chroma}}}}, .format = format, .device = "cuda"}));
  };
  ASSERT_TRUE(pictures.score(frame_at(0), frame_at(kFrame)).ok());  // sends tables
  FrameScorer frames = scorer_of("true");
  for (int i = 0; i < 9; ++i) {
    fake->uploads.clear();
    const Input reference = frame_at(0), distorted = frame_at(kFrame);
    ASSERT_TRUE(frames.push(reference, distorted).ok());
    ASSERT_TRUE(pictures.score(reference, distorted).ok());
    EXPECT_EQ(sent(), 2 * kFrame) << i;
  }
  EXPECT_TRUE(frames.finish().ok());
  fake->uploads.clear();
  FrameScorer luma = scorer_of("false");
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(luma.push(frame_at(0), frame_at(kFrame)).ok());
  EXPECT_TRUE(luma.finish().ok());
  EXPECT_EQ(sent(), 9 * 2 * kLuma) << "nobody looks at colour";
  EXPECT_EQ(scorer_of("true").push(Input(view_of(samples->data())), frame_at(0)).message(),
            "the reference Input is not a frame; make it from a FrameView");
}

// Addresses of a device are given as they are, so only their layout can be checked.
TEST_F(UploadOnceTest, PicturesInDeviceMemoryMustLieAsKernelsCount) {
  Scorer scorer = must(Scorer::create({.metrics = {"mse"}, .device = "cuda"}, 8, 8));
  auto* const address = reinterpret_cast<const std::byte*>(uintptr_t{1} << 20);
  const ImageView sound = view_of(address, 8, 8);
  const auto scored = [&](const ImageView& view, const std::string& device = "cuda:0") {
    return scorer.score(Input::on_device(sound, "cuda"), Input::on_device(view, device)).status();
  };
  EXPECT_TRUE(scored(sound).ok()) << scored(sound).message();
  const std::string uneven =
      "the channels of a picture in device memory must lie at equal distances, and its samples within 2^31 of each "
      "other";
  ImageView view = sound;
  view.planes[2] = address + 64;
  EXPECT_EQ(scored(view).message(), uneven);
  for (const ptrdiff_t distance : {ptrdiff_t{1} << 31, ptrdiff_t{1} << 61}) {
    view = sound;
    view.planes = {address, address + distance, address + 2 * distance};
    EXPECT_EQ(scored(view).message(), uneven) << distance;
  }
  view = sound;
  view.row_stride = ptrdiff_t{1} << 29;
  EXPECT_EQ(scored(view).message(), uneven);
  view.row_stride = 0;
  EXPECT_EQ(scored(view).code(), StatusCode::usage);
  view = sound;
  view.planes[0] = nullptr;
  EXPECT_EQ(scored(view).message(), "plane 0 of the distorted view is null");
  view = sound;
  view.height = 7;
  EXPECT_EQ(scored(view).code(), StatusCode::input);
  EXPECT_EQ(scored(sound, "cuda:1").message(),
            "the distorted picture is in memory of cuda:1, but this Scorer runs on cuda:0");
  EXPECT_EQ(scored(sound, "").code(), StatusCode::usage) << "no device";
}

// What kernels make of them is compared by cross_backend.
TEST_F(UploadOnceTest, FramesInDeviceMemoryTravelNowhereAndAreReleased) {
  constexpr int kSide = 256;
  for (const int depth : {8, 10}) {
    const FrameFormat format{{.width = kSide, .height = kSide, .depth = depth}};
    int held = 0;
    const auto surface = [&](const std::string& device) {
      FrameView view{format};
      const uintptr_t address = uintptr_t{1} << 20;
      view.planes = {reinterpret_cast<const std::byte*>(address),
                     reinterpret_cast<const std::byte*>(address + 512 * kSide)};
      view.row_strides = {512, 512};
      ++held;
      view.owner =
          std::shared_ptr<const void>(&held, [](const void* count) { --*static_cast<int*>(const_cast<void*>(count)); });
      return Input::on_device(view, format, {.chroma_pairs = true, .high_bits = true}, device);
    };
    FrameScorer frames = must(FrameScorer::create(
        {.metrics = {{"psnr_yuv"}, {"motion"}}, .format = format, .device = "cuda", .frames_in_flight = 3}));
    Scorer pictures = must(Scorer::create({.metrics = kFive, .device = "cuda"}, kSide, kSide));
    ASSERT_TRUE(pictures.score(surface("cuda:0"), surface("cuda")).ok());  // sends tables
    fake->uploads.clear();
    for (int i = 0; i < 9; ++i) {
      const Input reference = surface("cuda"), distorted = surface("cuda:0");
      const Status pushed = frames.push(reference, distorted);
      ASSERT_TRUE(pushed.ok()) << pushed.message();
      ASSERT_TRUE(pictures.score(reference, distorted).ok());
      EXPECT_LE(held, 2 * 9) << "those in flight, and those before them that windows contain";
    }
    EXPECT_EQ(sent(), 0u);
    const Status elsewhere = frames.push(surface("cuda:0"), surface("cuda:1"));
    EXPECT_EQ(elsewhere.message(), "the distorted frame 9 is in memory of cuda:1, but this Scorer runs on cuda:0");
    EXPECT_EQ(pictures.score(surface("cuda:1"), surface("cuda:0")).status().message(),
              "the reference picture is in memory of cuda:1, but this Scorer runs on cuda:0");
    (void)frames.finish();
    FrameScorer on_cpu = must(FrameScorer::create({.metrics = {{"psnr_yuv"}}, .format = format, .device = "cpu"}));
    EXPECT_EQ(on_cpu.push(surface("cuda:0"), surface("cuda:0")).message(),
              "the reference frame 0 is in memory of cuda:0, but this Scorer runs on cpu");
    frames = must(FrameScorer::create({.metrics = {{"psnr_yuv"}}, .format = format, .device = "cuda"}));
    EXPECT_EQ(held, 0);
  }
}

TEST_F(UploadOnceTest, FramesMustBeSmallEnoughForKernels) {
  const auto scorer_for = [](int width, int height) {
    const FrameFormat format{{.width = width, .height = height, .subsampling = Subsampling::yuv444}};
    return FrameScorer::create({.metrics = {{"psnr_yuv"}}, .format = format, .device = "cuda"});
  };
  const Status refused = scorer_for(16384, 8193).status();
  EXPECT_EQ(refused.code(), StatusCode::too_big);
  EXPECT_EQ(refused.message(),
            "16384x8193 pixels are more than the 134217728 that GPUs can number; use the device cpu");
  // Few pixels in rows far apart.
  FrameScorer scorer = must(scorer_for(16, 1 << 20));
  const std::byte nothing{};
  FrameView frame{{.width = 16, .height = 1 << 20, .subsampling = Subsampling::yuv444}};
  frame.planes = {&nothing, &nothing, &nothing};
  frame.row_strides = {1040, 1040, 1040};
  frame.owner = std::make_shared<int>();
  const Status far = scorer.push(frame, frame);
  EXPECT_EQ(far.code(), StatusCode::too_big) << far.message();
  EXPECT_TRUE(contains(far.message(), "2147483647")) << far.message();
}

}  // namespace
}  // namespace acuity
