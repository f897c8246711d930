// SPDX-License-Identifier: BSD-2-Clause-Patent
// What all formats have in common: recognition, limits, bad files, and where files come from.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <sys/stat.h>

#include "base/large_memory.h"
#include "media/decode.h"

namespace acuity::tests {
namespace {

/// A folder of its own that goes away again.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/acuity_picture_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write(const std::string& path, const File& file) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

std::string message_of(const std::string& path, StatusCode code, const PictureLimits& limits = {}) {
  const Result<Picture> picture = read_picture(path, limits);
  EXPECT_FALSE(picture.ok());
  EXPECT_EQ(picture.status().code(), code);
  return picture.status().message();
}

TEST(Picture, IsRecognisedByContentAlone) {
  const Folder folder;
  for (const auto& [format, file] : one_of_each()) {
    const std::string path = folder / "misleading.xyz";
    write(path, file);
    const Result<Picture> picture = read_picture(path);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(picture->format, format);
    EXPECT_EQ(picture->view.width, 13);
    EXPECT_EQ(picture->view.height, 9);
  }
}

TEST(Picture, ReadsTheFixtures) {
  const struct {
    const char* name;
    int width, height;
    Channels channels;
  } kFixtures[] = {{"scene.png", 0, 0, Channels::rgb},
                   {"size_1x1.png", 1, 1, Channels::rgb},
                   {"size_33x31.png", 33, 31, Channels::rgb}};
  for (const auto& fixture : kFixtures) {
    const Result<Picture> picture = read_picture(std::string(ACUITY_TEST_DATA) + "/data/" + fixture.name);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(picture->view.channels, fixture.channels);
    if (fixture.width > 0) {
      EXPECT_EQ(picture->view.width, fixture.width);
      EXPECT_EQ(picture->view.height, fixture.height);
    }
  }
}

TEST(Picture, ReadsTheSeedsOfTheFuzzers) {
  const std::string corpus = std::string(ACUITY_TEST_DATA) + "/fuzz/corpus/fuzz_";
  std::set<std::string> refused;
  for (const char* format :
       {"avif", "bmp", "exr", "gif", "heic", "jpeg", "jpeg2000", "jxl", "pfm", "png", "pnm", "tga", "tiff", "webp"}) {
    for (const auto& seed : std::filesystem::directory_iterator(corpus + format)) {
      if (!read_picture(seed.path().string()).ok()) refused.insert(seed.path().filename().string());
    }
  }
  EXPECT_EQ(refused, (std::set<std::string>{"animated.gif", "animated.jxl", "animated.png", "animated.webp",
                                            "frames.avif", "pages.tif", "parts.exr"}));
}

// Several threads read a file of this size, and samples that need no change stay where the file was read to.
TEST(Picture, LargeFilesAreWhatTheyAre) {
  const Folder folder;
  const Drawing drawing = draw(1300, 1100, 3, 8);
  for (const std::string comment : {"", "# a longer header\n"}) {
    File file = encode_pnm('6', drawing, 255);
    file.insert(file.begin() + 3, comment.begin(), comment.end());
    write(folder / "large.ppm", file);
    const Result<Picture> picture = read_picture(folder / "large.ppm");
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(values_of(*picture), values_of(drawing));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(picture->view.planes[0]) % 4096, 0u);
    EXPECT_FALSE(large_pages_of(picture->view.planes[0]).empty());
    EXPECT_LE(large_pages_of(picture->view.planes[0]).size(), file.size() + (size_t{1} << 22)) << "no second copy";
    file.push_back('x');
    write(folder / "more.ppm", file);
    EXPECT_TRUE(says(message_of(folder / "more.ppm", StatusCode::input), {"continues after its first picture"}));
    file.resize(file.size() - 2);
    write(folder / "less.ppm", file);
    EXPECT_TRUE(says(message_of(folder / "less.ppm", StatusCode::input), {"ends too early"}));
  }
  const File png = encode_png(drawing);
  write(folder / "large.png", png);
  ASSERT_GT(png.size(), size_t{2} << 20);
  EXPECT_EQ(values_of(*read_picture(folder / "large.png")), values_of(drawing));
}

TEST(Picture, ViewsItsOwnMemoryAfterCopying) {
  Picture copy;
  {
    const Picture picture = decode(encode_png(draw(5, 4, 3, 8)));
    copy = picture;
  }
  EXPECT_EQ(values_of(copy), values_of(draw(5, 4, 3, 8)));
}

TEST(Picture, RefusesWhatIsNoPicture) {
  const Folder folder;
  EXPECT_TRUE(says(message_of(folder / "missing.png", StatusCode::input), {"missing.png", "no such file"}));
  EXPECT_TRUE(says(message_of(folder / "", StatusCode::input), {"directory"}));
  write(folder / "empty.png", {});
  EXPECT_TRUE(says(message_of(folder / "empty.png", StatusCode::input), {"empty.png", "is empty"}));
  const std::string text = "hello, world\n";
  write(folder / "text.png", File(text.begin(), text.end()));
  EXPECT_TRUE(says(message_of(folder / "text.png", StatusCode::input),
                   {"68 65 6c 6c 6f 2c 20 77", "hello, w", "PNG, JPEG, WebP, AVIF"}));
  for (const std::string start : {"\x89PNG", "\xff", "P", "P9\n", "RIFF1234WAVE", "II", "\x76\x2f"}) {
    EXPECT_TRUE(says(refusal(File(start.begin(), start.end())), {"known format"}));
  }
}

TEST(Picture, ReadsPipes) {
  const Folder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Drawing drawing = draw(300, 200, 3, 8);  // more than a pipe holds at once
  std::thread writer([&] { write(path, encode_png(drawing)); });
  const Result<Picture> picture = read_picture(path);
  writer.join();
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  expect_samples(*picture, drawing);
}

TEST(Picture, ReadsStandardInput) {
  const Folder folder;
  const Drawing drawing = draw(30, 20, 3, 8);
  write(folder / "file", encode_png(drawing));
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen((folder / "file").c_str(), "rb", stdin), nullptr);
  const Result<Picture> picture = read_picture("-");
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  expect_samples(*picture, drawing);
  EXPECT_TRUE(says(message_of("-", StatusCode::input), {"'standard input' is empty"}));
  dup2(saved, STDIN_FILENO);
  close(saved);
}

