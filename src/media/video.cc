// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/video.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <new>
#include <numeric>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "media/decoder.h"
#include "media/meaning.h"
#include "media/video_streams.h"
#include "media/y4m.h"

namespace acuity {
namespace {

Status input(std::string message) { return Status(StatusCode::input, std::move(message)); }

// A file of pictures. It is decoded from memory, one picture after the other.
class PicturesStream : public FrameStream {
 public:
  Status open(std::FILE* file, std::string_view name, const PictureLimits& limits) {
    name_ = name;
    limits_ = limits;
    ACUITY_TRY_ASSIGN(file_, read_bytes(file, name, limits.maximum_file_bytes));
    ACUITY_TRY_ASSIGN(frames_, open_frames({file_.bytes, name_, limits_}));
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, read_frame(*frames_, 0, name_));
    format_ = format_of(picture);
    colour_ = format_.colour;
    format_.frames = frames_->count();
    format_.rate = rate_of(frames_->durations());
    if (frames_->count() > 1) {
      format_.found.push_back(
          fmt::format("{} {}", frames_->count(), frames_->durations().empty() ? "pages" : "frames"));
    }
    first_ = std::make_shared<Picture>(std::move(picture));
    return {};
  }

  Result<bool> next(VideoFrame& frame) override {
    frame = {};
    if (index_ >= frames_->count()) return false;
    if (index_ == 0) {
      frame.picture = std::exchange(first_, nullptr);
    } else {
      Picture picture;
      ACUITY_TRY_ASSIGN(picture, read_frame(*frames_, index_, name_));
      frame.picture = std::make_shared<Picture>(std::move(picture));
    }
    const ImageView& view = frame.picture->view;
    if (view.width != format_.width || view.height != format_.height || view.depth != format_.depth) {
      return input(fmt::format(
          "'{}' changes at picture {} from {}x{} pixels of {} bits to {}x{} of {}; choose one of "
          "its pictures with --frame N",
          name_, index_, format_.width, format_.height, format_.depth, view.width, view.height, view.depth));
    }
    if (!same_colour(view.colour, colour_, view.is_grey())) {
      return input(fmt::format("'{}' changes at picture {} from {} to {}; choose one of its pictures with --frame N",
                               name_, index_, describe(colour_, view.is_grey()),
                               describe(view.colour, view.is_grey())));
    }
    frame.index = index_;
    frame.time = time_;
    if (!frames_->durations().empty()) time_ += frames_->durations()[static_cast<size_t>(index_)];
    ++index_;
    return true;
  }

 private:
  // Frames a second on average; not known for pages and for a single frame.
  static FrameRate rate_of(const std::vector<double>& durations) {
    const double total = std::accumulate(durations.begin(), durations.end(), 0.0);
    const auto milliseconds = static_cast<int64_t>(std::llround(1000 * total));
    if (durations.size() < 2 || milliseconds <= 0) return {};
    const auto frames = 1000 * static_cast<int64_t>(durations.size());
    const int64_t common = std::gcd(frames, milliseconds);
    return {frames / common, milliseconds / common};
  }

  std::string name_;
  PictureLimits limits_;
  FileBytes file_;
  std::unique_ptr<PictureFrames> frames_;
  std::shared_ptr<Picture> first_;
  Colour colour_;  // as the file says
  int64_t index_ = 0;
  double time_ = 0;
};

bool is_y4m(Bytes beginning) { return !beginning.empty() && beginning.front() == kY4mMagic.front(); }

// Samples may look like the mark of some format by chance, but hardly like these.
bool is_surely_not_raw(Bytes beginning) {
  const bool y4m =
      beginning.size() >= kY4mMagic.size() && std::equal(kY4mMagic.begin(), kY4mMagic.end(), beginning.begin());
  return y4m || is_known_to_libav(beginning, true);
}

}  // namespace

