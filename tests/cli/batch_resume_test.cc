// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity batch' that is stopped while a row hangs, goes on, and does failed rows again.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/batch_pictures.h"
#include "cli/command.h"

namespace acuity::test {
namespace {

using Strings = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int64_t lines_of(const std::string& path) {
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

// A list whose first row hangs: a pipe that nobody writes to, until it is mended. The rows behind it are fast.
struct Hanging {
  static constexpr int kFast = 30;
  std::string slow, list, out;
  bool table;
  explicit Hanging(const std::string& name)
      : slow(scratch(name + ".slow.ppm")), list(scratch(name + ".list.csv")), out(scratch(name)) {
    table = !name.ends_with(".jsonl");
    const std::string reference = small_picture("hr.ppm", 1);
    std::string text = fmt::format("q,reference,distorted\n0,{},{}\n", reference, slow);
    for (int i = 1; i <= kFast; ++i) {
      text += fmt::format("\"{},\n\",{},{}\n", i, reference, small_picture(fmt::format("hd{}.ppm", i % 7), 2 + i % 7u));
    }
    write_file(list, text);
    EXPECT_EQ(mkfifo(slow.c_str(), 0600), 0);
  }
  Strings words(const Strings& more = {}) const {
    Strings all{"batch", list, "-m", "psnr", "--devices", "cpu", "--threads", "3", "-o", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void mend() const {
    std::filesystem::remove(slow);
    small_picture(std::filesystem::path(slow).filename(), 9);
  }
  // What a run without faults writes.
  std::string expected() const {
    std::filesystem::remove(out);
    EXPECT_EQ(acuity(words()).exit_code, 0);
    return read_file(out);
  }
  // A header counts as a line of a table; the rows of a table have two.
  int64_t lines_with(int64_t fast) const { return table ? 1 + 2 * fast : fast; }
};

TEST(BatchResume, RowsThatWaitForASlowOneSurviveAKill) {
  for (const std::string name : {"ahead.csv", "ahead.tsv", "ahead.jsonl"}) {
    const Hanging hanging(name);
    const std::string ahead = hanging.out + ".ahead";
    const pid_t child = start_acuity(hanging.words());
    ASSERT_TRUE(comes_true([&] { return lines_of(ahead) == hanging.lines_with(Hanging::kFast); })) << read_file(ahead);
    kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for_end(child).status));
    EXPECT_EQ(lines_of(hanging.out), hanging.table ? 1 : 0);
    const std::string kept = read_file(ahead);
    hanging.mend();
    const Outcome again = acuity(hanging.words());
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_TRUE(contains(again.err, "1 row scored; 30 were there before")) << again.err;
    EXPECT_FALSE(std::filesystem::exists(ahead));
    const std::string resumed = read_file(hanging.out);
    EXPECT_EQ(resumed, hanging.expected());

    // With a part of the rows, a torn one, and some that are in OUT since then.
    const size_t second = resumed.find('\n', resumed.size() / 3) + 1;
    for (const size_t size : {kept.size() - 3, kept.size() / 2, size_t{7}}) {
      write_file(hanging.out, resumed.substr(0, second));
      write_file(ahead, kept.substr(0, size));
      const Outcome torn = acuity(hanging.words());
      EXPECT_EQ(torn.exit_code, 0) << torn.err;
      EXPECT_EQ(read_file(hanging.out), resumed) << size;
      EXPECT_FALSE(std::filesystem::exists(ahead));
    }
    // Whoever deletes OUT wants everything anew.
    std::filesystem::remove(hanging.out);
    write_file(ahead, kept);
    const Outcome anew = acuity(hanging.words());
    EXPECT_TRUE(contains(anew.err, "left over from a file that no longer exists")) << anew.err;
    EXPECT_TRUE(contains(anew.err, "31 rows scored")) << anew.err;
    EXPECT_EQ(read_file(hanging.out), resumed);
  }
}

TEST(BatchResume, WhatIsNotOfThisRunIsRefused) {
  const Hanging hanging("foreign.csv");
  hanging.mend();
  const std::string whole = hanging.expected(), ahead = hanging.out + ".ahead";
  const std::string header = "row," + whole.substr(0, whole.find('\n') + 1);
  const std::string begin = whole.substr(0, whole.find('\n', whole.find('\n') + 1) + 1);
  const auto refused = [&](const std::string& content, int code, const std::string& message) {
    write_file(hanging.out, begin);
    write_file(ahead, content);
    const Outcome outcome = acuity(hanging.words());
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, ahead)) << outcome.err;
    EXPECT_EQ(read_file(ahead), content);
  };
  refused("shopping list\n", 2, "or delete");
  refused("row,reference,distorted,q,mse,device,version,warnings,error\n", 2, "it has no column psnr");
  refused(header + "3,a,b,c,1,cpu,v,,,more\n", 3, "line 2: found 10 fields");
  refused(header + "2,a,b,c,1,cpu,v,,\n", 2, "line 2: reference is 'a', but row 2 of");
}

TEST(BatchResume, RetriedRowsThatWaitSurviveAKill) {
  const Hanging hanging("retried.csv");
  hanging.mend();
  const std::string whole = hanging.expected();
  // The first row has failed, and some behind it.
  std::filesystem::remove(hanging.slow);
  Strings hidden;
  for (const int i : {2, 5}) {
    hidden.push_back(scratch(fmt::format("hd{}.ppm", i)));
    std::filesystem::rename(hidden.back(), hidden.back() + ".hidden");
  }
  std::filesystem::remove(hanging.out);
  EXPECT_EQ(acuity(hanging.words()).exit_code, 6);
  for (const std::string& file : hidden) std::filesystem::rename(file + ".hidden", file);
  ASSERT_EQ(mkfifo(hanging.slow.c_str(), 0600), 0);
  const std::string failed = read_file(hanging.out), ahead = hanging.out + ".retry.ahead";
  constexpr int kRetried = 9;  // 2, 9, 16, 23, 30 and 5, 12, 19, 26
  const pid_t child = start_acuity(hanging.words({"--retry-failed"}));
  EXPECT_TRUE(comes_true([&] { return lines_of(ahead) == hanging.lines_with(kRetried); })) << read_file(ahead);
  kill(child, SIGKILL);
  wait_for_end(child);
  EXPECT_EQ(read_file(hanging.out), failed);
  hanging.mend();
  const Outcome again = acuity(hanging.words({"--retry-failed"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "1 row scored; 30 were there before")) << again.err;
  EXPECT_EQ(read_file(hanging.out), whole);
  EXPECT_FALSE(std::filesystem::exists(ahead));
}

// More rows than a scheduler that keeps them in order would hold.
TEST(BatchResume, ManyRowsPassASlowOne) {
  constexpr int kMany = 1300;
  for (const bool unordered : {false, true}) {
    const Hanging hanging(unordered ? "many_loose.csv" : "many.csv");
    std::string list = "reference,distorted\n" + fmt::format("{0},{0}\n", hanging.slow);
    const std::string reference = small_picture("hr.ppm", 1);
    for (int i = 0; i < kMany; ++i) list += fmt::format("{0},{0}\n", reference);
    write_file(hanging.list, list);
    const pid_t child = start_acuity(hanging.words(unordered ? Strings{"--unordered"} : Strings{}));
    const std::string written = unordered ? hanging.out : hanging.out + ".ahead";
    EXPECT_TRUE(comes_true([&] { return lines_of(written) == 1 + kMany; })) << lines_of(written);
    kill(child, SIGKILL);
    wait_for_end(child);
    std::filesystem::remove(hanging.slow);
  }
}

// While it waits for results, and while there is no room for more rows, because all threads hang.
TEST(BatchResume, ASignalEndsItWhateverHangs) {
  for (const bool all_hang : {false, true}) {
    const Hanging hanging(all_hang ? "stuck.csv" : "signal.csv");
    if (all_hang) {
      std::string list = "reference,distorted\n";
      for (int i = 0; i < 600; ++i) list += fmt::format("{0},{0}\n", hanging.slow);
      write_file(hanging.list, list);
    }
    const pid_t child = start_acuity(hanging.words());
    const auto waits = [&] {
      return all_hang ? lines_of(hanging.out) == 1
                      : lines_of(hanging.out + ".ahead") == hanging.lines_with(Hanging::kFast);
    };
    ASSERT_TRUE(comes_true(waits));
    if (all_hang) std::this_thread::sleep_for(std::chrono::milliseconds(700));  // until it has read the list
    kill(child, SIGTERM);
    const Ending ending = wait_for_end(child);
    EXPECT_TRUE(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGTERM) << ending.status;
    EXPECT_LT(ending.seconds, 5) << "a second, if the machine is not busy";
    if (all_hang) continue;
    hanging.mend();
    const Outcome again = acuity(hanging.words());
    EXPECT_TRUE(contains(again.err, "1 row scored; 30 were there before")) << again.err;
    EXPECT_EQ(read_file(hanging.out), hanging.expected());
  }
}

TEST(BatchResume, ASignalEndsCompareWhileARowHangs) {
  const Hanging hanging("compared.csv");
  const pid_t child = start_acuity({"compare", "-r", scratch("hr.ppm"), "--variant", hanging.slow, "--devices", "cpu"});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  kill(child, SIGINT);
  const Ending ending = wait_for_end(child);
  EXPECT_TRUE(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGINT) << ending.status;
  EXPECT_LT(ending.seconds, 5);
}

// A list through a pipe is done as it comes, and a signal ends the wait for its first line.
TEST(BatchResume, APipeIsReadAsItComes) {
  const std::string pipe = scratch("list.pipe"), out = scratch("piped.csv"), a = small_picture("pa.ppm", 1);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  const auto put = [&](const std::string& text) {
    ASSERT_EQ(write(end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  const Strings words{"batch", pipe, "-m", "mse", "--devices", "cpu", "-o", out};
  pid_t child = start_acuity(words);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  kill(child, SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(wait_for_end(child).status));
  EXPECT_FALSE(std::filesystem::exists(out));

  child = start_acuity(words);
  put("reference,distorted\n");
  EXPECT_TRUE(comes_true([&] { return lines_of(out) == 1; }));
  put(fmt::format("{0},{0}\n", a));
  EXPECT_TRUE(comes_true([&] { return lines_of(out) == 2; })) << read_file(out);
  close(end);
  EXPECT_EQ(WEXITSTATUS(wait_for_end(child).status), 0);
  const Outcome nothing =
      acuity({"batch", "-", "-m", "mse", "-o", scratch("none.csv")}, {.input = "reference,distorted\n"});
  EXPECT_EQ(nothing.exit_code, 3);
  EXPECT_TRUE(contains(nothing.err, "standard input: has no rows")) << nothing.err;
}

TEST(BatchResume, ARetryNeedsRowsAndLeavesOthers) {
  for (const bool unordered : {false, true}) {
    const Hanging hanging(unordered ? "partial_any.csv" : "partial.csv");
    std::filesystem::remove(hanging.slow);
    const auto run = [&](Strings more) {
      if (unordered) more.emplace_back("--unordered");
      return acuity(hanging.words(more));
    };
    const Outcome absent = run({"--retry-failed"});
    EXPECT_EQ(absent.exit_code, 2);
    EXPECT_TRUE(contains(absent.err, "there is no such file; leave out --retry-failed")) << absent.err;
    EXPECT_FALSE(std::filesystem::exists(hanging.out));
    EXPECT_EQ(run({}).exit_code, 6);
    const std::string whole = read_file(hanging.out);
    const std::string header = whole.substr(0, whole.find('\n') + 1);
    write_file(hanging.out, header);
    const Outcome empty = run({"--retry-failed"});
    EXPECT_EQ(empty.exit_code, 2);
    EXPECT_TRUE(contains(empty.err, "has no rows; leave out --retry-failed")) << empty.err;
    EXPECT_EQ(read_file(hanging.out), header);
    EXPECT_FALSE(std::filesystem::exists(hanging.out + ".retry"));
    // A row of this list is two lines of a table, but for the first.
    const std::string failed_row = whole.substr(whole.find(unordered ? "\n1," : "\n") + 1);
    write_file(hanging.out, header + failed_row.substr(0, failed_row.find('\n') + 1));
    hanging.mend();
    const Outcome partial = run({"--retry-failed"});
    EXPECT_EQ(partial.exit_code, 1) << partial.err;
    EXPECT_TRUE(contains(partial.err, "1 row scored")) << partial.err;
    EXPECT_TRUE(contains(partial.err, "lacks 30 rows of")) << partial.err;
    EXPECT_EQ(lines_of(hanging.out), 2);
    EXPECT_EQ(run({}).exit_code, 0);
    EXPECT_EQ(run({"--retry-failed"}).exit_code, 0);
  }
}

// A retry of rows in any order goes on where it ended, whatever of it is there.
TEST(BatchResume, ARetryInAnyOrderGoesOn) {
  const Hanging hanging("any.csv");
  std::filesystem::remove(hanging.slow);
  const auto sorted = [&] {
    const std::string text = read_file(hanging.out);
    std::string rows = text;
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  acuity(hanging.words({"--unordered"}));
  const std::string failed = read_file(hanging.out);
  hanging.mend();
  EXPECT_EQ(acuity(hanging.words({"--unordered", "--retry-failed"})).exit_code, 0);
  const std::string retried = read_file(hanging.out), bytes = sorted();
  for (const size_t size : {retried.size() / 3, retried.size() - 1, retried.size()}) {
    write_file(hanging.out, failed);
    write_file(hanging.out + ".retry", retried.substr(0, size));
    EXPECT_EQ(acuity(hanging.words({"--unordered", "--retry-failed"})).exit_code, 0);
    EXPECT_EQ(sorted(), bytes) << size;
  }
  write_file(hanging.out, failed);
  std::string other = retried;
  other.replace(other.find(",cpu,"), 1, "1,");  // another score
  write_file(hanging.out + ".retry", other);
  const Outcome refused = acuity(hanging.words({"--unordered", "--retry-failed"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "is left over from another run")) << refused.err;
}

// Names that JSON cannot hold are those of the list, not what the file of results has of them.
TEST(BatchResume, NamesThatAreNotUtf8) {
  const Hanging hanging("latin.jsonl");
  const std::string latin = scratch("caf\xe9.ppm"), reference = scratch("hr.ppm");
  write_file(hanging.list, fmt::format("reference,distorted\n{},{}\n", reference, latin));
  for (const Strings& more : {Strings{}, Strings{"--unordered"}}) {
    std::filesystem::remove(latin);
    std::filesystem::remove(hanging.out);
    EXPECT_EQ(acuity(hanging.words(more)).exit_code, 6);
    std::filesystem::copy_file(reference, latin);
    Strings retry = more;
    retry.emplace_back("--retry-failed");
    const Outcome retried = acuity(hanging.words(retry));
    EXPECT_EQ(retried.exit_code, 0) << retried.err;
    EXPECT_EQ(acuity(hanging.words(more)).exit_code, 0);
  }
  write_file(hanging.list, fmt::format("reference,distorted,r\xe9,r\xe8\n{0},{0},1,2\n", reference));
  std::filesystem::remove(hanging.out);
  const Outcome refused = acuity(hanging.words());
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(contains(refused.err, "is not UTF-8, which .jsonl needs")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(hanging.out));
}

TEST(BatchResume, PatternsDoNotFindTheResults) {
  const std::string folder = scratch("found"), reference = small_picture("fr.ppm", 1);
  std::filesystem::create_directories(folder);
  const auto put = [&](const std::string& name) { std::filesystem::copy_file(reference, folder + "/" + name); };
  put("b.ppm");
  const std::string out = folder + "/scores.csv";
  const auto run = [&] {
    return acuity({"batch", "-r", reference, "--glob", folder + "/*", "-m", "mse", "--devices", "cpu", "-o", out});
  };
  EXPECT_EQ(run().exit_code, 0);
  const std::string first = read_file(out);
  write_file(out + ".ahead", "");
  const Outcome again = run();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(out), first);
  put("c.ppm");
  EXPECT_EQ(run().exit_code, 0) << "behind those that are there";
  put("a.ppm");
  const Outcome earlier = run();
  EXPECT_EQ(earlier.exit_code, 2);
  EXPECT_TRUE(contains(earlier.err, "write the pairs into a list")) << earlier.err;
}

}  // namespace
}  // namespace acuity::test