TEST(Picture, KeepsToTheLimits) {
  const Folder folder;
  for (const auto& [format, file] : one_of_each()) {
    PictureLimits limits;
    limits.maximum_side = 12;
    EXPECT_TRUE(says(refusal(file, StatusCode::too_big, limits), {"13x9", "12"})) << format;
    limits = {};
    limits.maximum_pixels = 116;
    EXPECT_TRUE(says(refusal(file, StatusCode::too_big, limits), {"13x9", "117", "116"})) << format;
    limits = {};
    limits.maximum_decoded_bytes = 350;
    EXPECT_TRUE(says(refusal(file, StatusCode::too_big, limits), {"bytes to decode", "350"})) << format;
    limits = {};
    limits.maximum_file_bytes = static_cast<int64_t>(file.size()) - 1;
    EXPECT_TRUE(says(refusal(file, StatusCode::too_big, limits), {std::to_string(file.size() - 1)})) << format;
    write(folder / "file", file);
    EXPECT_TRUE(says(message_of(folder / "file", StatusCode::too_big, limits), {std::to_string(file.size() - 1)}));
    limits.maximum_file_bytes += 1;
    EXPECT_TRUE(read_picture(folder / "file", limits).ok()) << format;
  }
}

TEST(Picture, WhatIsNoPictureIsRefusedByItsBeginning) {
  // It has no end: read to the limit, this would take gigabytes.
  EXPECT_TRUE(says(message_of("/dev/zero", StatusCode::input), {"'/dev/zero' is not a picture or video"}));
}

TEST(Picture, AVideoIsToldFromWhatIsUnknown) {
  const Folder folder;
  const std::string y4m = "YUV4MPEG2 W4 H4 F25:1\nFRAME\n" + std::string(24, ' ');
  write(folder / "video.png", File(y4m.begin(), y4m.end()));
  EXPECT_TRUE(says(message_of(folder / "video.png", StatusCode::input), {"is a video", "--sync index"}));
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "some line of text, which libav could draw as a film of a terminal\n";
  write(folder / "text.png", File(lines.begin(), lines.end()));
  EXPECT_TRUE(says(message_of(folder / "text.png", StatusCode::input), {"is not a picture or video"}));
  write(folder / "photo.yuv", File(9000, 16));
  EXPECT_TRUE(says(message_of(folder / "photo.yuv", StatusCode::input), {"raw YUV", "--size WIDTHxHEIGHT"}));
}

