// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity batch' killed at random moments, and stopped by a full disk: no row is lost, repeated or different, in each
// form of results, in order or not, and when failed rows are done again.
//
// ACUITY_BATCH_KILLS and ACUITY_BATCH_ROWS make it longer: 200 and 10000 is the form that a release must pass.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "cli/batch_pictures.h"
#include "cli/command.h"

namespace acuity::test {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

int number_from(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::atoi(text);
}

constexpr int kReferences = 7, kDistorted = 40;

std::string write_list(int rows) {
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

// One way to run it.
struct Form {
  std::string name;  // of OUT
  std::vector<std::string> options{};
};

class KilledBatch {
 public:
  KilledBatch(const Form& form, int rows)
      : form_(form), rows_(rows), list_(write_list(rows)), out_(scratch("kill_" + form.name)) {
    remove_all();
    if (retries()) {
      hide_pictures(true);
      EXPECT_EQ(run(plain_words()).exit_code, 6);
      failed_ = read_file(out_);
      hide_pictures(false);
    }
    const auto begin = steady_clock::now();
    EXPECT_EQ(run(words()).exit_code, exit_code());
    duration_ = std::chrono::duration_cast<microseconds>(steady_clock::now() - begin);
    expected_ = read_file(out_);
    EXPECT_EQ(std::count(expected_.begin(), expected_.end(), '\n'), rows + (is_table() ? 1 : 0));
    begin_anew();
  }

  std::vector<std::string> words() const {
    std::vector<std::string> all = plain_words();
    all.insert(all.end(), form_.options.begin(), form_.options.end());
    return all;
  }
  // Half a run: each begins behind what the one before has done, so that kills fall everywhere in the list.
  int64_t longest() const { return std::max<int64_t>(duration_.count() / 2, 20'000); }
  int exit_code() const { return rows_ > 50 ? 6 : 0; }
  bool retries() const { return has("--retry-failed"); }
  bool is_table() const { return !form_.name.ends_with(".jsonl"); }
  size_t size() const { return expected_.size(); }

  void begin_anew() const {
    remove_all();
    if (retries()) write_file(out_, failed_);
  }
  // Whether nothing was lost or changed, at any moment.
  void check() const {
    const std::string found = read_file(out_);
    if (retries()) {
      EXPECT_TRUE(found == failed_ || found == expected_);
      EXPECT_TRUE(expected_.starts_with(read_file(out_ + ".retry")));
    } else if (has("--unordered")) {
      const std::set<std::string> all = lines(expected_), some = lines(found.substr(0, found.rfind('\n') + 1));
      EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
    } else {
      EXPECT_TRUE(expected_.starts_with(found));
    }
  }
  void check_complete() const {
    const std::string found = read_file(out_);
    EXPECT_EQ(found.size(), expected_.size());
    if (has("--unordered")) {
      EXPECT_EQ(lines(found), lines(expected_));
    } else {
      EXPECT_EQ(found, expected_);
    }
    for (const char* companion : {".ahead", ".retry", ".retry.ahead"}) {
      EXPECT_FALSE(std::filesystem::exists(out_ + companion)) << companion;
    }
  }

 private:
  bool has(const std::string& option) const {
    return std::find(form_.options.begin(), form_.options.end(), option) != form_.options.end();
  }
  std::vector<std::string> plain_words() const {
    return {ACUITY_COMMAND, "batch", list_, "-m", "psnr", "--devices", "cpu", "-o", out_};
  }
  void remove_all() const {
    for (const char* end : {"", ".ahead", ".retry", ".retry.ahead"}) std::filesystem::remove(out_ + end);
  }
  static void hide_pictures(bool hide) {
    for (int i = 0; i < kDistorted; i += 2) {
      const std::string shown = scratch(fmt::format("kd{}.ppm", i)), hidden = shown + ".hidden";
      std::filesystem::rename(hide ? shown : hidden, hide ? hidden : shown);
    }
  }
  // Each of them once.
  static std::set<std::string> lines(const std::string& text) {
    std::set<std::string> set;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      EXPECT_TRUE(set.insert(text.substr(at, text.find('\n', at) - at)).second);
    }
    return set;
  }

  Form form_;
  int rows_;
  std::string list_, out_, failed_, expected_;
  microseconds duration_{};
};

std::vector<Form> forms() {
  return {{"ordered.csv"}, {"lines.jsonl"}, {"any.tsv", {"--unordered"}}, {"retry.csv", {"--retry-failed"}}};
}

TEST(BatchKill, NoRowIsLostRepeatedOrDifferent) {
  const int kills = number_from("ACUITY_BATCH_KILLS", 12), rows = number_from("ACUITY_BATCH_ROWS", 1000);
  const int kills_per_form = kills / static_cast<int>(forms().size());
  std::mt19937_64 random(20);
  for (const Form& form : forms()) {
    const KilledBatch batch(form, rows);
    std::uniform_int_distribution<int64_t> moments(0, batch.longest());
    int killed = 0, finished = 0;
    while (killed < kills_per_form && !HasFailure()) {
      std::vector<std::string> words = batch.words();
      words.erase(words.begin());
      const pid_t child = start_acuity(words);
      std::this_thread::sleep_for(microseconds(moments(random)));
      kill(child, SIGKILL);
      const bool was_killed = WIFSIGNALED(wait_for_end(child).status);
      batch.check();
      ++(was_killed ? killed : finished);
      if (was_killed) continue;
      batch.check_complete();
      batch.begin_anew();
    }
    EXPECT_EQ(run(batch.words()).exit_code, batch.exit_code());
    batch.check_complete();
    std::printf("%s: %d kills over %d rows; %d runs came to their end\n", form.name.c_str(), killed, rows, finished);
  }
}

#ifdef ACUITY_MEMORY_CAN_BE_LIMITED
TEST(BatchKill, AFullDiskStopsItAndNoMore) {
  for (const Form& form : forms()) {
    const KilledBatch batch(form, 60);
    for (const size_t size : {size_t{0}, size_t{10}, batch.size() / 3, batch.size() - 1}) {
      batch.begin_anew();
      std::vector<std::string> words = batch.words();
      words.insert(words.begin(), {"prlimit", fmt::format("--fsize={}", size)});
      const Outcome full = run(words);
      EXPECT_EQ(full.exit_code, 1) << full.err;
      EXPECT_NE(full.err.find("writing failed: File too large"), std::string::npos) << full.err;
      batch.check();
      EXPECT_EQ(run(batch.words()).exit_code, 6);
      batch.check_complete();
    }
  }
}
#endif

}  // namespace
}  // namespace acuity::test
