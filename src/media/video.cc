// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/video.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "media/y4m.h"

namespace acuity {
namespace {

constexpr size_t kLongestLine = 4096;  // of a header

struct CloseFile {
  // Standard input is not ours to close.
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

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

// Fills in what neither the stream nor the user says, and records it.
Status complete(VideoFormat& format, const VideoOptions& said, const VideoOptions& options, std::string_view name) {
  const auto settle = [&](auto& target, const auto& by_user, const auto& by_stream, auto otherwise, auto text) {
    target = by_user ? *by_user : by_stream ? *by_stream : otherwise;
    (by_user || by_stream ? format.found : format.assumed).push_back(text(target));
  };
  const bool colourful = format.subsampling != Subsampling::grey;
  format.found.push_back(fmt::format("{}-bit {}", format.depth, name_of(format.subsampling)));
  settle(format.full_range, options.full_range, said.full_range, false,
         [](bool full) { return std::string(full ? "full range" : "limited range"); });
  if (colourful) {
    const bool large = format.width >= 1280 || format.height > 576;
    settle(format.matrix, options.matrix, said.matrix, large ? Matrix::bt709 : Matrix::bt601,
           [](Matrix matrix) { return fmt::format("matrix {}", name_of(matrix)); });
  }
  if (format.subsampling == Subsampling::yuv420 || format.subsampling == Subsampling::yuv422) {
    settle(format.siting, options.siting, said.siting, Siting::left,
           [](Siting siting) { return fmt::format("colour sited {}", name_of(siting)); });
  }
  int primaries = 1;
  int transfer = 1;
  settle(primaries, options.primaries, said.primaries, 1, [](int code) {
    return code == 1 ? std::string("BT.709 primaries") : fmt::format("primaries {} of H.273", code);
  });
  settle(transfer, options.transfer, said.transfer, 1, [](int code) {
    return code == 1 ? std::string("a BT.1886 display") : fmt::format("transfer function {} of H.273", code);
  });
  ACUITY_TRY_ASSIGN(format.colour, colour_from_cicp(primaries, transfer, 0, true, name));
  const PictureLimits& limits = options.limits;
  const int64_t pixels = int64_t{format.width} * format.height;
  if (format.width > limits.maximum_side || format.height > limits.maximum_side || pixels > limits.maximum_pixels ||
      static_cast<int64_t>(format.frame_bytes()) > limits.maximum_decoded_bytes) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' has frames of {} x {} pixels; the limit is {} on a side and {} in all", name,
                              format.width, format.height, limits.maximum_side, limits.maximum_pixels));
  }
  return {};
}

// YUV4MPEG2 and raw YUV: frames of equal size, in the one with a line before each.
class PlanarSource : public FrameSource {
 public:
  static Result<std::unique_ptr<FrameSource>> open(File file, std::string_view name, const VideoOptions& options) {
    auto source = std::make_unique<PlanarSource>();
    source->file_ = std::move(file);
    source->name_ = name;
    VideoOptions said;
    if (options.size) {
      source->begin_raw(options);
    } else {
      ACUITY_TRY(source->begin_y4m(said));
    }
    ACUITY_TRY(complete(source->format_, said, options, name));
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
    const size_t got = std::fread(frame.samples.data(), 1, frame.samples.size(), file_.get());
    if (got == 0 && !lines_) return at_end();
    if (got < frame.samples.size()) {
      return input(fmt::format("'{}' is truncated: frame {} has {} of {} bytes; replace it with an intact copy{}",
                               name_, index_, got, frame.samples.size(),
                               lines_ ? "" : ", or correct --size, --pixel-format and --depth"));
    }
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
  void begin_raw(const VideoOptions& options) {
    format_.container = "raw YUV";
    format_.width = options.size->first;
    format_.height = options.size->second;
    format_.subsampling = options.subsampling.value_or(Subsampling::yuv420);
    if (!options.subsampling) format_.assumed.emplace_back("pixel format yuv420p");
    format_.depth = options.depth.value_or(8);
    if (!options.depth) format_.assumed.emplace_back("8 bits");
  }

  Status begin_y4m(VideoOptions& said) {
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
        fmt::format("frame {} of '{}' has a sample above {}, the most that {} bits hold; samples are "
                    "little-endian in the low bits: convert the stream or correct its depth",
                    index_, name_, (1 << format_.depth) - 1, format_.depth));
  }

