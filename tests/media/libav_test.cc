// SPDX-License-Identifier: BSD-2-Clause-Patent
// Containers and codecs. What is encoded without loss must come out as it went in.
#include <cstring>

#include <gtest/gtest.h>

#include "media/meaning.h"
#include "media/video.h"
#include "support/encode_video.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

struct Decoded {
  Status status;
  VideoFormat format;
  std::vector<VideoFrame> frames;
};

Decoded decoded(std::string file, const SampleOptions& options = {}, std::optional<int> depth = {},
                const VideoOptions& how = {}) {
  Decoded result;
  auto source = open_video(fmemopen(file.data(), file.size(), "rb"), "test", how);
  result.status = source.status();
  if (!source.ok()) return result;
  const Result<VideoFormat> settled = settle_meaning({"test", (*source)->format()}, options);
  result.status = settled.status();
  if (!settled.ok()) return result;
  (*source)->settle(*settled);
  if (depth) source = with_depth(std::move(*source), *depth, "test");
  result.status = source.status();
  if (!source.ok()) return result;
  result.format = (*source)->format();
  for (VideoFrame frame;; frame = {}) {
    const Result<bool> more = (*source)->next(frame);
    result.status = more.status();
    if (!more.ok() || !*more) return result;
    result.frames.push_back(std::move(frame));
  }
}

std::vector<std::string> drawn(const std::string& tag, int depth, int count = 3) {
  std::vector<std::string> frames;
  for (int i = 0; i < count; ++i) frames.push_back(draw_frame({.tag = tag, .damage = 30}, i, depth));
  return frames;
}

std::string text(const SampleBytes& samples) { return {samples.begin(), samples.end()}; }

bool has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

TEST(Libav, LosslessFramesComeOutAsTheyWentIn) {
  struct Kind {
    const char* tag;
    int depth;
    AVPixelFormat pixels;
  };
  for (const Kind& kind : std::vector<Kind>{{"420", 8, AV_PIX_FMT_YUV420P},
                                            {"422", 8, AV_PIX_FMT_YUV422P},
                                            {"444", 8, AV_PIX_FMT_YUV444P},
                                            {"mono", 8, AV_PIX_FMT_GRAY8},
                                            {"420", 10, AV_PIX_FMT_YUV420P10LE},
                                            {"422", 12, AV_PIX_FMT_YUV422P12LE},
                                            {"444", 16, AV_PIX_FMT_YUV444P16LE},
                                            {"mono", 10, AV_PIX_FMT_GRAY10LE}}) {
    const std::vector<std::string> frames = drawn(kind.tag, kind.depth);
    const Decoded result = decoded(encode_video({.pixels = kind.pixels}, frames));
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_EQ(result.frames.size(), 3u);
    EXPECT_EQ(result.format.depth, kind.depth);
    EXPECT_EQ(result.format.subsampling, subsampling_of(kind.tag));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(text(result.frames[i].samples), frames[i]) << kind.tag << " " << kind.depth;
      EXPECT_DOUBLE_EQ(*result.frames[i].time, 0.04 * static_cast<double>(i));
    }
  }
}

TEST(Libav, SamplesThatLieElsewhereAreMovedAndNotChanged) {
  const std::string planar = draw_frame({.tag = "420", .damage = 30}, 0, 8);
  const size_t luma = 64 * 48, chroma = luma / 4;
  std::string interleaved = planar.substr(0, luma);
  for (size_t i = 0; i < chroma; ++i) {
    interleaved += planar[luma + i];
    interleaved += planar[luma + chroma + i];
  }
  const Decoded result = decoded(
      encode_video({.codec = "rawvideo", .container = "nut", .pixels = AV_PIX_FMT_NV12, .times = {0}}, {interleaved}));
  ASSERT_EQ(result.frames.size(), 1u) << result.status.message();
  EXPECT_EQ(text(result.frames[0].samples), planar);
}

TEST(Libav, RgbIsAPictureAFrame) {
  const std::string planes = draw_frame({.tag = "444", .damage = 30}, 0, 8);  // libav's order is G, B, R
  const Decoded result = decoded(
      encode_video({.codec = "rawvideo", .container = "nut", .pixels = AV_PIX_FMT_GBRP, .times = {0}}, {planes}));
  ASSERT_EQ(result.frames.size(), 1u) << result.status.message();
  ASSERT_NE(result.frames[0].picture, nullptr);
  const ImageView& view = result.frames[0].picture->view;
  const size_t plane = 64 * 48;
  for (const auto& [channel, place] : std::vector<std::pair<size_t, size_t>>{{0, 2}, {1, 0}, {2, 1}}) {
    const std::string samples(reinterpret_cast<const char*>(view.planes[channel]), plane);
    EXPECT_EQ(samples, planes.substr(place * plane, plane)) << channel;
  }
  EXPECT_TRUE(result.format.rgb);
  EXPECT_FALSE(result.format.says.transfer);
  EXPECT_TRUE(has(result.format.assumed, "sRGB"));
}

