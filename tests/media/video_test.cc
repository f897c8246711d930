// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/meaning.h"
#include "media/video.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <thread>

#include <gtest/gtest.h>

#include "media/frame_queue.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

// Must outlive the stream, which reads from it.
Result<std::unique_ptr<FrameStream>> open(std::string& content, const VideoOptions& options = {}) {
  return open_video(fmemopen(content.data(), content.size(), "rb"), "test", options);
}

std::string error_of(std::string content, const VideoOptions& options = {}) {
  auto stream = open(content, options);
  if (!stream.ok()) return stream.status().message();
  VideoFrame frame;
  for (;;) {
    const Result<bool> more = (*stream)->next(frame);
    if (!more.ok()) return more.status().message();
    if (!*more) return "";
  }
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float sample(const ImageView& view, size_t channel, int x, int y) {
  float value;
  std::memcpy(&value, view.planes[channel] + y * view.row_stride + x * view.pixel_stride, sizeof value);
  return value;
}

// Written anew from the definitions: bilinear between the places of the samples, then the textbook equations.
class Expectation {
 public:
  Expectation(const VideoFormat& format, const VideoFrame& frame) : format_(format), frame_(frame) {}

  double channel(size_t c, int x, int y) const {
    const double step = std::pow(2, format_.depth - 8);
    const double most = std::pow(2, format_.depth) - 1;
    const double light = format_.full_range ? at(0, x, y) / most : (at(0, x, y) - 16 * step) / (219 * step);
    if (format_.subsampling == Subsampling::grey) return clip(light);
    const double red = format_.matrix == Matrix::bt601 ? 0.299 : 0.2126;
    const double blue = format_.matrix == Matrix::bt601 ? 0.114 : 0.0722;
    const double span = format_.full_range ? most : 224 * step;
    const double cb = (colour(1, x, y) - 128 * step) / span;
    const double cr = (colour(2, x, y) - 128 * step) / span;
    const double r = light + 2 * (1 - red) * cr;
    const double b = light + 2 * (1 - blue) * cb;
    return clip(c == 0 ? r : c == 2 ? b : (light - red * r - blue * b) / (1 - red - blue));
  }

 private:
  static double clip(double value) { return std::min(std::max(value, 0.0), 1.0); }

  double at(int plane, int x, int y) const {
    const int width = plane == 0 ? format_.width : format_.chroma_width();
    size_t place = static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
    const size_t luma = static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height);
    const size_t chroma = static_cast<size_t>(format_.chroma_width()) * static_cast<size_t>(format_.chroma_height());
    if (plane > 0) place += luma + (plane == 2 ? chroma : 0);
    if (format_.depth == 8) return frame_.samples[place];
    return frame_.samples[2 * place] + 256 * frame_.samples[2 * place + 1];
  }

  double colour(int plane, int x, int y) const {
    const bool narrow = format_.subsampling != Subsampling::yuv444;
    const bool low = format_.subsampling == Subsampling::yuv420;
    const double across = narrow ? (x - (format_.siting == Siting::centre ? 0.5 : 0)) / 2 : x;
    const double down = low ? (y - (format_.siting == Siting::top_left ? 0 : 0.5)) / 2 : y;
    const auto column = [&](int i) { return std::clamp(i, 0, format_.chroma_width() - 1); };
    const auto row = [&](int i) { return std::clamp(i, 0, format_.chroma_height() - 1); };
    const int left = static_cast<int>(std::floor(across));
    const int top = static_cast<int>(std::floor(down));
    const double u = across - left;
    const double v = down - top;
    return (1 - v) * ((1 - u) * at(plane, column(left), row(top)) + u * at(plane, column(left + 1), row(top))) +
           v * ((1 - u) * at(plane, column(left), row(top + 1)) + u * at(plane, column(left + 1), row(top + 1)));
  }

  const VideoFormat& format_;
  const VideoFrame& frame_;
};

void settle(FrameStream& stream, const SampleOptions& options = {}) {
  const Result<VideoFormat> settled = settle_meaning({"test", stream.format()}, options);
  ASSERT_TRUE(settled.ok()) << settled.status().message();
  stream.settle(*settled);
}

