// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the decoders share. Each format has one file with one decoder; picture.cc chooses among them. Formats that hold
// one picture have a function that decodes it, the others one that opens a PictureFrames.
//
// A decoder reads the header, gets its memory from make_picture (which enforces the limits first), fills it with the
// samples as the file holds them, and names their colour. It must not print, throw or return a picture from damaged
// data.
#ifndef ACUITY_MEDIA_DECODER_H
#define ACUITY_MEDIA_DECODER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/picture.h"
#include "media/file.h"

namespace acuity {

using Bytes = std::span<const uint8_t>;

/// What a decoder asked memory for.
struct DecodedSize {
  int64_t width = 0;
  int64_t height = 0;
  int64_t bytes = 0;  ///< the most at a time, with what the decoder itself needs
};

/// A whole file in memory.
struct EncodedFile {
  Bytes bytes;
  std::string_view name;  ///< for messages
  const PictureLimits& limits;
  std::shared_ptr<std::byte[]> memory{};  ///< that the bytes are in, where a picture may keep and change them
  DecodedSize* asked = nullptr;           ///< filled by check_memory(), also when the limits refuse it
};

/// The pictures of a file that may hold several: an animation, or pages.
class PictureFrames {
 public:
  virtual ~PictureFrames() = default;
  int64_t count() const { return count_; }
  /// How long each is shown, in seconds; empty where they are pages.
  const std::vector<double>& durations() const { return durations_; }
  /// One of them. The number rises from call to call.
  virtual Result<Picture> read(int64_t index) = 0;