TEST(Libav, WhatTheStreamSaysOfItsColoursIsTaken) {
  Encoding encoding;
  encoding.adjust = [](AVCodecContext& encoder) {
    encoder.color_range = AVCOL_RANGE_JPEG;
    encoder.colorspace = AVCOL_SPC_BT2020_NCL;
    encoder.color_primaries = AVCOL_PRI_BT2020;
    encoder.color_trc = AVCOL_TRC_SMPTE2084;
    encoder.chroma_sample_location = AVCHROMA_LOC_TOPLEFT;
  };
  const std::string file = encode_video(encoding, drawn("420", 8));
  const Decoded result = decoded(file);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_TRUE(result.format.full_range);
  EXPECT_EQ(result.format.matrix, Matrix::bt2020);
  EXPECT_EQ(result.format.siting, Siting::top_left);
  EXPECT_EQ(result.format.colour.transfer, Transfer::pq);
  EXPECT_EQ(result.format.colour.primaries, Primaries::bt2020);
  EXPECT_TRUE(result.format.assumed.empty());
  const Says& says = result.format.says;
  EXPECT_TRUE(says.range && says.matrix && says.siting && says.primaries && says.transfer);
  EXPECT_FALSE(decoded(file, {{.full_range = false}}).format.full_range);
}

TEST(Libav, StreamsOfOtherColoursThatWereJoinedAreRefused) {
  const auto encoded = [](AVColorSpace matrix, AVColorPrimaries primaries) {
    Encoding encoding{.codec = "libx264", .container = "h264"};
    encoding.adjust = [=](AVCodecContext& encoder) {
      encoder.color_range = AVCOL_RANGE_MPEG;
      encoder.colorspace = matrix;
      encoder.color_primaries = primaries;
      encoder.color_trc = AVCOL_TRC_BT709;
    };
    return encode_video(encoding, drawn("420", 8));
  };
  const std::string hd = encoded(AVCOL_SPC_BT709, AVCOL_PRI_BT709),
                    unstated = encoded(AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED);
  const Decoded same = decoded(hd + hd);
  EXPECT_TRUE(same.status.ok()) << same.status.message();
  EXPECT_EQ(same.frames.size(), 6u);
  EXPECT_TRUE(decoded(hd + unstated).status.ok());
  const Decoded matrix = decoded(hd + encoded(AVCOL_SPC_BT2020_NCL, AVCOL_PRI_BT709));
  EXPECT_EQ(matrix.frames.size(), 3u);
  EXPECT_EQ(matrix.status.message(), "'test' changes its matrix at frame 3; split it there");
  const Decoded primaries = decoded(hd + encoded(AVCOL_SPC_BT709, AVCOL_PRI_BT2020));
  EXPECT_EQ(primaries.status.message(), "'test' changes its primaries at frame 3; split it there");
}

TEST(Libav, SitingsThatAreNotReadAreWarnedOf) {
  for (const AVChromaLocation siting : {AVCHROMA_LOC_LEFT, AVCHROMA_LOC_TOP, AVCHROMA_LOC_BOTTOM}) {
    Encoding encoding{.codec = "libx264", .container = "h264"};
    encoding.adjust = [=](AVCodecContext& encoder) { encoder.chroma_sample_location = siting; };
    const Decoded result = decoded(encode_video(encoding, drawn("420", 8)));
    EXPECT_EQ(result.format.says.siting, siting == AVCHROMA_LOC_LEFT);
    EXPECT_EQ(result.format.warnings.size(), siting == AVCHROMA_LOC_LEFT ? 0u : 1u);
  }
}

TEST(Libav, TimesOfAVariableRateAreTheStreams) {
  const Decoded result = decoded(encode_video({.times = {0, 40, 200}}, drawn("420", 8)));
  ASSERT_EQ(result.frames.size(), 3u);
  EXPECT_DOUBLE_EQ(*result.frames[2].time, 0.2);
}