void expect_conversion(const Drawing& drawing, const SampleOptions& options = {}) {
  std::string content = draw_y4m(drawing);
  auto stream = open(content);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  settle(**stream, options);
  VideoFrame frame;
  const Result<bool> more = (*stream)->next(frame);
  ASSERT_TRUE(more.ok() && *more) << more.status().message();
  FrameConverter one;
  FrameConverter two;
  const ImageView view = one((*stream)->format(), frame, Threads(1));
  const ImageView again = two((*stream)->format(), frame, Threads(2));
  const Expectation expected((*stream)->format(), frame);
  for (size_t c = 0; c < static_cast<size_t>(view.channel_count()); ++c) {
    for (int y = 0; y < view.height; ++y) {
      for (int x = 0; x < view.width; ++x) {
        ASSERT_NEAR(sample(view, c, x, y), expected.channel(c, x, y), 1e-6)
            << drawing.tag << " channel " << c << " at " << x << ", " << y;
        ASSERT_EQ(sample(view, c, x, y), sample(again, c, x, y));
      }
    }
  }
}

TEST(Y4m, EveryKindOfSamplesBecomesTheRightRgb) {
  for (const char* tag : {"420jpeg", "420mpeg2", "420paldv", "420", "420p9", "420p10", "420p12", "420p14", "420p16",
                          "422", "422p10", "444", "444p12", "mono", "mono9", "mono16"}) {
    expect_conversion({.width = 21, .height = 13, .tag = tag});
    expect_conversion({.width = 20, .height = 36, .tag = tag, .extra = " XCOLORRANGE=FULL"});
  }
  expect_conversion({.width = 1, .height = 1});
  expect_conversion({.tag = "422"}, {{.matrix = Matrix::bt709, .siting = Siting::centre}});
}

TEST(Y4m, TheHeaderIsReadAndWhatItLeavesOpenIsRecorded) {
  std::string content = draw_y4m({.frames = 5, .tag = "420mpeg2", .rate = "30000:1001"});
  auto stream = open(content);
  ASSERT_TRUE(stream.ok());
  const Says& says = (*stream)->format().says;
  EXPECT_TRUE(says.siting);
  EXPECT_FALSE(says.range || says.matrix || says.primaries || says.transfer);
  settle(**stream);
  const VideoFormat& format = (*stream)->format();
  EXPECT_EQ(format.siting, Siting::left);
  EXPECT_EQ(format.rate.numerator, 30000);
  EXPECT_EQ(format.rate.denominator, 1001);
  EXPECT_EQ(format.frames, 5);
  EXPECT_EQ(format.matrix, Matrix::bt601);
  EXPECT_EQ(format.assumed, (std::vector<std::string>{"limited range", "matrix bt601", "BT.709 primaries", "BT.1886"}));
  VideoFrame frame;
  for (int64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(*(*stream)->next(frame));
    EXPECT_EQ(frame.index, i);
    EXPECT_DOUBLE_EQ(*frame.time, static_cast<double>(i) * 1001 / 30000);
  }
  EXPECT_FALSE(*(*stream)->next(frame));
}

TEST(Y4m, FrameLinesMayHaveParameters) {
  std::string content = "YUV4MPEG2 W1 H1 Cmono\nFRAME Ip XSOMETHING\n\x40";
  auto stream = open(content);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  VideoFrame frame;
  EXPECT_TRUE(*(*stream)->next(frame));
  EXPECT_FALSE(frame.time.has_value());
  EXPECT_FALSE(*(*stream)->next(frame));
}

