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
#include "media/decoder.h"
#include "media/video_sources.h"
#include "media/y4m.h"

namespace acuity {
namespace {

constexpr size_t kPeek = 4096;  // tells any format

Status input(std::string message) { return Status(StatusCode::input, std::move(message)); }

class PictureSource : public FrameSource {
 public:
  explicit PictureSource(Picture picture) : picture_(std::make_shared<Picture>(std::move(picture))) {
    format_.container = picture_->format;
    format_.width = picture_->view.width;
    format_.height = picture_->view.height;
    format_.depth = picture_->view.depth;
    format_.rgb = true;
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

Result<std::unique_ptr<FrameSource>> open_still(File file, std::string_view name, const VideoOptions& options) {
  std::vector<uint8_t> bytes;
  ACUITY_TRY_ASSIGN(bytes, read_all(file.get(), name, options.limits.maximum_file_bytes));
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, decode_picture(bytes, name, options.limits));
  return std::unique_ptr<FrameSource>(std::make_unique<PictureSource>(std::move(picture)));
}

// What a stream begins with, which is then read again. A file goes back; for a pipe the bytes are put back one by one,
// which the C library takes as many of as there is memory for.
std::string peek(std::FILE* file) {
  std::string bytes(kPeek, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::clearerr(file);
  const auto length = static_cast<off_t>(bytes.size());
  if (fseeko(file, -length, SEEK_CUR) == 0) return bytes;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) std::ungetc(static_cast<unsigned char>(*byte), file);
  return bytes;
}

Bytes as_bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

bool is_y4m(std::string_view beginning) { return !beginning.empty() && beginning.front() == kY4mMagic.front(); }

}  // namespace

Status complete_format(VideoFormat& format, const VideoOptions& said, const VideoOptions& options,
                       std::string_view name) {
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
  const std::string beginning = peek(file.get());
  return is_y4m(beginning) || (!begins_a_picture(as_bytes(beginning)) && is_known_to_libav(beginning, path));
}

Result<std::unique_ptr<FrameSource>> open_video(std::FILE* opened, std::string_view name, const VideoOptions& options) {
  File file(opened);
  try {
    if (options.size) return open_planar(std::move(file), name, options);
    const std::string beginning = peek(file.get());
    std::unique_ptr<FrameSource> source;
    if (is_y4m(beginning)) {
      ACUITY_TRY_ASSIGN(source, open_planar(std::move(file), name, options));
    } else if (beginning.empty() || begins_a_picture(as_bytes(beginning))) {
      return open_still(std::move(file), name, options);
    } else {
      ACUITY_TRY_ASSIGN(source, open_libav(std::move(file), name, options));
    }
    if (!options.depth) return source;
    return with_depth(std::move(source), *options.depth, name);
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