TEST(Libav, DamageIsAnErrorAndNotAFrame) {
  Encoding encoding;
  encoding.adjust = [](AVCodecContext& encoder) {
    encoder.level = 3;
    av_opt_set_int(encoder.priv_data, "slicecrc", 1, 0);
  };
  std::string file = encode_video(encoding, drawn("420", 8));
  ASSERT_TRUE(decoded(file).status.ok());
  for (size_t i = 0; i < 8; ++i) file[file.size() * 2 / 3 + i] ^= 0x55;
  const Decoded result = decoded(file);
  EXPECT_LT(result.frames.size(), 3u);
  EXPECT_NE(result.status.message().find("damaged near frame"), std::string::npos) << result.status.message();
}

TEST(Libav, WhatIsNoVideoIsRefused) {
  EXPECT_NE(decoded("nothing of the kind, just a few words").status.message().find("is not a picture or video"),
            std::string::npos);
  const std::string playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n/etc/passwd\n#EXT-X-ENDLIST\n";
  EXPECT_FALSE(decoded(playlist).status.ok());
  const std::string file = encode_video({.codec = "rawvideo", .container = "nut", .pixels = AV_PIX_FMT_YUV411P},
                                        std::vector<std::string>(3, std::string(64 * 48 * 3 / 2, '\x40')));
  EXPECT_NE(decoded(file).status.message().find("yuv411p, which is not supported"), std::string::npos);
  const std::string cinema = encode_video({.codec = "rawvideo", .container = "nut", .pixels = AV_PIX_FMT_XYZ12LE},
                                          std::vector<std::string>(3, std::string(64 * 48 * 6, '\x40')));
  EXPECT_NE(decoded(cinema).status.message().find("xyz12le, which is not supported"), std::string::npos);
}

TEST(Libav, AContainerThatBreaksOffIsAnError) {
  Encoding encoding;
  encoding.times.clear();
  for (int i = 0; i < 12; ++i) encoding.times.push_back(40 * i);
  const std::string file = encode_video(encoding, std::vector<std::string>(12, drawn("420", 8)[0]));
  ASSERT_EQ(decoded(file).frames.size(), 12u);
  const Decoded part = decoded(file.substr(0, file.size() * 2 / 3));
  EXPECT_LT(part.frames.size(), 12u);
  EXPECT_GT(part.frames.size(), 3u);
  EXPECT_NE(part.status.message().find("damaged near frame"), std::string::npos) << part.status.message();
}

// The display matrix that asks for an EXIF orientation.
std::function<void(AVStream&)> shown_as(int orientation) {
  return [orientation](AVStream& stream) {
    constexpr int32_t kParts[8][4] = {{1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
                                      {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, -1, 0}, {0, -1, 1, 0}};
    auto* matrix =
        reinterpret_cast<int32_t*>(av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t)));
    std::fill_n(matrix, 9, 0);
    for (const auto& [place, part] : {std::pair(0, 0), {1, 1}, {3, 2}, {4, 3}}) {
      matrix[place] = kParts[orientation - 1][part] * (1 << 16);
    }
    matrix[8] = 1 << 30;
  };
}

// Where a pixel is seen.
std::pair<int, int> place_of(int x, int y, int width, int height, int orientation) {
  switch (orientation) {
    case 2:
      return {width - 1 - x, y};
    case 3:
      return {width - 1 - x, height - 1 - y};
    case 4:
      return {x, height - 1 - y};
    case 5:
      return {y, x};
    case 6:
      return {height - 1 - y, x};
    case 7:
      return {height - 1 - y, width - 1 - x};
    case 8:
      return {y, width - 1 - x};
    default:
      return {x, y};
  }
}

TEST(Libav, VideosAreTurnedAsPlayersDo) {
  const std::vector<std::string> frames = drawn("420", 8);
  Encoding encoding{.codec = "mpeg4", .container = "mp4"};
  const Decoded upright = decoded(encode_video(encoding, frames));
  ASSERT_EQ(upright.frames.size(), 3u) << upright.status.message();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    encoding.describe = shown_as(orientation);
    const Decoded turned = decoded(encode_video(encoding, frames));
    ASSERT_EQ(turned.frames.size(), 3u) << turned.status.message();
    EXPECT_EQ(turned.format.width, orientation < 5 ? 64 : 48);
    EXPECT_EQ(turned.format.height, orientation < 5 ? 48 : 64);
    EXPECT_EQ(has(turned.format.found, "turned 90 degrees clockwise, as its display matrix states"), orientation == 6);
    size_t from = 0;
    for (const auto& [width, height] : {std::pair(64, 48), {32, 24}, {32, 24}}) {
      const int columns = orientation < 5 ? width : height;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const auto [to_x, to_y] = place_of(x, y, width, height, orientation);
          ASSERT_EQ(turned.frames[1].samples[from + static_cast<size_t>(to_y * columns + to_x)],
                    upright.frames[1].samples[from + static_cast<size_t>(y * width + x)]);
        }
      }
      from += static_cast<size_t>(width * height);
    }
  }
}

