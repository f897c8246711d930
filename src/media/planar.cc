// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/try.h"
#include "media/video_streams.h"
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
class PlanarStream : public FrameStream {
 public:
  static Result<std::unique_ptr<FrameStream>> open(File file, std::string_view name, const VideoOptions& options) {
    auto stream = std::make_unique<PlanarStream>();
    stream->file_ = std::move(file);
    stream->name_ = name;
    SampleFacts said;
    if (options.size) {
      ACUITY_TRY(stream->begin_raw(options));
    } else {
      ACUITY_TRY(stream->begin_y4m(said));
    }
    ACUITY_TRY(complete_format(stream->format_, said, options.limits, name));
    ACUITY_TRY(stream->measure());
    return std::unique_ptr<FrameStream>(std::move(stream));
  }

  Result<bool> next(VideoFrame& frame) override {
    const Result<bool> more = find(frame);
    if (!more.ok() || !*more) return more;
    ACUITY_TRY(load(frame));
    return true;
  }

  Result<bool> find(VideoFrame& frame) override {
    bool found = false;
    ACUITY_TRY_ASSIGN(found, position_ ? find_in_file(frame) : read_in_order(frame));
    if (!found) return false;
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

  Status load(VideoFrame& frame) const override {
    frame.samples.resize(format_.frame_bytes());
    const PlaneSet wanted{wanted_[0], wanted_[1], wanted_[2]};
    for (const Part& part : parts(wanted)) {
      const std::span<uint8_t> samples(frame.samples.data() + part.offset, part.bytes);
      if (position_) {
        const off_t from = static_cast<off_t>(frame.place) + static_cast<off_t>(part.offset);
        size_t got = 0;
        ACUITY_TRY_ASSIGN(got, read_from(file_.get(), name_, from, samples));
        if (got < samples.size()) return truncated(frame.index, part.offset + got);
      }
      if (layout_ == RawLayout::p010) lower_bits(samples);
      if (layout_ != RawLayout::planar && part.offset > 0) separate_colours(samples);
      ACUITY_TRY(check_depth(frame.index, samples));
    }
    return {};
  }

  int readers() const override { return position_ ? frame_readers(format_.frame_bytes()) : 1; }

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

  // Samples that lie one after the other.
  struct Part {
    size_t offset = 0;
    size_t bytes = 0;
  };

  // Planes that are wanted, those that follow one another together.
  std::vector<Part> parts(PlaneSet wanted) const {
    if (layout_ != RawLayout::planar) wanted[1] = wanted[2] = wanted[1] || wanted[2];
    const size_t bytes = format_.depth > 8 ? 2 : 1;
    const size_t luma = static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height) * bytes;
    const size_t chroma = (format_.frame_bytes() - luma) / 2;
    std::vector<Part> list;
    size_t offset = 0;
    for (size_t p = 0; p < wanted.size(); ++p) {
      const size_t plane = p == 0 ? luma : chroma;
      // Pairs of colour are a part of their own.
      const bool joins =
          !list.empty() && list.back().offset + list.back().bytes == offset && (layout_ == RawLayout::planar || p == 2);
      if (wanted[p] && plane > 0) {
        if (joins) {
          list.back().bytes += plane;
        } else {
          list.push_back({offset, plane});
        }
      }
      offset += plane;
    }
    return list;
  }

  // In a file: where the samples of the next frame are.
  Result<bool> find_in_file(VideoFrame& frame) {
    const int64_t left = size_of(file_.get()) - *position_;
    if (left <= 0) return false;
    size_t line_bytes = 0;
    if (lines_) {
      line_.resize(kLongestLine);
      const std::span<uint8_t> beginning(reinterpret_cast<uint8_t*>(line_.data()), line_.size());
      size_t got = 0;
      ACUITY_TRY_ASSIGN(got, read_from(file_.get(), name_, *position_, beginning));
      line_.resize(std::min(line_.substr(0, got).find('\n'), got));
      line_bytes = line_.size() + 1;
      ACUITY_TRY(check_line(line_bytes <= got));
    }
    frame.place = *position_ + static_cast<int64_t>(line_bytes);
    const auto bytes = static_cast<int64_t>(format_.frame_bytes()), here = left - static_cast<int64_t>(line_bytes);
    if (here < bytes) return truncated(index_, static_cast<size_t>(std::max<int64_t>(here, 0)));
    *position_ = frame.place + bytes;
    return true;
  }

  // From a pipe: the whole of the next frame.
  Result<bool> read_in_order(VideoFrame& frame) {
    if (lines_) {
      const int c = std::getc(file_.get());
      if (c == EOF) return at_end();
      std::ungetc(c, file_.get());
      ACUITY_TRY(check_line(read_line(file_.get(), line_)));
    }
    frame.samples.resize(format_.frame_bytes());
    const size_t got = std::fread(frame.samples.data(), 1, frame.samples.size(), file_.get());
    if (got == 0 && !lines_) return at_end();
    if (got < frame.samples.size()) return truncated(index_, got);
    return true;
  }

  Status check_line(bool is_whole) const {
    if (is_whole && (line_ == "FRAME" || line_.starts_with("FRAME "))) return {};
    return input(fmt::format("'{}' is damaged: frame {} does not begin with FRAME; replace it with an intact copy",
                             name_, index_));
  }

  Status truncated(int64_t index, size_t got) const {
    return input(fmt::format("'{}' is truncated: frame {} has {} of {} bytes; replace it with an intact copy{}", name_,
                             index, got, format_.frame_bytes(),
                             lines_ ? "" : ", or correct the size, pixel format and depth that were given for it"));
  }

  // Pairs of Cb and Cr become two planes.
  void separate_colours(std::span<uint8_t> colours) const {
    thread_local std::vector<uint8_t> pairs;
    const size_t bytes = format_.depth > 8 ? 2 : 1, chroma = colours.size() / 2;
    pairs.assign(colours.begin(), colours.end());
    for (size_t i = 0; i < chroma; i += bytes) {
      std::memcpy(&colours[i], &pairs[2 * i], bytes);
      std::memcpy(&colours[chroma + i], &pairs[2 * i + bytes], bytes);
    }
  }

  // The six bits below the ten do not count; some writers leave them at something else than 0.
  static void lower_bits(std::span<uint8_t> bytes) {
    auto* samples = reinterpret_cast<uint16_t*>(bytes.data());
    for (size_t i = 0; i < bytes.size() / 2; ++i) samples[i] = static_cast<uint16_t>(samples[i] >> 6);
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
    if (size_of(file_.get()) > 0) position_ = ftello(file_.get());
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
  Status check_depth(int64_t index, std::span<const uint8_t> bytes) const {
    if (format_.depth == 8 || format_.depth == 16) return {};
    const auto* samples = reinterpret_cast<const uint16_t*>(bytes.data());
    uint16_t all = 0;
    for (size_t i = 0; i < bytes.size() / 2; ++i) all |= samples[i];
    if (all < 1 << format_.depth) return {};
    return input(
        fmt::format("frame {} of '{}' has a sample above {}, the maximum of {} bits; samples are little-endian in the "
                    "low bits: convert the stream or correct its depth",
                    index, name_, (1 << format_.depth) - 1, format_.depth));
  }

  File file_;
  std::string name_;
  std::string line_;
  bool lines_ = false;
  RawLayout layout_ = RawLayout::planar;
  std::optional<int64_t> position_;  // of the next frame, where the file is one to be read at any place
  int64_t index_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameStream>> open_planar(File file, std::string_view name, const VideoOptions& options) {
  return PlanarStream::open(std::move(file), name, options);
}

}  // namespace acuity
