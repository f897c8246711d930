// SPDX-License-Identifier: BSD-2-Clause-Patent
// Video as a sequence of frames: what a stream is, one frame after the other, and how a frame becomes RGB.
//
// A stream is YUV4MPEG2, raw YUV whose form the user tells, anything libav knows, or a file of pictures: one is a video
// of one frame, an animation or pages are one of several. Frames are read in order and never looked up, so that pipes
// serve as well as files.
#ifndef ACUITY_MEDIA_VIDEO_H
#define ACUITY_MEDIA_VIDEO_H

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/frame.h"
#include "acuity/image.h"
#include "acuity/input.h"
#include "acuity/picture.h"
#include "acuity/status.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "device/device.h"

namespace acuity {

/// How a raw stream lays out its samples: planes one after the other; luma and then pairs of Cb and Cr (nv12); the same
/// with two bytes a sample, of which the highest ten bits count (p010).
enum class RawLayout : uint8_t { planar, nv12, p010 };

struct PixelFormat {
  Subsampling subsampling = Subsampling::yuv420;
  RawLayout layout = RawLayout::planar;
};

/// How frames are brought to another size.
enum class Scaler : uint8_t { bicubic, bilinear, lanczos };

/// What a stream says of its samples, or a user does in its place; what is not there is not said.
struct SampleFacts {
  std::optional<bool> full_range{};
  std::optional<Matrix> matrix{};
  std::optional<Siting> siting{};
  std::optional<int> primaries{};  ///< a code point of H.273
  std::optional<int> transfer{};   ///< a code point of H.273
};

/// How a stream is read. The form of a raw stream is not in it.
struct VideoOptions {
  std::optional<std::pair<int, int>> size{};  ///< given: the stream is raw
  std::optional<PixelFormat> pixel_format{};
  std::optional<int> depth{};
  std::optional<int> stream{};  ///< which of the video streams of a container, from 0
  PictureLimits limits{};
  std::shared_ptr<Device> decoder{};  ///< whose own decoder is used for coded video; null: the CPU
  /// How messages say that a stream is raw.
  std::string_view raw_options = "--size WIDTHxHEIGHT, and --pixel-format and --depth if they are not yuv420p and 8";
};

/// What a stream or file itself says of its samples. What it does not say is assumed until settle_meaning() of
/// media/meaning.h has looked at both sides.
struct Says {
  bool range = false;
  bool matrix = false;
  bool siting = false;
  bool primaries = false;
  bool transfer = false;
};

struct VideoFormat {
  std::string container;  ///< "YUV4MPEG2", "raw YUV", what libav calls it, or the format of a picture
  int width = 0;
  int height = 0;
  Subsampling subsampling = Subsampling::yuv420;
  int depth = 8;
  bool rgb = false;     ///< frames are pictures, and what concerns Y'CbCr here does not count
  bool still = false;   ///< from a file of pictures
  bool grey = false;    ///< RGB frames have one channel
  bool alpha = false;   ///< RGB frames have transparency
  bool floats = false;  ///< RGB frames have float samples
  std::string device;   ///< frames are there, as VideoFrame::there; empty: in the host's memory
  Says says{};
  bool full_range = false;
  Matrix matrix = Matrix::bt709;
  Siting siting = Siting::left;
  Colour colour{};
  FrameRate rate;
  std::optional<int64_t> frames;           ///< where the file or its length tells
  std::optional<double> seconds;           ///< how long it is, where the container says so
  std::pair<int, int> pixel_aspect{0, 0};  ///< 0: not known
  std::optional<bool> interlaced;
  std::vector<std::string> found;
  std::vector<std::string> assumed;
  std::vector<std::string> stated;    ///< what of `found` every result shows, because it is easily overlooked
  std::vector<std::string> warnings;  ///< what makes scores of it doubtful