TEST(Y4m, BadStreamsEndInAMessage) {
  const std::string good = draw_y4m({});
  EXPECT_EQ(error_of(good), "");
  EXPECT_TRUE(contains(error_of(good.substr(0, good.size() - 1)), "frame 2 has 4607 of 4608 bytes"));
  EXPECT_TRUE(contains(error_of(good.substr(0, 30)), "header"));
  EXPECT_TRUE(contains(error_of(good + "FRAMES\n"), "does not begin with FRAME"));
  EXPECT_TRUE(contains(error_of(good + "x"), "does not begin with FRAME"));
  for (const char* header : {"W0 H4", "W4", "W4 H-4", "Wx H4", "W4 H4 F25", "W4 H4 F1:x", "W4 H4 Iz",
                             "W99999999999999999999 H4", "W2000000 H4"}) {
    EXPECT_TRUE(contains(error_of(std::string("YUV4MPEG2 ") + header + "\n"), "header")) << header;
  }
  for (const char* tag : {"411", "444alpha", "420p7", "420p17", "420x", "rgb", "mono8x", ""}) {
    EXPECT_TRUE(contains(error_of(std::string("YUV4MPEG2 W4 H4 C") + tag + "\n"), "not supported")) << tag;
  }
  EXPECT_TRUE(contains(error_of("YUV4MPEG2 W60000 H60000\nFRAME\n"), "limit"));
  EXPECT_TRUE(contains(error_of("YUV4MPEG2 W16000 H16000 C444p16\nFRAME\nabc"), "truncated"));
  EXPECT_TRUE(contains(error_of("YUV4MPEG2 W1 H1 Cmono10\nFRAME\n\xff\xff"), "above 1023"));
}

TEST(Raw, PairsOfColourBecomePlanes) {
  // Odd sizes: five pixels across have three samples of colour.
  const Drawing drawing{.width = 5, .height = 3, .tag = "420", .damage = 40};
  for (const int depth : {8, 10}) {
    const std::string planar = draw_frame(drawing, 0, depth);
    const size_t bytes = depth > 8 ? 2 : 1, luma = 15 * bytes, chroma = 6 * bytes;
    std::string content = planar.substr(0, luma);
    for (size_t i = 0; i < chroma; i += bytes) {
      content += planar.substr(luma + i, bytes) + planar.substr(luma + chroma + i, bytes);
    }
    // Ten bits are the highest of sixteen; those below do not count.
    for (size_t i = 0; depth > 8 && i < content.size(); i += 2) {
      const int sample = static_cast<uint8_t>(content[i]) + 256 * static_cast<uint8_t>(content[i + 1]);
      content[i] = static_cast<char>((sample << 6 & 0xff) | 0x15);
      content[i + 1] = static_cast<char>(sample >> 2);
    }
    const RawLayout layout = depth > 8 ? RawLayout::p010 : RawLayout::nv12;
    VideoOptions options{.size = std::pair(5, 3), .pixel_format = PixelFormat{Subsampling::yuv420, layout}};
    auto stream = open(content, options);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    EXPECT_EQ((*stream)->format().depth, depth);
    EXPECT_EQ((*stream)->format().frames, 1);
    VideoFrame frame;
    ASSERT_TRUE(*(*stream)->next(frame));
    EXPECT_EQ(std::string(frame.samples.begin(), frame.samples.end()), planar);
    options.depth = 12;
    EXPECT_TRUE(contains(error_of(content, options), "leave out --depth 12"));
  }
}

// Several threads read frames of this size from a file; from memory and pipes one does.
TEST(Raw, LargeFramesOfFiles) {
  constexpr size_t kFrame = 2000 * 1200 * 3 / 2;
  std::string content(2 * kFrame + 5, 0);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761u >> 13);
  const std::string header = "YUV4MPEG2 W2000 H1200 F25:1 C420\n";
  const std::string y4m =
      header + "FRAME\n" + content.substr(0, kFrame) + "FRAME Ip\n" + content.substr(kFrame, kFrame);
  for (const bool raw : {true, false}) {
    std::FILE* file = std::tmpfile();
    const std::string& written = raw ? content : y4m;
    ASSERT_EQ(std::fwrite(written.data(), 1, written.size(), file), written.size());
    std::rewind(file);
    VideoOptions options;
    if (raw) options.size = {2000, 1200};
    const auto stream = open_video(file, "test", options);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    VideoFrame frame;
    for (size_t i = 0; i < 2; ++i) {
      const Result<bool> more = (*stream)->next(frame);
      ASSERT_TRUE(more.ok() && *more) << more.status().message();
      EXPECT_EQ(std::memcmp(frame.samples.data(), content.data() + i * kFrame, kFrame), 0);
    }
    const Result<bool> more = (*stream)->next(frame);
    if (raw) {
      EXPECT_TRUE(contains(more.status().message(), "frame 2 has 5 of 3600000 bytes")) << more.status().message();
    } else {
      EXPECT_TRUE(more.ok() && !*more);
    }
  }
}

