// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/capability_file.h"

#include <cstdlib>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace acuity {
namespace {

namespace fs = std::filesystem;

const Machine kMachine{"0.1.0", "Some CPU, 8 threads"};
const std::string kGpu = "cuda 1 a";

Measurements some() {
  Measurements measured;
  measured.note_device(kGpu, {.id = "cuda:0",
                              .name = "NVIDIA \"H200\"",
                              .driver = "a",
                              .uuid = "1",
                              .memory_bytes = int64_t{1} << 37,
                              .cold_ms = 412.5});
  measured.note_device("cpu AVX2", {.id = "cpu", .driver = "AVX2"});
  measured.set({kGpu, "ssimulacra2", {}, 9}, {0.0123, 4});
  measured.set({kGpu, "ssimulacra2", {RowMode::Kind::prepared, true, true}, 11}, {0.2, 1});
  measured.set({"cpu AVX2", "mse", {}, 15}, {1.0 / 3, 7});
  return measured;
}

bool same(const Measurements& a, const Measurements& b) {
  return a.figures() == b.figures() && a.devices() == b.devices();
}

class CapabilityFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "acuity-capability.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder + "/cache/acuity/capability.json";
  }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& text) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  size_t files() const {
    const auto list = fs::directory_iterator(fs::path(path).parent_path());
    return static_cast<size_t>(std::distance(begin(list), end(list)));
  }

  std::string folder, path;
};

TEST_F(CapabilityFile, WhatIsWrittenIsRead) {
  ASSERT_TRUE(update_capability_file(path, some(), kMachine).ok());
  const Result<Measurements> read = read_capability_file(path, kMachine);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(same(*read, some()));
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
  EXPECT_EQ(fs::status(fs::path(path).parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(CapabilityFile, NoFileIsNoFailure) {
  const Result<Measurements> read = read_capability_file(path, kMachine);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->empty());
  EXPECT_TRUE(load_capabilities(path).ok());
  EXPECT_TRUE(load_capabilities("").ok());
  EXPECT_TRUE(save_capabilities("").ok());
}

TEST_F(CapabilityFile, DamagedAndForeignFilesAreRefused) {
  const std::string good = capability_text(some(), kMachine);
  ASSERT_TRUE(parse_capabilities(good, kMachine).ok());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char*> wrong[] = {
      {"", "it is not JSON"},
      {"[1, 2", "it is not JSON"},
      {good.substr(0, good.size() / 2), "it is not JSON"},
      {std::string(100000, '['), "it is not JSON"},
      {"[]", "it is not a JSON object"},
      {"{}", "\"format\" is not text"},
      {changed("capability/1", "capability/9"), "its format is 'acuity-capability/9'"},
      {changed("0.1.0", "0.0.9"), "it was written by acuity 0.0.9, and this is 0.1.0"},
      {changed("Some CPU", "Other CPU"), "it was written on another machine (Other CPU, 8 threads)"},
      {changed("\"devices\":", "\"device\":"), "\"devices\" is not an object"},
      {changed("0.0123", "-1"), "\"nanoseconds\" is -1"},
      {changed("0.0123", "0"), "\"nanoseconds\" is 0"},
      {changed("0.0123", "1e300"), "\"nanoseconds\" is 1e+300"},
      {changed("0.0123", "1e999"), "it is not JSON"},
      {changed("0.0123", "\"fast\""), "\"nanoseconds\" is not a number"},
      {changed("0.0123", "null"), "\"nanoseconds\" is not a number"},
      {changed("[0.0123,4]", "[0.0123]"), "a figure of ssimulacra2 is not a size with two numbers"},
      {changed("[0.0123,4]", "[0.0123,-4]"), "\"rows\" is -4"},
      {changed("\"262144\"", "\"262145\""), "a figure of ssimulacra2 is not a size"},
      {changed("\"262144\"", "\"524288\""), "a figure of ssimulacra2 is not a size"},
      {changed("\"262144\"", "\"0262144 \""), "a figure of ssimulacra2 is not a size"},
      {changed("\"262144\"", "\"64\""), "a figure of ssimulacra2 is not a size"},
      {changed("\"262144\"", "\"4294967296\""), "a figure of ssimulacra2 is not a size"},
      {changed("prepared strip many", "prepared strips"), "a mode of ssimulacra2 is unknown"},
      {changed("412.5", "-412.5"), "\"cold_start_ms\" is -412.5"},
      {changed("412.5", "1e18"), "\"cold_start_ms\" is 1e+18"},
      {changed("137438953472", "18446744073709551615"), "\"memory_bytes\" is 1.8446744073709552e+19"},
      {changed("\"software\":false", "\"software\":0"), "\"software\" is not true or false"},
      {changed("\"uuid\":\"1\"", "\"uuid\":1"), "\"uuid\" is not text"},
      {changed("\"uuid\":\"1\"", "\"uuid\":\"" + std::string(1000, 'u') + "\""), "\"uuid\" is longer than 256 bytes"},
  };
  for (const auto& [text, reason] : wrong) {
    const Result<Measurements> read = parse_capabilities(text, kMachine);
    ASSERT_FALSE(read.ok()) << reason;
    EXPECT_TRUE(read.status().message().starts_with(reason)) << read.status().message();
    write(text);
    const std::string told = read_capability_file(path, kMachine).status().message();
    EXPECT_EQ(told, "the capability file '" + path + "' is not used and will be replaced: " + read.status().message());
    ASSERT_TRUE(update_capability_file(path, some(), kMachine).ok());
    EXPECT_TRUE(same(*read_capability_file(path, kMachine), some())) << "made anew";
  }
}

TEST_F(CapabilityFile, OnlyRegularFilesOfSomeSizeAreRead) {
  fs::create_directories(fs::path(path).parent_path());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(read_capability_file(path, kMachine).status().message().ends_with("it is not a regular file"));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_TRUE(read_capability_file(path, kMachine).status().message().ends_with("it is not a regular file"));
  EXPECT_TRUE(update_capability_file(path, some(), kMachine).message().starts_with("cannot write the capability file"));
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
  fs::remove(path);
  write("");
  fs::resize_file(path, 1 << 30);
  EXPECT_TRUE(read_capability_file(path, kMachine).status().message().ends_with("it has more than 4194304 bytes"));
}

TEST_F(CapabilityFile, AFolderThatCannotBeMadeIsAFailure) {
  std::ofstream(folder + "/cache") << "a file";
  const Status written = update_capability_file(path, some(), kMachine);
  EXPECT_TRUE(written.message().starts_with("cannot write the capability file '" + path + "': ")) << written.message();
}

TEST_F(CapabilityFile, WhatOthersWroteStays) {
  Measurements first, second;
  first.note_device("a", {.id = "cuda:0", .uuid = "1"});
  first.set({"a", "m", {}, 9}, {1, 1});
  second.note_device("b", {.id = "cuda:1", .uuid = "2"});
  second.set({"b", "m", {}, 9}, {2, 1});
  ASSERT_TRUE(update_capability_file(path, first, kMachine).ok());
  ASSERT_TRUE(update_capability_file(path, second, kMachine).ok());
  Measurements both = first;
  both.put(second);
  EXPECT_TRUE(same(*read_capability_file(path, kMachine), both));
}

// Whoever reads meanwhile sees a whole file.
TEST_F(CapabilityFile, SeveralWritersAtOnce) {
  ASSERT_TRUE(update_capability_file(path, some(), kMachine).ok());
  constexpr int kWriters = 4, kTimes = 25;
  std::atomic<int> done = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kTimes; ++i) {
        Measurements one;
        const std::string key = "writer " + std::to_string(writer);
        one.note_device(key, {.id = key});
        one.set({key, "m", {}, kSmallestClass + i % 8}, {1.0 + i, 1});
        EXPECT_TRUE(update_capability_file(path, one, kMachine).ok());
      }
      ++done;
    });
  }
  while (done < kWriters) {
    const Result<Measurements> read = read_capability_file(path, kMachine);
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_NE(read->device(kGpu), nullptr) << "what was there before";
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
}