TEST(Libav, HalvedColourThatIsTurnedIsWidened) {
  const std::vector<std::string> frames = drawn("422", 10);
  Encoding encoding{.codec = "prores_ks", .container = "mov", .pixels = AV_PIX_FMT_YUV422P10LE};
  const Decoded upright = decoded(encode_video(encoding, frames));
  encoding.describe = shown_as(6);
  const Decoded turned = decoded(encode_video(encoding, frames));
  ASSERT_EQ(turned.frames.size(), 3u) << turned.status.message();
  EXPECT_EQ(turned.format.subsampling, Subsampling::yuv444);
  FrameConverter first, second;
  const ImageView a = first(upright.format, upright.frames[0], Threads(1));
  const ImageView b = second(turned.format, turned.frames[0], Threads(1));
  for (size_t c = 0; c < 3; ++c) {
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 64; ++x) {
        float before, after;
        std::memcpy(&before, a.planes[c] + y * a.row_stride + x * a.pixel_stride, sizeof before);
        std::memcpy(&after, b.planes[c] + x * b.row_stride + (47 - y) * b.pixel_stride, sizeof after);
        ASSERT_NEAR(before, after, 1.2 / 1023);  // half a code of each colour difference
      }
    }
  }
}

TEST(Libav, OtherTurnsAreWarnedOf) {
  Encoding encoding{.codec = "mpeg4", .container = "mp4"};
  encoding.describe = [](AVStream& stream) {
    shown_as(1)(stream);
    auto* matrix = reinterpret_cast<int32_t*>(av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
    matrix[0] = matrix[1] = matrix[4] = 46341;  // 45 degrees
    matrix[3] = -46341;
  };
  const Decoded result = decoded(encode_video(encoding, drawn("420", 8)));
  ASSERT_EQ(result.frames.size(), 3u);
  ASSERT_EQ(result.format.warnings.size(), 1u);
  EXPECT_NE(result.format.warnings[0].find("is not done"), std::string::npos);
}

TEST(Libav, ShapesOfPixelsAndFurtherStreamsAreStated) {
  Encoding encoding{.second = 2};
  encoding.adjust = [](AVCodecContext& encoder) { encoder.sample_aspect_ratio = {16, 11}; };
  const std::string file = encode_video(encoding, drawn("420", 8));
  const Decoded first = decoded(file);
  EXPECT_EQ(first.frames.size(), 3u) << first.status.message();
  EXPECT_EQ(first.format.pixel_aspect, std::pair(16, 11));
  EXPECT_TRUE(has(first.format.found, "pixels of 16:11, scored as they are stored"));
  EXPECT_TRUE(has(first.format.found, "video stream 0 of 2, counted from 0 (--stream chooses)"));
  const Decoded second = decoded(file, {}, {}, {.stream = 1});
  EXPECT_EQ(second.frames.size(), 2u) << second.status.message();
  EXPECT_TRUE(has(second.format.found, "video stream 1 of 2, counted from 0"));
  EXPECT_NE(decoded(file, {}, {}, {.stream = 2}).status.message().find("no video stream 2"), std::string::npos);
  EXPECT_NE(decoded(draw_y4m({}), {}, {}, {.stream = 1}).status.message().find("one video stream"), std::string::npos);
}

TEST(Libav, StartsAtTheFirstKeyFrame) {
  for (const char* codec : {"mpeg2video", "libx264", "libx265"}) {
    SCOPED_TRACE(codec);
    constexpr int kFrames = 40;
    Encoding encoding{.codec = codec, .container = "mpegts", .width = 64, .height = 64, .times = {}};
    for (int i = 0; i < kFrames; ++i) encoding.times.push_back(40 * i);
    encoding.adjust = [&](AVCodecContext& encoder) {
      encoder.gop_size = 10;
      encoder.max_b_frames = 2;
      encoder.time_base = {1, 25};
      av_opt_set(encoder.priv_data, "x264-params", "open-gop=1:scenecut=0", 0);
      av_opt_set(encoder.priv_data, "x265-params", "open-gop=1:scenecut=0:log-level=none:pools=1", 0);
    };
    for (int64_t& time : encoding.times) time /= 40;
    std::vector<std::string> frames;
    for (int i = 0; i < kFrames; ++i) {
      frames.push_back(draw_frame({.width = 64, .height = 64, .tag = "420", .damage = 30}, i, 8));
    }
    const std::string file = encode_video(encoding, frames);
    const Decoded whole = decoded(file);
    ASSERT_EQ(whole.frames.size(), static_cast<size_t>(kFrames)) << whole.status.message();
    EXPECT_TRUE(whole.format.warnings.empty());
    // In the middle, at the beginning of a packet of the transport stream.
    const size_t cut = file.size() / 2 / 188 * 188;
    const Decoded part = decoded(file.substr(cut));
    ASSERT_TRUE(part.status.ok()) << part.status.message();
    ASSERT_FALSE(part.frames.empty());
    ASSERT_LT(part.frames.size(), 30u);
    ASSERT_EQ(part.format.warnings.size(), 1u);
    EXPECT_NE(part.format.warnings[0].find("begins in the middle"), std::string::npos);
    for (size_t i = 0; i < part.frames.size(); ++i) {
      const VideoFrame& expected = whole.frames[kFrames - part.frames.size() + i];
      EXPECT_EQ(part.frames[i].samples, expected.samples) << i;
      EXPECT_NEAR(*part.frames[i].time, *expected.time, 1e-6);
    }
  }
}

TEST(Libav, KeepsToTheLimits) {
  PictureLimits limits;
  limits.maximum_pixels = 64 * 48 - 1;
  for (const AVPixelFormat pixels : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_BGR0}) {
    const std::string file =
        encode_video({.pixels = pixels}, std::vector<std::string>(3, std::string(64 * 48 * 4, '\x40')));
    const Decoded result = decoded(file, {}, {}, {.limits = limits});
    EXPECT_EQ(result.status.code(), StatusCode::too_big) << result.status.message();
  }
}

