// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames brought to another depth or size, because the user asked for it.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/try.h"
#include "media/form.h"
#include "media/libav_library.h"
#include "media/scale.h"
#include "media/video_streams.h"

namespace acuity {
namespace {

uint16_t read_sample(const uint8_t* samples, size_t i, bool wide) {
  if (!wide) return samples[i];
  uint16_t value;
  std::memcpy(&value, samples + 2 * i, sizeof value);
  return value;
}

void write_sample(uint8_t* samples, size_t i, bool wide, uint32_t value) {
  if (!wide) {
    samples[i] = static_cast<uint8_t>(value);
    return;
  }
  const auto narrow = static_cast<uint16_t>(value);
  std::memcpy(samples + 2 * i, &narrow, sizeof narrow);
}

// Limited range is the same numbers with more or fewer binary places; in full range the largest is white at any depth,
// and colour samples are as far from grey. Halves go up.
class DepthStream : public FrameStream {
 public:
  DepthStream(std::unique_ptr<FrameStream> stream, int depth) : stream_(std::move(stream)) {
    format_ = stream_->format();
    format_.depth = depth;
    format_.found.push_back(fmt::format("converted from {} to {} bits", stream_->format().depth, depth));
    for (const bool luma : {true, false}) {
      (luma ? luma_ : chroma_) = rescaled_codes(stored_form(stream_->format()), stored_form(format_), 1, luma);
    }
  }

  Result<bool> next(VideoFrame& frame) override {
    const Result<bool> more = stream_->next(frame);
    if (!more.ok() || !*more) return more;
    std::swap(frame.samples, before_);
    frame.samples.resize(format_.frame_bytes());
    const bool wide_before = stream_->format().depth > 8, wide = format_.depth > 8;
    const size_t count = frame.samples.size() / (wide ? 2 : 1);
    const size_t of_luma = static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height);
    for (size_t i = 0; i < count; ++i) {
      const std::vector<uint16_t>& codes = i < of_luma ? luma_ : chroma_;
      write_sample(frame.samples.data(), i, wide, codes[read_sample(before_.data(), i, wide_before)]);
    }
    return true;
  }

 private:
  std::unique_ptr<FrameStream> stream_;
  std::vector<uint16_t> luma_, chroma_;
  SampleBytes before_;
};

AVPixelFormat pixel_format(const VideoFormat& format) {
  struct Row {
    int depth;
    AVPixelFormat yuv420, yuv422, yuv444, grey;
  };
  static constexpr Row kFormats[] = {
      {8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_GRAY8},
      {9, AV_PIX_FMT_YUV420P9LE, AV_PIX_FMT_YUV422P9LE, AV_PIX_FMT_YUV444P9LE, AV_PIX_FMT_GRAY9LE},
      {10, AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P10LE, AV_PIX_FMT_GRAY10LE},
      {12, AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_YUV422P12LE, AV_PIX_FMT_YUV444P12LE, AV_PIX_FMT_GRAY12LE},
      {14, AV_PIX_FMT_YUV420P14LE, AV_PIX_FMT_YUV422P14LE, AV_PIX_FMT_YUV444P14LE, AV_PIX_FMT_GRAY14LE},
      {16, AV_PIX_FMT_YUV420P16LE, AV_PIX_FMT_YUV422P16LE, AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_GRAY16LE}};
  for (const Row& row : kFormats) {
    if (row.depth != format.depth) continue;
    return format.subsampling == Subsampling::yuv420   ? row.yuv420
           : format.subsampling == Subsampling::yuv422 ? row.yuv422
           : format.subsampling == Subsampling::yuv444 ? row.yuv444
                                                       : row.grey;
  }
  return AV_PIX_FMT_NONE;
}

int flag_of(Scaler scaler) {
  return scaler == Scaler::bilinear ? SWS_BILINEAR : scaler == Scaler::lanczos ? SWS_LANCZOS : SWS_BICUBIC;
}

// libswscale, told to give the same bits on every machine.
class ScaledStream : public FrameStream {
 public:
  ~ScaledStream() override {
    if (scaling_ != nullptr) libav_->sws_freeContext(scaling_);
  }

