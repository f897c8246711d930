// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/pipeline_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace acuity {
namespace {

namespace fs = std::filesystem;

class PipelineFileTest : public testing::Test {
 protected:
  PipelineFileTest() {
    std::string name = (fs::temp_directory_path() / "acuity_pipelines_XXXXXX").string();
    folder = mkdtemp(name.data());
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~PipelineFileTest() override { fs::remove_all(folder); }

  static std::vector<std::byte> data_of(size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7);
    return data;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  fs::path folder;
};

TEST_F(PipelineFileTest, LoadsWhatWasSavedLast) {
  const PipelineFile file("key");
  EXPECT_TRUE(file.load().empty());
  for (const size_t bytes : {size_t{5000}, size_t{0}, size_t{17}}) {
    file.save(data_of(bytes));
    EXPECT_EQ(PipelineFile("key").load(), data_of(bytes));
  }
  EXPECT_TRUE(PipelineFile("another").load().empty());
  EXPECT_EQ(file.path(), folder / "acuity" / "vulkan-key.pipelines");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "acuity"), fs::directory_iterator()), 1) << "nothing else";
}

TEST_F(PipelineFileTest, IgnoresWhatIsDamaged) {
  const PipelineFile file("key");
  file.save(data_of(100));
  const std::string whole = text_of(file.path());
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    write(file.path(), damaged);
    EXPECT_TRUE(file.load().empty()) << "byte " << i;
    write(file.path(), whole.substr(0, i));
    EXPECT_TRUE(file.load().empty()) << i << " bytes";
  }
  write(file.path(), whole + "x");
  EXPECT_TRUE(file.load().empty());
  write(file.path(), whole);
  EXPECT_EQ(file.load(), data_of(100));
}

// Otherwise every later process would load the old one, and compile what it lacks.
TEST_F(PipelineFileTest, BeginsAnewWhenThereIsTooMuch) {
  const PipelineFile file("key");
  file.save(data_of(100));
  file.save(std::vector<std::byte>((size_t{64} << 20) + 1));
  EXPECT_FALSE(fs::exists(file.path()));
  file.save(data_of(50));
  EXPECT_EQ(file.load(), data_of(50));
}

TEST_F(PipelineFileTest, DoesWithoutAFolder) {
  write(folder / "acuity", "a file is in the way");
  const PipelineFile file("key");
  file.save(data_of(10));
  EXPECT_TRUE(file.load().empty());
  EXPECT_EQ(text_of(folder / "acuity"), "a file is in the way");
}

TEST_F(PipelineFileTest, LooksForTheFolderAsOthersDo) {
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  EXPECT_EQ(PipelineFile("key").path(), "/home/somebody/.cache/acuity/vulkan-key.pipelines");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(PipelineFile("key").path(), "/home/somebody/.cache/acuity/vulkan-key.pipelines");
  unsetenv("HOME");
  EXPECT_TRUE(PipelineFile("key").path().empty());
  PipelineFile("key").save(data_of(10));
  EXPECT_TRUE(PipelineFile("key").load().empty());
}

}  // namespace
}  // namespace acuity