// A file is read at any place, a pipe in order, and both give the same frames and the same messages.
TEST(Raw, FilesAndPipesAreReadAlike) {
  const std::string header = "YUV4MPEG2 W4 H2 F25:1 C420\n", samples = "abcdefghijkl";
  const std::string good = header + "FRAME\n" + samples + "FRAME I:p\n" + samples;
  const std::vector<std::string> contents{good,
                                          good + "FRAME\n" + samples.substr(1),
                                          good + "FRAME\n",
                                          good + "FRAME",
                                          good + "F",
                                          good + "FRAMES\n" + samples,
                                          good + "\n" + samples,
                                          good + "FRAME " + std::string(5000, 'x') + "\n" + samples,
                                          header + "FRAME\n" + samples + samples,
                                          samples + samples,
                                          samples + samples.substr(3)};
  for (std::string content : contents) {
    VideoOptions options;
    if (!content.starts_with("YUV4MPEG2")) options.size = {4, 2};
    const auto read = [](Result<std::unique_ptr<FrameStream>> stream) {
      std::string all;
      VideoFrame frame;
      while (stream.ok()) {
        const Result<bool> more = (*stream)->next(frame);
        if (!more.ok()) all += more.status().message();
        if (!more.ok() || !*more) break;
        all += std::to_string(frame.index) + std::string(frame.samples.begin(), frame.samples.end());
      }
      return stream.ok() ? all : stream.status().message();
    };
    std::FILE* file = std::tmpfile();
    ASSERT_EQ(std::fwrite(content.data(), 1, content.size(), file), content.size());
    std::rewind(file);
    const std::string from_file = read(open_video(file, "test", options));
    EXPECT_EQ(from_file, read(open(content, options))) << content;
    if (content == good) {
      EXPECT_EQ(from_file, "0" + samples + "1" + samples);
    }
  }
}

// Planes that nobody wants are not read, and what they hold is not looked at.
TEST(Raw, OnlyPlanesThatAreWanted) {
  constexpr size_t kLuma = 8 * 6, kChroma = 4 * 3;
  for (const bool deep : {false, true}) {
    const size_t bytes = deep ? 2 : 1;
    for (const RawLayout layout : {RawLayout::planar, deep ? RawLayout::p010 : RawLayout::nv12}) {
      std::string content;
      for (size_t i = 0; i < (kLuma + 2 * kChroma) * bytes; ++i) {
        content += static_cast<char>(deep && i % 2 == 1 ? (layout == RawLayout::p010 ? 3 : 0) : 7 * i);
      }
      std::FILE* file = std::tmpfile();
      ASSERT_EQ(std::fwrite(content.data(), 1, content.size(), file), content.size());
      std::rewind(file);
      VideoOptions options{.size = std::pair(8, 6), .pixel_format = PixelFormat{Subsampling::yuv420, layout}};
      if (layout == RawLayout::planar) options.depth = deep ? 10 : 8;
      const auto all = open(content, options), some = open_video(file, "test", options);
      ASSERT_TRUE(all.ok() && some.ok());
      VideoFrame expected, frame;
      ASSERT_TRUE(*(*all)->next(expected));
      (*some)->want({true, false, false});
      frame.samples.resize((kLuma + 2 * kChroma) * bytes);
      std::memset(frame.samples.data(), 0xEE, frame.samples.size());
      const Result<bool> more = (*some)->next(frame);
      ASSERT_TRUE(more.ok() && *more) << more.status().message();
      EXPECT_EQ(std::memcmp(frame.samples.data(), expected.samples.data(), kLuma * bytes), 0);
      for (size_t i = kLuma * bytes; i < frame.samples.size(); ++i) EXPECT_EQ(frame.samples[i], 0xEE);
    }
  }
}

