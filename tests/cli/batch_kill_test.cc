// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity batch' killed at random moments, and stopped by a full disk: no row is lost, repeated or different.
//
// ACUITY_BATCH_KILLS and ACUITY_BATCH_ROWS make it longer: 200 and 10000 is the form that a release must pass.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include "cli/batch_pictures.h"
#include "cli/command.h"

extern char** environ;

namespace acuity::test {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

int number_from(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::atoi(text);
}

std::string write_list(int rows) {
  constexpr int kReferences = 7, kDistorted = 40;
  std::vector<std::string> references, distorted;
  for (unsigned i = 0; i < kReferences; ++i) references.push_back(small_picture(fmt::format("kr{}.ppm", i), i));
  for (unsigned i = 0; i < kDistorted; ++i) distorted.push_back(small_picture(fmt::format("kd{}.ppm", i), 100 + i));
  std::string list = "number,reference,distorted\n";
  for (int i = 0; i < rows; ++i) {
    const bool bad = i % 97 == 50;  // failed rows are rows as well
    list += fmt::format("{},{},{}\n", i, references[static_cast<size_t>(i * 5 % kReferences)],
                        bad ? "nowhere.ppm" : distorted[static_cast<size_t>(i % kDistorted)]);
  }
  const std::string path = scratch("kill.csv");
  write_file(path, list);
  return path;
}

pid_t start(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  setenv("XDG_CACHE_HOME", "/dev/null", /*replace=*/1);  // nothing is measured for the developer's own capability file
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

TEST(BatchKill, NoRowIsLostRepeatedOrDifferent) {
  const int kills = number_from("ACUITY_BATCH_KILLS", 12), rows = number_from("ACUITY_BATCH_ROWS", 1000);
  const std::string list = write_list(rows), whole = scratch("kill_whole.csv"), out = scratch("kill_out.csv");
  const auto words = [&](const std::string& path) {
    return std::vector<std::string>{ACUITY_COMMAND, "batch", list, "-m", "psnr", "--devices", "cpu", "-o", path};
  };
  const auto begin = steady_clock::now();
  EXPECT_EQ(run(words(whole)).exit_code, rows > 50 ? 6 : 0);
  const auto duration = std::chrono::duration_cast<microseconds>(steady_clock::now() - begin);
  const std::string expected = read_file(whole);
  ASSERT_EQ(std::count(expected.begin(), expected.end(), '\n'), rows + 1);

  // Each run begins behind what the one before has done, so that kills fall everywhere in the list.
  std::mt19937_64 random(20);
  std::uniform_int_distribution<int64_t> moments(0, std::max<int64_t>(duration.count() / 2, 20'000));
  int killed = 0, finished = 0, kept_something = 0;
  while (killed < kills) {
    const pid_t child = start(words(out));
    std::this_thread::sleep_for(microseconds(moments(random)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    const std::string left = read_file(out);
    ASSERT_TRUE(expected.starts_with(left)) << "after kill " << killed;
    if (!WIFSIGNALED(status)) {
      ASSERT_EQ(left, expected);
      std::filesystem::remove(out);
      ++finished;
      continue;
    }
    ++killed;
    kept_something += left.empty() ? 0 : 1;
  }
  EXPECT_EQ(run(words(out)).exit_code, rows > 50 ? 6 : 0);
  EXPECT_EQ(read_file(out), expected);
  std::printf("%d kills over %d rows; %d runs came to their end; %d left something\n", killed, rows, finished,
              kept_something);
}

#ifdef ACUITY_MEMORY_CAN_BE_LIMITED
TEST(BatchKill, AFullDiskStopsItAndNoMore) {
  const std::string list = write_list(60), whole = scratch("full_whole.csv"), out = scratch("full_out.csv");
  const std::vector<std::string> words{ACUITY_COMMAND, "batch", list, "-m", "psnr", "--devices", "cpu", "-o"};
  const auto with = [&](const std::string& path, std::vector<std::string> before) {
    before.insert(before.end(), words.begin(), words.end());
    before.push_back(path);
    return run(before);
  };
  with(whole, {});
  const std::string expected = read_file(whole);
  for (const size_t size : {size_t{0}, size_t{10}, expected.size() / 3, expected.size() - 1}) {
    std::filesystem::remove(out);
    const Outcome full = with(out, {"prlimit", fmt::format("--fsize={}", size)});
    EXPECT_EQ(full.exit_code, 1) << full.err;
    EXPECT_NE(full.err.find("writing failed: File too large"), std::string::npos) << full.err;
    EXPECT_TRUE(expected.starts_with(read_file(out)));
    EXPECT_EQ(with(out, {}).exit_code, 6);
    EXPECT_EQ(read_file(out), expected) << size;
  }
}
#endif

}  // namespace
}  // namespace acuity::test