Status complete_format(VideoFormat& format, const SampleFacts& said, const PictureLimits& limits,
                       std::string_view name) {
  format.found.push_back(fmt::format("{}-bit {}", format.depth, name_of(format.subsampling)));
  const bool large = format.width >= 1280 || format.height > 576;
  format.full_range = said.full_range.value_or(false);
  format.matrix = said.matrix.value_or(large ? Matrix::bt709 : Matrix::bt601);
  format.siting = said.siting.value_or(Siting::left);
  ACUITY_TRY_ASSIGN(format.colour,
                    colour_from_cicp(said.primaries.value_or(1), said.transfer.value_or(1), 0, true, name));
  format.says = {.range = said.full_range.has_value(),
                 .matrix = said.matrix.has_value(),
                 .siting = said.siting.has_value(),
                 .primaries = said.primaries.has_value(),
                 .transfer = said.transfer.has_value()};
  const int64_t pixels = int64_t{format.width} * format.height;
  if (format.width > limits.maximum_side || format.height > limits.maximum_side || pixels > limits.maximum_pixels ||
      static_cast<int64_t>(format.frame_bytes()) > limits.maximum_decoded_bytes) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' has frames of {} x {} pixels; the limit is {} on a side and {} in all; "
                              "--max-pixels raises the second",
                              name, format.width, format.height, limits.maximum_side, limits.maximum_pixels));
  }
  return {};
}

void state_pixel_aspect(VideoFormat& format, int64_t width, int64_t height) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (width < 1 || height < 1) return;
  const int64_t common = std::gcd(width, height);
  if (width / common > kMost || height / common > kMost) return;
  format.pixel_aspect = {static_cast<int>(width / common), static_cast<int>(height / common)};
  if (width == height) return;
  format.state(
      fmt::format("pixels of {}:{}, scored as they are stored", format.pixel_aspect.first, format.pixel_aspect.second));
}

Status check_is_here(const VideoFormat& format, std::string_view name, std::string_view what) {
  if (format.device.empty()) return {};
  return {StatusCode::device,
          fmt::format("the frames of '{}' are decoded by {} and stay there, but {} needs them in the "
                      "host's memory; use --decode cpu",
                      name, format.device, what)};
}

size_t VideoFormat::frame_bytes() const {
  const size_t luma = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t chroma = static_cast<size_t>(chroma_width()) * static_cast<size_t>(chroma_height());
  return (luma + (subsampling == Subsampling::grey ? 0 : 2 * chroma)) * (depth > 8 ? 2 : 1);
}

bool begins_a_video(Bytes beginning) { return is_y4m(beginning) || is_known_to_libav(beginning); }

bool is_video(const std::string& path) {
  std::error_code error;
  if (path != "-" && !std::filesystem::is_regular_file(path, error)) return false;
  const Result<File> file = open_file(path);
  if (!file.ok()) return false;
  const std::vector<uint8_t> beginning = peek(file->get());
  return !begins_a_picture(beginning) && begins_a_video(beginning);
}

bool holds_several_pictures(const std::string& path, const PictureLimits& limits) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const Result<File> file = open_file(path);
  if (!file.ok() || !may_hold_several(peek(file->get()))) return false;
  const Result<FileBytes> whole = read_bytes(file->get(), path, limits.maximum_file_bytes);
  if (!whole.ok()) return false;
  const OpenedFrames frames = open_frames({whole->bytes, path, limits});
  return frames.ok() && (*frames)->count() > 1;
}

Result<std::unique_ptr<FrameStream>> open_video(std::FILE* opened, std::string_view name, const VideoOptions& options) {
  File file(opened);
  try {
    const std::vector<uint8_t> beginning = peek(file.get());
    if (options.size && is_surely_not_raw(beginning)) {
      return input(
          fmt::format("'{}' is a file in a known format, not raw YUV: leave out --size for it (--size WxH, is "
                      "for the reference only and --size ,WxH for the distorted video only)",
                      name));
    }
    if (options.size) return open_planar(std::move(file), name, options);
    const bool has_streams = !is_y4m(beginning) && !begins_a_picture(beginning);
    if (!has_streams && options.stream.value_or(0) != 0) {
      return input(fmt::format("'{}' has one video stream; leave out --stream {}", name, *options.stream));
    }
    if (is_y4m(beginning)) return open_planar(std::move(file), name, options);
    if (!beginning.empty() && !begins_a_picture(beginning)) return open_libav(std::move(file), name, options);
    if (options.decoder) {
      return Status(StatusCode::device,
                    fmt::format("'{}' is a picture, which is decoded on the CPU only; use --decode cpu for it", name));
    }
    auto pictures = std::make_unique<PicturesStream>();
    ACUITY_TRY(pictures->open(file.get(), name, options.limits));
    return std::unique_ptr<FrameStream>(std::move(pictures));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::out_of_memory, fmt::format("out of memory while reading '{}'", name));
  }
}

Result<std::unique_ptr<FrameStream>> open_video(const std::string& path, const VideoOptions& options) {
  File file;
  ACUITY_TRY_ASSIGN(file, open_file(path));
  return open_video(file.release(), name_of_file(path), options);
}

}  // namespace acuity