TEST(Raw, IsWhatTheUserSays) {
  const Drawing drawing{.width = 10, .height = 6, .tag = "422p10"};
  std::string content = draw_frame(drawing, 0, 10) + draw_frame(drawing, 1, 10);
  const VideoOptions options{
      .size = std::pair(10, 6), .pixel_format = PixelFormat{Subsampling::yuv422, RawLayout::planar}, .depth = 10};
  auto stream = open(content, options);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->format().frames, 2);
  VideoFrame frame;
  ASSERT_TRUE(*(*stream)->next(frame));
  ASSERT_TRUE(*(*stream)->next(frame));
  EXPECT_EQ(std::string(frame.samples.begin(), frame.samples.end()), draw_frame(drawing, 1, 10));
  EXPECT_FALSE(*(*stream)->next(frame));
  EXPECT_TRUE(
      contains(error_of(content + "x", options), "or correct the size, pixel format and depth that were given for it"));
}

class CountingStream : public FrameStream {
 public:
  explicit CountingStream(std::atomic<int>& reads) : reads_(reads) {}
  Result<bool> next(VideoFrame& frame) override {
    if (reads_ == 100) return Status(StatusCode::input, "broken");
    frame.index = reads_++;
    return true;
  }

 private:
  std::atomic<int>& reads_;
};

TEST(FrameQueue, ReadsAFewFramesAheadAndNoMore) {
  std::atomic<int> reads = 0;
  FrameQueue queue(std::make_unique<CountingStream>(reads));
  for (int i = 0; i < 100; ++i) {
    const Result<std::shared_ptr<VideoFrame>> frame = queue.next();
    ASSERT_TRUE(frame.ok() && *frame);
    EXPECT_EQ((*frame)->index, i);
    EXPECT_LE(reads, i + 2 + static_cast<int>(FrameQueue::kMostFrames));
  }
  EXPECT_EQ(queue.next().status().message(), "broken");
}

// Finds frames in order, and has them loaded by several threads, the later ones sooner.
class SharedStream : public FrameStream {
 public:
  explicit SharedStream(int64_t broken) : broken_(broken) {}
  Result<bool> next(VideoFrame&) override { return Status(StatusCode::internal, "not this one"); }
  Result<bool> find(VideoFrame& frame) override {
    frame.index = found_++;
    return frame.index < 200;
  }
  Status load(VideoFrame& frame) const override {
    const int now = ++loading_;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300 * (4 - frame.index % 4)));
    frame.samples.assign(10, static_cast<uint8_t>(frame.index));
    --loading_;
    return frame.index == broken_ ? Status(StatusCode::input, "broken") : Status();
  }
  int readers() const override { return 4; }
  int most() const { return most_; }

 private:
  int64_t broken_;
  int64_t found_ = 0;
  mutable std::atomic<int> loading_ = 0, most_ = 0;
};

TEST(FrameQueue, SeveralThreadsReadButFramesComeInOrder) {
  for (const int64_t broken : {-1, 0, 57, 199}) {
    auto stream = std::make_unique<SharedStream>(broken);
    const SharedStream& shared = *stream;
    FrameQueue queue(std::move(stream));
    std::deque<std::shared_ptr<VideoFrame>> held;  // memory is not used again while somebody has it
    for (int64_t i = 0; i < (broken < 0 ? 200 : broken); ++i) {
      Result<std::shared_ptr<VideoFrame>> frame = queue.next();
      ASSERT_TRUE(frame.ok() && *frame != nullptr) << frame.status().message();
      held.push_back(std::move(*frame));
      if (held.size() > 6) held.pop_front();
      for (size_t h = 0; h < held.size(); ++h) {
        EXPECT_EQ(held[h]->index, i - static_cast<int64_t>(held.size() - 1 - h));
        EXPECT_EQ(held[h]->samples, SampleBytes(10, static_cast<uint8_t>(held[h]->index)));
      }
    }
    for (int times = 0; times < 2; ++times) {
      const Result<std::shared_ptr<VideoFrame>> end = queue.next();
      EXPECT_EQ(end.status().message(), broken < 0 ? "" : "broken");
      EXPECT_TRUE(!end.ok() || *end == nullptr);
    }
    if (broken < 0) {
      EXPECT_GT(shared.most(), 1);
      EXPECT_LE(shared.most(), 4);
    }
  }
}

TEST(FrameQueue, MayBeLeftEarly) {
  std::atomic<int> reads = 0;
  {
    const FrameQueue queue(std::make_unique<CountingStream>(reads));
  }
  EXPECT_LE(reads, static_cast<int>(FrameQueue::kMostFrames) + 1);
}

}  // namespace
}  // namespace acuity::test