TEST(Libav, DepthIsChangedOnRequest) {
  const std::vector<std::string> frames = drawn("420", 10);
  const std::string file = encode_video({.pixels = AV_PIX_FMT_YUV420P10LE}, frames);
  const Decoded wider = decoded(file, {}, 12);
  const Decoded narrower = decoded(file, {}, 8);
  ASSERT_EQ(wider.frames.size(), 3u) << wider.status.message();
  ASSERT_EQ(narrower.frames.size(), 3u) << narrower.status.message();
  EXPECT_EQ(wider.format.depth, 12);
  EXPECT_TRUE(has(wider.format.found, "converted from 10 to 12 bits"));
  const auto sample = [](const auto& bytes, size_t i) {
    return static_cast<uint8_t>(bytes[2 * i]) + 256 * static_cast<uint8_t>(bytes[2 * i + 1]);
  };
  for (size_t i = 0; i < 64 * 48; ++i) {
    const int value = sample(frames[0], i);
    EXPECT_EQ(sample(wider.frames[0].samples, i), 4 * value);
    EXPECT_EQ(narrower.frames[0].samples[i], std::min((value + 2) / 4, 255));
  }
  const Decoded full = decoded(file, {{.full_range = true}}, 8);
  for (size_t i = 0; i < 64 * 48; ++i) {
    const double value = sample(frames[0], i) * 255.0 / 1023;
    EXPECT_EQ(full.frames[0].samples[i], static_cast<int>(value + 0.5));
  }
}

TEST(Libav, SizeIsChangedOnRequest) {
  std::string flat = draw_y4m({.frames = 1});
  std::fill(flat.end() - 64 * 48 * 3 / 2, flat.end(), '\x50');
  for (const Scaler scaler : {Scaler::bicubic, Scaler::bilinear, Scaler::lanczos}) {
    std::string file = flat;
    auto source = open_video(fmemopen(file.data(), file.size(), "rb"), "test", {});
    ASSERT_TRUE(source.ok());
    auto scaled = with_size(std::move(*source), 130, 99, scaler, "test");
    ASSERT_TRUE(scaled.ok()) << scaled.status().message();
    EXPECT_EQ((*scaled)->format().width, 130);
    VideoFrame frame;
    ASSERT_TRUE(*(*scaled)->next(frame));
    EXPECT_EQ(frame.samples.size(), (*scaled)->format().frame_bytes());
    for (const uint8_t value : frame.samples) EXPECT_EQ(value, 0x50);
  }
}

}  // namespace
}  // namespace acuity::test
