// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/picture_size.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

class PictureSizes : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/acuity_picture_size_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder + "/picture";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const File& file) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }

  std::string folder, path;
};

TEST_F(PictureSizes, IsWhatReadingFinds) {
  std::vector<std::pair<std::string, File>> files = one_of_each();
  // Longer than what is looked at first, with the size at the beginning and at the end.
  const Drawing large = draw(211, 173, 3, 8);
  files.emplace_back("large PNG", encode_png(large));
  files.emplace_back("large TIFF", encode_tiff(large));
  for (const auto& [name, file] : files) {
    write(file);
    const Result<Picture> picture = read_picture(path);
    const Result<PictureSize> size = picture_size(path, {});
    ASSERT_TRUE(picture.ok()) << name;
    ASSERT_TRUE(size.ok()) << name << ": " << size.status().message();
    EXPECT_EQ(size->width, picture->view.width) << name;
    EXPECT_EQ(size->height, picture->view.height) << name;
  }
  EXPECT_GT(files.back().second.size(), size_t{1} << 16);
}

TEST_F(PictureSizes, SaysWhyThereIsNone) {
  const auto message = [&] { return picture_size(path, {}).status().message(); };
  EXPECT_EQ(message(), read_picture(path).status().message());
  for (const char* text : {"", "neither a picture nor a video", "\x89PNG\r\n\x1a\n"}) {
    write(File(text, text + std::strlen(text)));
    EXPECT_FALSE(message().empty());
    EXPECT_EQ(message(), read_picture(path).status().message()) << text;
  }
  write(encode_png(draw(20, 10, 3, 8)));
  PictureLimits limits;
  limits.maximum_side = 16;
  EXPECT_EQ(picture_size(path, limits).status().code(), StatusCode::too_big);
}

}  // namespace
}  // namespace acuity::tests
