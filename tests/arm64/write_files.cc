// SPDX-License-Identifier: BSD-2-Clause-Patent
// Writes the files that tests/arm64/check compares scores of: write_files PICTURE.png FOLDER. They are written once, so
// that no encoder is part of the comparison.
#include <cstdio>
#include <fstream>
#include <string>

#include "media/encode.h"
#include "support/synthetic_video.h"

namespace acuity::tests {
namespace {

bool write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file.flush().good();
}
bool write(const std::string& path, const File& bytes) { return write(path, std::string(bytes.begin(), bytes.end())); }

// The picture with samples of this many bits.
Drawing redrawn(const Picture& picture, int bits) {
  Drawing drawing{picture.view.width, picture.view.height, 3, bits, {}};
  for (const double value : values_of(picture)) {
    drawing.samples.push_back(static_cast<uint16_t>(value * ((1 << bits) - 1) / 255));
  }
  return drawing;
}

bool write_pictures(const Picture& picture, const std::string& folder) {
  const Drawing eight = redrawn(picture, 8), ten = redrawn(picture, 10), sixteen = redrawn(picture, 16);
  std::vector<float> light;
  for (const uint16_t sample : sixteen.samples) light.push_back(static_cast<float>(sample) / 65535.0f);
  constexpr int kFourTwoZero = 3;
  const AvifOptions subsampled{.format = kFourTwoZero, .full_range = false, .matrix = 1};
  const int width = eight.width, height = eight.height;
  return write(folder + "/8_bits.420.jpg", encode_jpeg(eight, {.quality = 40, .subsample = true})) &&
         write(folder + "/8_bits.444.jpg", encode_jpeg(eight, {.quality = 60, .progressive = true})) &&
         write(folder + "/8_bits.webp", encode_webp(eight, {.lossless = false})) &&
         write(folder + "/deep.8_bits.avif", encode_avif(eight, subsampled)) &&
         write(folder + "/deep.heic", encode_heic(eight)) &&
         write(folder + "/deep.420.jp2", encode_jpeg2000(eight, {.sycc = true, .halved = 2})) &&
         write(folder + "/deep.420.avif", encode_avif(ten, subsampled)) &&
         write(folder + "/deep.444.avif", encode_avif(ten, {.full_range = false, .matrix = 9})) &&
         write(folder + "/deep.16_bits.jp2", encode_jpeg2000(sixteen)) &&
         write(folder + "/deep.jxl", encode_jxl(sixteen)) && write(folder + "/deep.png", encode_png(sixteen)) &&
         write(folder + "/deep.tiff", encode_tiff(sixteen, {.icc = rgb_profile()})) &&
         write(folder + "/deep.exr", encode_exr(width, height, light, {.half = true})) &&
         write(folder + "/deep.pfm", encode_pfm(width, height, 3, light, true));
}

struct Clip {
  const char* tag;
  int width, height, depth;
  Subsampling subsampling;
};

bool write_clips(const std::string& folder) {
  constexpr int kFrames = 4;
  for (const Clip& clip :
       {Clip{"420jpeg", 416, 336, 8, Subsampling::yuv420}, Clip{"420p10", 403, 323, 10, Subsampling::yuv420},
        Clip{"422p12", 320, 224, 12, Subsampling::yuv422}, Clip{"444p16", 320, 224, 16, Subsampling::yuv444}}) {
    const SyntheticVideo video(clip.width, clip.height, clip.depth, clip.subsampling);
    for (const bool distorted : {false, true}) {
      std::string text = "YUV4MPEG2 W" + std::to_string(clip.width) + " H" + std::to_string(clip.height) +
                         " F25:1 Ip A1:1 C" + clip.tag + "\n";
      for (int time = 0; time < kFrames; ++time) {
        const OwnedFrame frame = distorted ? video.distorted(time) : video.reference(time);
        text += "FRAME\n";
        for (const std::vector<uint8_t>& plane : frame.planes) text.append(plane.begin(), plane.end());
      }
      if (!write(folder + "/" + clip.tag + (distorted ? ".distorted.y4m" : ".y4m"), text)) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace acuity::tests

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: write_files PICTURE.png FOLDER\n");
    return 2;
  }
  const acuity::Result<acuity::Picture> picture = acuity::read_picture(words[1]);
  if (!picture.ok() || !acuity::tests::write_pictures(*picture, words[2]) || !acuity::tests::write_clips(words[2])) {
    std::fprintf(stderr, "write_files: the files could not be written to %s\n", words[2]);
    return 1;
  }
  return 0;
}