  File file_;
  std::string name_;
  std::string line_;
  bool lines_ = false;
  int64_t index_ = 0;
};

class PictureSource : public FrameSource {
 public:
  explicit PictureSource(Picture picture) : picture_(std::make_shared<Picture>(std::move(picture))) {
    format_.container = picture_->format;
    format_.width = picture_->view.width;
    format_.height = picture_->view.height;
    format_.depth = picture_->view.depth;
    format_.colour = picture_->view.colour;
    format_.frames = 1;
    format_.found = picture_->found;
    format_.assumed = picture_->assumed;
  }

  Result<bool> next(VideoFrame& frame) override {
    frame = {};
    frame.time = 0;
    frame.picture = std::exchange(picture_, nullptr);
    return frame.picture != nullptr;
  }

 private:
  std::shared_ptr<Picture> picture_;
};

Result<std::vector<uint8_t>> read_all(std::FILE* file, std::string_view name, int64_t limit) {
  std::vector<uint8_t> bytes;
  for (size_t step = 1 << 16;; step = bytes.size()) {
    const size_t have = bytes.size();
    bytes.resize(have + step);
    const size_t got = std::fread(bytes.data() + have, 1, step, file);
    bytes.resize(have + got);
    if (static_cast<int64_t>(bytes.size()) > limit) {
      return Status(StatusCode::too_big, fmt::format("'{}' is larger than the limit of {} bytes", name, limit));
    }
    if (got < step) return bytes;
  }
}

}  // namespace

size_t VideoFormat::frame_bytes() const {
  const size_t luma = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t chroma = static_cast<size_t>(chroma_width()) * static_cast<size_t>(chroma_height());
  return (luma + (subsampling == Subsampling::grey ? 0 : 2 * chroma)) * (depth > 8 ? 2 : 1);
}

bool is_video(const std::string& path) {
  std::error_code error;
  if (path != "-" && !std::filesystem::is_regular_file(path, error)) return false;
  const File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return false;
  // One letter is enough, and all that can be put back: no picture begins with it.
  const int first = std::getc(file.get());
  if (first != EOF) std::ungetc(first, file.get());
  return first == kY4mMagic.front();
}

Result<std::unique_ptr<FrameSource>> open_video(std::FILE* opened, std::string_view name, const VideoOptions& options) {
  File file(opened);
  try {
    if (options.size) return PlanarSource::open(std::move(file), name, options);
    const int first = std::getc(file.get());
    if (first != EOF) std::ungetc(first, file.get());
    if (first == kY4mMagic.front()) return PlanarSource::open(std::move(file), name, options);
    std::vector<uint8_t> bytes;
    ACUITY_TRY_ASSIGN(bytes, read_all(file.get(), name, options.limits.maximum_file_bytes));
    Result<Picture> picture = decode_picture(bytes, name, options.limits);
    if (!picture.ok()) {
      return Status(picture.status().code(),
                    fmt::format("{}; video is read as YUV4MPEG2, or raw with --size", picture.status().message()));
    }
    return std::unique_ptr<FrameSource>(std::make_unique<PictureSource>(std::move(*picture)));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::internal, fmt::format("out of memory while reading '{}'", name));
  }
}

Result<std::unique_ptr<FrameSource>> open_video(const std::string& path, const VideoOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return input(fmt::format("cannot read '{}': {}; give the path of a video file", name,
                             errno == ENOENT ? "there is no such file" : std::generic_category().message(errno)));
  }
  return open_video(file, name, options);
}

}  // namespace acuity
