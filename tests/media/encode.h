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
/// What a file of several pictures holds at a place, made of what it holds at the first: every sample, xor that place.
Drawing frame_of(const Drawing& drawing, int place);
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

/// A frame of an animation as PNG has it.
struct PngFrameOptions {
  Drawing drawing;
  uint32_t x = 0, y = 0;
  uint8_t disposal = 0, blend = 0;  ///< as fcTL numbers them
};
/// `hidden`: a picture first that is not part of the animation.
File encode_png_animation(const std::vector<PngFrameOptions>& frames, bool hidden = false,
                          const PngOptions& options = {});

struct GifFrameOptions {
  Drawing drawing;  ///< of indices
  int x = 0, y = 0;
  int transparent = -1, disposal = 0, hundredths = 10;
  bool interlaced = false;
  File palette = {};  ///< of its own, RGB bytes
};
File encode_gif(int width, int height, const File& palette, const std::vector<GifFrameOptions>& frames);

struct BmpOptions {
  int header = 40, bits = 24, compression = 0;
  bool top_down = false;
  File palette = {};                 ///< RGB bytes; the samples are indices then
  std::vector<uint32_t> masks = {};  ///< red, green, blue, alpha
  File pixels = {};                  ///< instead of the drawing's, in the form of the file
  File icc = {};
};
File encode_bmp(const Drawing& drawing, const BmpOptions& options = {});

struct TgaOptions {
  bool run_length = false, top = false, right = false;
  File palette = {};        ///< RGB bytes; the samples are indices then
  int bits = 0;             ///< 16: five bits a sample; 0: by the number of channels
  int attribute_bits = -1;  ///< -1: 8 where there is alpha
  int alpha_kind = -1;      ///< at the end of the file; -1: nothing is said there
};
File encode_tga(const Drawing& drawing, const TgaOptions& options = {});

struct Jpeg2000Options {
  bool container = true;
  bool sycc = false;
  int halved = 0;  ///< 1: colour has half the columns, 2: half the rows too
  int signed_samples = 0;
  bool alpha = true;  ///< an even number of channels has alpha
  bool lossy = false;
};
File encode_jpeg2000(const Drawing& drawing, const Jpeg2000Options& options = {});

struct HeicOptions {
  File icc = {};
  int turned = 1;  ///< EXIF's number for how it is shown
};
/// Lossless inside, but through Y'CbCr unless it is grey.
File encode_heic(const Drawing& drawing, const HeicOptions& options = {});
/// Two pictures side by side as the tiles of one, of which the left and upper part of that size is shown.
File encode_heic_grid(const Drawing& left, const Drawing& right, int width, int height);

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
  int siting = 0;       ///< an avifChromaSamplePosition
  bool planes = false;  ///< the samples are Y, U, V as they go into the file
};
File encode_avif(const Drawing& drawing, const AvifOptions& options = {});

struct JxlOptions {
  bool lossless = true;
  bool is_float = false;  ///< samples / maximum, as 32-bit floats
  bool container = false;
  int frames = 1;
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