 protected:
  int64_t count_ = 1;
  std::vector<double> durations_;
};
using OpenedFrames = Result<std::unique_ptr<PictureFrames>>;

OpenedFrames open_avif(const EncodedFile& encoded);
OpenedFrames open_gif(const EncodedFile& encoded);
OpenedFrames open_jxl(const EncodedFile& encoded);
OpenedFrames open_png(const EncodedFile& encoded);
OpenedFrames open_tiff(const EncodedFile& encoded);
OpenedFrames open_webp(const EncodedFile& encoded);
Result<Picture> decode_bmp(const EncodedFile& encoded);
Result<Picture> decode_exr(const EncodedFile& encoded);
Result<Picture> decode_heic(const EncodedFile& encoded);
Result<Picture> decode_jpeg(const EncodedFile& encoded);
Result<Picture> decode_jpeg2000(const EncodedFile& encoded);
Result<Picture> decode_pfm(const EncodedFile& encoded);
Result<Picture> decode_pnm(const EncodedFile& encoded);
Result<Picture> decode_tga(const EncodedFile& encoded);

/// How much of a PNM file comes before its samples; 0 where its header is damaged.
size_t pnm_header_bytes(Bytes beginning);

// How these are recognised takes more than a few letters.
bool is_bmp(Bytes beginning);
bool is_heic(Bytes beginning);
bool is_jpeg2000(Bytes beginning);
bool is_tga(Bytes beginning);

// Which decoder (picture.cc).

/// Whether a file that begins so is a picture by its format.
bool begins_a_picture(Bytes beginning);
/// "PNG", "JPEG XL"; empty if it is none.
std::string_view picture_format(Bytes beginning);
/// Whether that format can hold several pictures.
bool may_hold_several(Bytes beginning);
/// The pictures of a file; what it refers to must outlive them.
OpenedFrames open_frames(const EncodedFile& encoded);
/// frames.read(index), with what other libraries throw as a failure, and without alpha that is opaque everywhere.
Result<Picture> read_frame(PictureFrames& frames, int64_t index, std::string_view name);
/// The bytes of a file that begins as a picture does.
Result<FileBytes> read_picture_file(std::FILE* file, std::string_view name, const PictureLimits& limits);
/// The picture of a file, or one of several; what read_picture() returns.
Result<Picture> decode_encoded(const EncodedFile& encoded, std::optional<int64_t> frame);
/// For a file that is neither a picture nor a video. `raw_options` as in VideoOptions.
Status unrecognised(Bytes beginning, std::string_view name, std::string_view raw_options);

// Errors (picture.cc).

/// The file breaks the rules of its format, or ends early.
Status damaged(const EncodedFile& encoded, std::string_view format, std::string_view what);
/// The file is sound, but holds something that is not read; `advice` says what to do.
Status unsupported(const EncodedFile& encoded, std::string_view what, std::string_view advice);

// Memory and pixels (pixels.cc).

struct Shape {
  int64_t width = 0;
  int64_t height = 0;
  Channels channels = Channels::rgb;
  SampleType type = SampleType::u8;
  int depth = 8;
  std::string stored = {};  ///< what the file holds, where that is something else: "8-bit CMYK"
};

/// "8-bit RGB", "16-bit float grey"
std::string describe(int bits, bool is_float, Channels channels);

/// Whether a picture of this size may be read at all.
Status check_size(const EncodedFile& encoded, int64_t width, int64_t height);
/// Whether this much memory may be used for it; make_picture asks on its own.
Status check_memory(const EncodedFile& encoded, int64_t width, int64_t height, int64_t bytes);
/// Memory for a picture within the limits, in which its samples lie interleaved row after row. `working_bytes` is what
/// the decoder itself needs for the whole picture. The content of the memory is unspecified.
Result<Picture> make_picture(const EncodedFile& encoded, std::string_view format, const Shape& shape,
                             int64_t working_bytes = 0);
/// The same for samples that are in the file as they are, one after the other: the picture keeps the file's memory.
/// Only where encoded.memory is not null.
Result<Picture> picture_in_file(const EncodedFile& encoded, std::string_view format, const Shape& shape, Bytes samples);
std::byte* row_of(Picture& picture, int64_t y);
/// Narrows the view to a part of the picture.
void crop(Picture& picture, int64_t x, int64_t y, int64_t width, int64_t height);

/// Undoes an EXIF orientation (1 .. 8): the first row and column become those seen at the top and left.
Status turn_upright(const EncodedFile& encoded, Picture& picture, int orientation);
/// Gives 16-bit samples back the depth they were stretched from (9 to 14), where every one of them is such a sample.
void narrow(Picture& picture, int depth);
/// Error when a float sample is not finite.
Status check_finite(const EncodedFile& encoded, const Picture& picture);
/// Turns premultiplied colour into what ImageView wants, as floats. Error where colour is left over without alpha.
Status divide_by_alpha(const EncodedFile& encoded, Picture& picture);
/// Leaves alpha out where every pixel is opaque: such a picture is like one without.
void drop_full_alpha(Picture& picture);

// Colour and metadata (metadata.cc).

/// Gives the picture an ICC profile, which is tried first.
Status set_icc(const EncodedFile& encoded, Picture& picture, Bytes profile);
/// Gives the picture the colour of CICP code points; its samples must be full-range RGB or grey by now.
Status set_cicp(const EncodedFile& encoded, Picture& picture, int primaries, int transfer);
/// Gives the picture, whose primaries are known by now if `has_primaries`, samples that are light to the power `gamma`
/// (0.45455, say). Returns what there is to add to that in what was found: some values stand for a curve near to it.
std::string set_gamma(Picture& picture, double gamma, bool has_primaries);
/// For a file that says nothing about colour.
void assume_srgb(Picture& picture);
/// Whether EXIF data begin here as JPEG has them: after the letters "Exif" and two zero bytes.
bool is_exif(Bytes bytes);
/// The orientation (1 .. 8) in EXIF data, with or without those letters; 1 when it has none.
int exif_orientation(Bytes exif);
/// turn_upright, with a record that EXIF asked for it.
Status apply_exif(const EncodedFile& encoded, Picture& picture, int orientation);

}  // namespace acuity

#endif