TEST(Picture, StopsReadingAPipeAtTheLimit) {
  const Folder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  File file = encode_png(draw(8, 8, 3, 8));
  file.resize(100000);
  std::thread writer([&] { write(path, file); });
  PictureLimits limits;
  limits.maximum_file_bytes = 99999;
  EXPECT_TRUE(says(message_of(path, StatusCode::too_big, limits), {"99999"}));
  writer.join();
}

TEST(Picture, CountsTurningTowardsTheLimit) {
  PictureLimits limits;
  const File file = with_chunk(encode_png(draw(10, 10, 3, 8)), "eXIf", exif(6));
  limits.maximum_decoded_bytes = 600;
  EXPECT_TRUE(decode_picture(file, "test", limits).ok());
  limits.maximum_decoded_bytes = 599;
  EXPECT_TRUE(says(refusal(file, StatusCode::too_big, limits), {"600 bytes"}));
}

// The header of a PNG file that claims a size, with the checksum a careful forger would give it.
File png_header(uint32_t width, uint32_t height) {
  File header;
  append_big_endian(header, width, 4);
  append_big_endian(header, height, 4);
  const File rest{8, 2, 0, 0, 0};
  header.insert(header.end(), rest.begin(), rest.end());
  File file = encode_png(draw(1, 1, 3, 8));
  file.erase(file.begin() + 8, file.begin() + 8 + 25);
  file.insert(file.begin() + 8, 25, 0);  // with_chunk puts it after the first 33 bytes
  file = with_chunk(file, "IHDR", header);
  file.erase(file.begin() + 8, file.begin() + 33);
  return file;
}

TEST(Picture, RefusesAbsurdSizes) {
  EXPECT_TRUE(decode_picture(png_header(1, 1), "test").ok());
  EXPECT_TRUE(says(refusal(png_header(60000, 60000), StatusCode::too_big), {"60000x60000", "268435456"}));
  EXPECT_TRUE(says(refusal(png_header(100000, 1), StatusCode::too_big), {"100000x1", "65535"}));
  EXPECT_TRUE(says(refusal(png_header(0, 0)), {"0x0"}));
  const std::string pnm = "P6 60000 60000 255\nabc";
  EXPECT_TRUE(says(refusal(File(pnm.begin(), pnm.end()), StatusCode::too_big), {"60000x60000"}));
  File avif = encode_avif(draw(8, 8, 3, 8));
  const std::string_view extents = "ispe";
  const auto size = std::search(avif.begin(), avif.end(), extents.begin(), extents.end());
  ASSERT_NE(size, avif.end());
  std::fill_n(size + 8, 8, uint8_t{1});
  EXPECT_TRUE(says(refusal(avif, StatusCode::too_big), {"16843009x16843009", "268435456"}));
  File jpeg = encode_jpeg(draw(8, 8, 3, 8));
  const uint8_t frame[] = {0xff, 0xc0, 0, 17, 8};
  const auto at = std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame));
  ASSERT_NE(at, jpeg.end());
  at[5] = at[6] = at[7] = at[8] = 0xea;
  EXPECT_TRUE(says(refusal(jpeg, StatusCode::too_big), {"60138x60138"}));
}

TEST(Picture, RefusesEveryTruncation) {
  for (const auto& [format, file] : one_of_each()) {
    for (size_t size = 0; size < file.size(); ++size) {
      const Result<Picture> picture = decode_picture(std::span(file).first(size), "bad.file");
      ASSERT_FALSE(picture.ok()) << format << " cut to " << size << " of " << file.size() << " bytes";
      EXPECT_EQ(picture.status().code(), StatusCode::input)
          << format << " cut to " << size << " bytes: " << picture.status().message();
    }
  }
}

TEST(Picture, SurvivesDamageAnywhere) {
  PictureLimits limits;
  limits.maximum_pixels = 1 << 16;
  limits.maximum_decoded_bytes = 1 << 24;
  for (const auto& [format, file] : one_of_each()) {
    for (size_t i = 0; i < file.size(); ++i) {
      for (const uint8_t value : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(file[i] ^ 1)}) {
        File bad = file;
        bad[i] = value;
        const Result<Picture> picture = decode_picture(bad, "bad.file", limits);
        if (!picture.ok()) {
          EXPECT_NE(picture.status().code(), StatusCode::internal) << format << ": " << picture.status().message();
        }
      }
    }
  }
}

}  // namespace
}  // namespace acuity::tests
