// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/try.h"
#include "media/video_sources.h"
#include "media/y4m.h"

namespace acuity {
namespace {

constexpr size_t kLongestLine = 4096;  // of a header

Status input(std::string message) { return Status(StatusCode::input, std::move(message)); }

// What is left to be read, where the file is one whose length is known.
std::optional<int64_t> bytes_left(std::FILE* file) {
  const off_t here = ftello(file);
  if (here < 0 || fseeko(file, 0, SEEK_END) != 0) return {};
  const off_t end = ftello(file);
  if (fseeko(file, here, SEEK_SET) != 0 || end < here) return {};
  return end - here;
}

// Up to a line feed, which is not kept; false where there is none near.
bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > kLongestLine) return false;
  }
  return false;
}

// YUV4MPEG2 and raw YUV: frames of equal size, in the one with a line before each.
class PlanarSource : public FrameSource {
 public:
  static Result<std::unique_ptr<FrameSource>> open(File file, std::string_view name, const VideoOptions& options) {
    auto source = std::make_unique<PlanarSource>();
    source->file_ = std::move(file);
    source->name_ = name;
    SampleFacts said;
    if (options.size) {
      ACUITY_TRY(source->begin_raw(options));
    } else {
      ACUITY_TRY(source->begin_y4m(said));
    }
    ACUITY_TRY(complete_format(source->format_, said, options.limits, name));
    ACUITY_TRY(source->measure());
    return std::unique_ptr<FrameSource>(std::move(source));
  }

  Result<bool> next(VideoFrame& frame) override {
    if (lines_) {
      const int c = std::getc(file_.get());
      if (c == EOF) return at_end();
      std::ungetc(c, file_.get());
      if (!read_line(file_.get(), line_) || !(line_ == "FRAME" || line_.starts_with("FRAME "))) {
        return input(fmt::format("'{}' is damaged: frame {} does not begin with FRAME; replace it with an intact copy",
                                 name_, index_));
      }
    }
    frame.samples.resize(format_.frame_bytes());
    std::optional<size_t> read;
    ACUITY_TRY_ASSIGN(read, read_at_once(file_.get(), name_, frame.samples, threads_));
    const size_t got = read ? *read : std::fread(frame.samples.data(), 1, frame.samples.size(), file_.get());
    if (got == 0 && !lines_) return at_end();
    if (got < frame.samples.size()) {
      return input(fmt::format("'{}' is truncated: frame {} has {} of {} bytes; replace it with an intact copy{}",
                               name_, index_, got, frame.samples.size(),
                               lines_ ? "" : ", or correct --size, --pixel-format and --depth"));
    }
    if (layout_ == RawLayout::p010) lower_bits(frame);
    if (layout_ != RawLayout::planar) separate_colours(frame);
    ACUITY_TRY(check_depth(frame));
    frame.index = index_++;
    frame.picture.reset();
    const FrameRate& rate = format_.rate;
    frame.time.reset();
    if (rate.denominator != 0) {
      frame.time = static_cast<double>(frame.index) * static_cast<double>(rate.denominator) /
                   static_cast<double>(rate.numerator);
    }
    return true;
  }

 private:
  Status begin_raw(const VideoOptions& options) {
    format_.container = "raw YUV";
    format_.width = options.size->first;
    format_.height = options.size->second;
    const PixelFormat pixels = options.pixel_format.value_or(PixelFormat());
    format_.subsampling = pixels.subsampling;
    layout_ = pixels.layout;
    if (!options.pixel_format) format_.assumed.emplace_back("pixel format yuv420p");
    const bool tells_depth = layout_ != RawLayout::planar;
    const int depth = layout_ == RawLayout::p010 ? 10 : 8;
    if (tells_depth && options.depth && *options.depth != depth) {
      return Status(StatusCode::usage, fmt::format("--pixel-format {} has {} bits; leave out --depth {}",
                                                   depth == 8 ? "nv12" : "p010", depth, *options.depth));
    }
    format_.depth = options.depth.value_or(depth);
    if (!options.depth && !tells_depth) format_.assumed.emplace_back("8 bits");
    if (tells_depth) format_.found.emplace_back(depth == 8 ? "nv12" : "p010");
    return {};
  }

  // Pairs of Cb and Cr become two planes.
  void separate_colours(VideoFrame& frame) {
    const size_t bytes = format_.depth > 8 ? 2 : 1;
    const size_t luma = static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height) * bytes;
    const size_t chroma = (frame.samples.size() - luma) / 2;
    pairs_.assign(frame.samples.begin() + static_cast<ptrdiff_t>(luma), frame.samples.end());
    uint8_t* blue = frame.samples.data() + luma;
    for (size_t i = 0; i < chroma; i += bytes) {
      std::memcpy(blue + i, &pairs_[2 * i], bytes);
      std::memcpy(blue + chroma + i, &pairs_[2 * i + bytes], bytes);
    }
  }

  // The six bits below the ten do not count; some writers leave them at something else than 0.
  static void lower_bits(VideoFrame& frame) {
    auto* samples = reinterpret_cast<uint16_t*>(frame.samples.data());
    for (size_t i = 0; i < frame.samples.size() / 2; ++i) samples[i] = static_cast<uint16_t>(samples[i] >> 6);
  }

  Status begin_y4m(SampleFacts& said) {
    lines_ = true;
    if (!read_line(file_.get(), line_) || !(line_ == kY4mMagic || line_.starts_with("YUV4MPEG2 "))) {
      return input(fmt::format("'{}' has no whole YUV4MPEG2 header; replace it with an intact copy", name_));
    }
    return read_y4m_header(line_, name_, format_, said);
  }

  // What the length of the file says; a frame is not allocated for a file that cannot hold it.
  Status measure() {
    const std::optional<int64_t> left = bytes_left(file_.get());
    if (!left) return {};
    const auto bytes = static_cast<int64_t>(format_.frame_bytes());
    const int64_t each = bytes + (lines_ ? 6 : 0);
    if (*left > 0 && *left < bytes) {
      return input(fmt::format("'{}' is truncated: {} bytes are left for a first frame of {}x{} pixels, which has {}",
                               name_, *left, format_.width, format_.height, bytes));
    }
    if (*left % each == 0) format_.frames = *left / each;
    return {};
  }

  Result<bool> at_end() const {
    if (std::ferror(file_.get()) != 0) {
      return input(fmt::format("reading '{}' failed: {}", name_, std::generic_category().message(errno)));
    }
    return false;
  }

  // Bits above the depth come from a wrong depth or byte order, and would give a wrong score silently.
  Status check_depth(const VideoFrame& frame) const {
    if (format_.depth == 8 || format_.depth == 16) return {};
    const auto* samples = reinterpret_cast<const uint16_t*>(frame.samples.data());
    uint16_t all = 0;
    for (size_t i = 0; i < frame.samples.size() / 2; ++i) all |= samples[i];
    if (all < 1 << format_.depth) return {};
    return input(
        fmt::format("frame {} of '{}' has a sample above {}, the maximum of {} bits; samples are little-endian in the "
                    "low bits: convert the stream or correct its depth",
                    index_, name_, (1 << format_.depth) - 1, format_.depth));
  }

  File file_;
  std::string name_;
  std::string line_;
  bool lines_ = false;
  RawLayout layout_ = RawLayout::planar;
  std::vector<uint8_t> pairs_;
  Threads threads_ = reading_threads();
  int64_t index_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameSource>> open_planar(File file, std::string_view name, const VideoOptions& options) {
  return PlanarSource::open(std::move(file), name, options);
}

}  // namespace acuity