TEST_F(CapabilityFile, TheProcessSavesWhatChanged) {
  const Measurements before = process_measurements().now();
  Measurements known;
  known.note_device("saved test", {.id = "test"});
  known.set({"saved test", "m", {}, 9}, {10, 1});
  ASSERT_TRUE(update_capability_file(path, known, this_machine()).ok());
  ASSERT_TRUE(load_capabilities(path).ok());
  EXPECT_TRUE(process_measurements().now().row_ns("saved test", "m", {}, 512 * 512));
  const auto written = [&] { return fs::last_write_time(path); };
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(path, then);
  ASSERT_TRUE(save_capabilities(path).ok());
  EXPECT_EQ(written(), then) << "nothing changed";
  process_measurements().note("saved test", "m", {}, 512 * 512, 11);
  ASSERT_TRUE(save_capabilities(path).ok());
  EXPECT_EQ(written(), then) << "not by enough";
  process_measurements().note("saved test", "m", {}, 1024 * 1024, 5);
  ASSERT_TRUE(save_capabilities(path).ok());
  EXPECT_NE(written(), then);
  EXPECT_EQ(read_capability_file(path, this_machine())->figures().size(), 2u);
  fs::last_write_time(path, then);
  ASSERT_TRUE(save_capabilities(path).ok());
  EXPECT_EQ(written(), then) << "it was saved before";

  write("damaged");
  const Status loaded = load_capabilities(path);
  EXPECT_TRUE(loaded.message().ends_with("will be replaced: it is not JSON")) << loaded.message();
}

TEST_F(CapabilityFile, ItsPlaceFollowsTheEnvironment) {
  const auto with = [](const char* name, const char* value) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  };
  const std::string number = fs::path(capability_path()).filename();
  with("XDG_CACHE_HOME", "/some/cache");
  with("HOME", "/home/someone");
  EXPECT_TRUE(capability_path().starts_with("/some/cache/acuity/capability-"));
  with("XDG_CACHE_HOME", "relative");
  EXPECT_TRUE(capability_path().starts_with("/home/someone/.cache/acuity/capability-"));
  with("XDG_CACHE_HOME", nullptr);
  EXPECT_TRUE(capability_path().starts_with("/home/someone/.cache/acuity/capability-"));
  with("HOME", nullptr);
  EXPECT_EQ(capability_path(), "");
}

}  // namespace
}  // namespace acuity
