// SPDX-License-Identifier: BSD-2-Clause-Patent
// Picture files for the tests, made by the formats' own encoders.
#ifndef ACUITY_TESTS_MEDIA_ENCODE_H
#define ACUITY_TESTS_MEDIA_ENCODE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/picture.h"

namespace acuity::tests {

using File = std::vector<uint8_t>;

/// Interleaved integer samples of `bits` bits.
struct Drawing {
  int width = 0, height = 0, channels = 3, bits = 8;
  std::vector<uint16_t> samples;
};

/// Noise that includes the smallest and the largest value, the same every time.
Drawing draw(int width, int height, int channels, int bits);
/// Flat colour.
Drawing flat(int width, int height, std::vector<uint16_t> pixel, int bits = 8);
/// Six pixels in two rows, a b c over d e f, all different: to see how a picture was turned.
Drawing letters(int channels = 1);
/// What letters() became: its rows, top first, with / between them.
std::string spell(const Picture& picture);

/// The samples of a picture, interleaved, as the numbers they are.
std::vector<double> values_of(const Picture& picture);
std::vector<double> values_of(const Drawing& drawing);

// Pieces of files.
void append(File& file, std::string_view text);
void append_big_endian(File& file, uint64_t value, int bytes);
void append_little_endian(File& file, uint64_t value, int bytes);
/// EXIF data with nothing but an orientation.
File exif(int orientation, bool little_endian = true);

// ICC profiles.
File rgb_profile();   ///< primaries near BT.709's, gamma 1.8, called "test RGB"
File srgb_profile();  ///< lcms2's own sRGB
File grey_profile();
File cmyk_profile();                       ///< paper is white, black ink is black, cyan ink is Lab (60, -20, -25)
std::array<double, 3> cyan_ink_as_srgb();  ///< 0 .. 1

struct PngOptions {
  bool interlaced = false;
  File palette = {};                                      ///< RGB bytes; the drawing's samples are indices then
  File palette_alpha = {};                                ///< tRNS for the palette
  std::optional<std::vector<uint16_t>> transparent = {};  ///< tRNS: the one transparent colour
};
File encode_png(const Drawing& drawing, const PngOptions& options = {});
/// The file with one chunk more after its header.
File with_chunk(const File& png, std::string_view type, const File& data);
/// The content of an iCCP chunk.
File iccp(const File& profile);

struct JpegOptions {
  int quality = 100;
  bool cmyk = false;  ///< the four samples are ink; otherwise grey or RGB by their number
  bool ycck = false;
  bool adobe = true;      ///< write CMYK inverted, and with Adobe's marker
  bool keep_rgb = false;  ///< no YCbCr inside
  bool progressive = false, arithmetic = false;
  bool subsample = false;
  int orientation = 0;
  File icc = {};
};
File encode_jpeg(const Drawing& drawing, const JpegOptions& options = {});

struct WebpOptions {
  bool lossless = true;
  File icc = {};
  File exif = {};
  int frames = 0;  ///< more than 0: an animation
};
File encode_webp(const Drawing& drawing, const WebpOptions& options = {});

struct AvifOptions {
  int format = 1;  ///< 1: 4:4:4, 2: 4:2:2, 3: 4:2:0, 4: 4:0:0 (an avifPixelFormat)
  bool full_range = true;
  int primaries = 1, transfer = 13, matrix = 0;
  int quarter_turns = -1, mirror = -1;  ///< -1: none
  std::array<uint32_t, 4> crop = {};    ///< x, y, width, height
  bool premultiplied = false;
  File icc = {};
  int frames = 1;
  bool planes = false;  ///< the samples are Y, U, V as they go into the file
};
File encode_avif(const Drawing& drawing, const AvifOptions& options = {});

struct JxlOptions {
  bool lossless = true;
  bool is_float = false;  ///< samples / maximum, as 32-bit floats
  bool animation = false, container = false;
  bool name_alpha = false;  ///< so that the header describes alpha in full
  int orientation = 1;
  int transfer = 13;  ///< of CICP; 65535: gamma
  double gamma = 1;
  int primaries = 1;  ///< 1 BT.709, 9 BT.2020, 11 P3
  float intensity = 0;
  File icc = {};
};
File encode_jxl(const Drawing& drawing, const JxlOptions& options = {});

struct TiffOptions {
  int photometric = -1;  ///< -1: grey or RGB, by the number of channels
  int compression = 1, tile = 0, rows_per_strip = 0, orientation = 1, pages = 1, sample_format = 1;
  int planar = 1;  ///< 2: separate
  int alpha = 2;   ///< what an even number of channels means: 0 unspecified, 1 premultiplied, 2 straight
  bool big_endian = false, big_tiff = false;
  std::vector<uint16_t> palette = {};  ///< all reds, all greens, all blues
  File icc = {};
};
/// With `floats`, those are the samples and the drawing gives the size alone.
File encode_tiff(const Drawing& drawing, const TiffOptions& options = {}, const std::vector<float>& floats = {});

struct ExrOptions {
  std::vector<std::string> channels = {"R", "G", "B"};
  bool half = false, integers = false, tiled = false, several_parts = false;
  int compression = 3;                       ///< an Imf::Compression; 3: ZIP
  int x = 0, y = 0;                          ///< origin of both windows
  int display_extra = 0;                     ///< columns by which the display window is wider
  std::array<float, 8> chromaticities = {};  ///< all 0: none
};
File encode_exr(int width, int height, const std::vector<float>& samples, const ExrOptions& options = {});

/// P1 .. P7 by `kind`.
File encode_pnm(char kind, const Drawing& drawing, int maximum);
File encode_pfm(int width, int height, int channels, const std::vector<float>& samples, bool little_endian);

/// One small sound file of each format, with the name of the format.
std::vector<std::pair<std::string, File>> one_of_each();

}  // namespace acuity::tests

#endif