  void state(std::string text) {
    stated.push_back(text);
    found.push_back(std::move(text));
  }
  int chroma_width() const { return subsampling == Subsampling::yuv444 ? width : (width + 1) / 2; }
  int chroma_height() const { return subsampling == Subsampling::yuv420 ? (height + 1) / 2 : height; }
  /// Of the planes of a frame, one after the other without gaps; 16-bit samples are little-endian.
  size_t frame_bytes() const;
};

/// What is not written to it is not set.
using SampleBytes = std::vector<uint8_t, LargeAllocator<uint8_t>>;

struct VideoFrame {
  int64_t index = 0;                 ///< from 0
  std::optional<double> time;        ///< seconds; none where the rate is not known
  SampleBytes samples;               ///< planes Y, Cb, Cr
  int64_t place = 0;                 ///< where in the file they begin, between FrameStream::find() and load()
  std::shared_ptr<Picture> picture;  ///< in place of samples, for a picture
  Input there;                       ///< in place of samples, for a frame on a device
};

/// A stream. Used by one thread at a time, except for load() and want().
class FrameStream {
 public:
  virtual ~FrameStream() = default;
  const VideoFormat& format() const { return format_; }
  /// The next frame, or false at the end. After an error there is nothing more.
  virtual Result<bool> next(VideoFrame& frame) = 0;

  /// The same in two parts: load() may be called by several threads, so that frames are copied from the system's cache
  /// as fast as memory allows. Most streams do all of it in find().
  virtual Result<bool> find(VideoFrame& frame) { return next(frame); }
  virtual Status load(VideoFrame&) const { return {}; }
  /// How many threads shall call load() at a time.
  virtual int readers() const { return 1; }

  /// Only these planes are looked at: those of frames to come may hold anything. At any time, from any thread.
  void want(const PlaneSet& planes) {
    for (size_t p = 0; p < planes.size(); ++p) wanted_[p] = planes[p];
  }

  /// Takes over what settle_meaning() of media/meaning.h made of the format.
  void settle(VideoFormat settled) { format_ = std::move(settled); }

 protected:
  VideoFormat format_;
  std::array<std::atomic<bool>, 3> wanted_{true, true, true};
};

/// An error where frames are on a device and `what`, such as an option, needs them in the host's memory.
Status check_is_here(const VideoFormat& format, std::string_view name, std::string_view what);

/// Whether a regular file, or what waits on standard input, is a video. Named pipes cannot be looked into: false.
bool is_video(const std::string& path);
/// Whether a regular file is one of several pictures: an animation, or pages.
bool holds_several_pictures(const std::string& path, const PictureLimits& limits);

/// Opens a file or standard input ("-").
Result<std::unique_ptr<FrameStream>> open_video(const std::string& path, const VideoOptions& options);

/// The same for a file already open, which the stream closes unless it is standard input; `name` is for messages.
Result<std::unique_ptr<FrameStream>> open_video(std::FILE* file, std::string_view name, const VideoOptions& options);

/// The frames of a stream with another number of bits; nothing changes for those that have that many.
Result<std::unique_ptr<FrameStream>> with_depth(std::unique_ptr<FrameStream> stream, int depth, std::string_view name);

/// The frames of a stream at another size; the stream itself where it has that size.
Result<std::unique_ptr<FrameStream>> with_size(std::unique_ptr<FrameStream> stream, int width, int height,
                                               Scaler scaler, std::string_view name);

/// What the frames of a stream are, and one of them; not where they are pictures.
FrameFormat frame_format(const VideoFormat& format);
FrameView view_of(const FrameShape& shape, std::shared_ptr<const VideoFrame> frame);

/// A frame as RGB or grey floats, in memory of this object that the next conversion uses again; a picture as it is.
class FrameConverter {
 public:
  ImageView operator()(const VideoFormat& format, const VideoFrame& frame, const Threads& threads);

 private:
  std::vector<float> planes_;
};

/// Frames whose memory is used again once nobody holds them. They may outlive the pool.
class FramePool {
 public:
  std::shared_ptr<VideoFrame> take();

 private:
  struct Unused {
    std::mutex mutex;
    std::vector<VideoFrame> frames;
  };
  std::shared_ptr<Unused> unused_ = std::make_shared<Unused>();
};

// Names for users (video_names.cc).

std::string_view name_of(Subsampling value);
std::string_view name_of(Siting value);
std::string_view name_of(Matrix value);
std::string_view name_of(Scaler value);
Result<Subsampling> parse_subsampling(std::string_view name);
Result<PixelFormat> parse_pixel_format(std::string_view name);
Result<Siting> parse_siting(std::string_view name);
Result<Matrix> parse_matrix(std::string_view name);
Result<Scaler> parse_scaler(std::string_view name);
Result<int> parse_primaries(std::string_view name);
Result<int> parse_transfer(std::string_view name);
std::string describe(const FrameRate& rate);

}  // namespace acuity

#endif