  Status open(std::unique_ptr<FrameStream> stream, int width, int height, Scaler scaler, std::string_view name) {
    stream_ = std::move(stream);
    format_ = stream_->format();
    format_.width = width;
    format_.height = height;
    format_.found.push_back(describe_scaling(stream_->format().width, stream_->format().height, width, height, scaler));
    ACUITY_TRY_ASSIGN(libav_, libav());
    const AVPixelFormat pixels = pixel_format(format_);
    scaling_ = libav_->sws_alloc_context();
    if (pixels == AV_PIX_FMT_NONE || scaling_ == nullptr) {
      return Status(StatusCode::input,
                    fmt::format("'{}' has {} bits per sample, which cannot be scaled; use --depth 16 "
                                "to convert it first",
                                name, format_.depth));
    }
    const auto set = [&](const char* option, int64_t value) {
      return libav_->av_opt_set_int(scaling_, option, value, 0) >= 0;
    };
    bool taken = set("srcw", stream_->format().width) && set("srch", stream_->format().height) && set("dstw", width) &&
                 set("dsth", height) && set("src_format", pixels) && set("dst_format", pixels) &&
                 set("sws_flags", flag_of(scaler) | SWS_ACCURATE_RND | SWS_BITEXACT);
    // In 256ths of a pixel of light from the top left sample of it to that of colour.
    const bool halved = format_.subsampling == Subsampling::yuv420 || format_.subsampling == Subsampling::yuv422;
    const int across = format_.siting == Siting::centre ? 128 : 0;
    const int down = format_.siting == Siting::top_left ? 0 : 128;
    if (halved) taken = taken && set("src_h_chr_pos", across) && set("dst_h_chr_pos", across);
    if (format_.subsampling == Subsampling::yuv420) {
      taken = taken && set("src_v_chr_pos", down) && set("dst_v_chr_pos", down);
    }
    if (taken && libav_->sws_init_context(scaling_, nullptr, nullptr) >= 0) return {};
    return Status(StatusCode::input, fmt::format("'{}' cannot be scaled from {}x{} to {}x{}", name,
                                                 stream_->format().width, stream_->format().height, width, height));
  }

  Result<bool> next(VideoFrame& frame) override {
    const Result<bool> more = stream_->next(frame);
    if (!more.ok() || !*more) return more;
    std::swap(frame.samples, before_);
    frame.samples.resize(format_.frame_bytes());
    const Planes in(stream_->format(), before_.data());
    Planes out(format_, frame.samples.data());
    libav_->sws_scale(scaling_, in.rows, in.strides, 0, stream_->format().height, out.rows, out.strides);
    return true;
  }

 private:
  struct Planes {
    uint8_t* rows[4] = {};
    int strides[4] = {};

    Planes(const VideoFormat& format, uint8_t* samples) {
      for (int c = 0; c < (format.subsampling == Subsampling::grey ? 1 : 3); ++c) {
        rows[c] = samples;
        strides[c] = (c == 0 ? format.width : format.chroma_width()) * (format.depth > 8 ? 2 : 1);
        samples += static_cast<ptrdiff_t>(strides[c]) * (c == 0 ? format.height : format.chroma_height());
      }
    }
  };

  const Libav* libav_ = nullptr;
  std::unique_ptr<FrameStream> stream_;
  SwsContext* scaling_ = nullptr;
  SampleBytes before_;
};

// Frames that are pictures.
class ScaledPictures : public FrameStream {
 public:
  ScaledPictures(std::unique_ptr<FrameStream> stream, int width, int height, Scaler scaler, std::string_view name)
      : stream_(std::move(stream)), scaler_(scaler), name_(name) {
    format_ = stream_->format();
    format_.found.push_back(describe_scaling(format_.width, format_.height, width, height, scaler));
    format_.width = width;
    format_.height = height;
    if (format_.depth < 16) format_.depth = 16;
  }

  Result<bool> next(VideoFrame& frame) override {
    const Result<bool> more = stream_->next(frame);
    if (!more.ok() || !*more) return more;
    Result<Picture> result = scaled(*frame.picture, format_.width, format_.height, scaler_, Threads(1), name_);
    if (!result.ok()) return result.status();
    frame.picture = std::make_shared<Picture>(std::move(*result));
    return true;
  }

 private:
  std::unique_ptr<FrameStream> stream_;
  Scaler scaler_;
  std::string name_;
};

Status holds_rgb(std::string_view name, std::string_view option) {
  return Status(
      StatusCode::usage,
      fmt::format("'{0}' contains RGB, but {1} is for Y'CbCr: leave {1} out, or convert the file first", name, option));
}

}  // namespace

Result<std::unique_ptr<FrameStream>> with_depth(std::unique_ptr<FrameStream> stream, int depth, std::string_view name) {
  if (stream->format().depth == depth) return stream;
  if (stream->format().rgb) return holds_rgb(name, "--depth");
  ACUITY_TRY(check_is_here(stream->format(), name, "--depth"));
  return std::unique_ptr<FrameStream>(std::make_unique<DepthStream>(std::move(stream), depth));
}

Result<std::unique_ptr<FrameStream>> with_size(std::unique_ptr<FrameStream> stream, int width, int height,
                                               Scaler scaler, std::string_view name) {
  if (stream->format().width == width && stream->format().height == height) return stream;
  ACUITY_TRY(check_is_here(stream->format(), name, "--scale"));
  if (stream->format().rgb) {
    return std::unique_ptr<FrameStream>(
        std::make_unique<ScaledPictures>(std::move(stream), width, height, scaler, name));
  }
  auto scaled = std::make_unique<ScaledStream>();
  ACUITY_TRY(scaled->open(std::move(stream), width, height, scaler, name));
  return std::unique_ptr<FrameStream>(std::move(scaled));
}

}  // namespace acuity
