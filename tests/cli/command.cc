// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/command.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace acuity::test {
namespace {

// Two ends that close themselves: what the child has, and what we keep of it.
struct Channel {
  int ours = -1;
  int theirs = -1;
  ~Channel() {
    close_ours();
    close_theirs();
  }
  void close_ours() { close_end(ours); }
  void close_theirs() { close_end(theirs); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

void open_terminal(Channel& channel) {
  channel.ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(channel.ours, 0);
  ASSERT_EQ(grantpt(channel.ours), 0);
  ASSERT_EQ(unlockpt(channel.ours), 0);
  std::array<char, 64> name{};
  ASSERT_EQ(ptsname_r(channel.ours, name.data(), name.size()), 0);
  channel.theirs = open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(channel.theirs, 0);
}

void open_pipe(Channel& channel, bool child_reads) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  channel.ours = ends[child_reads ? 1 : 0];
  channel.theirs = ends[child_reads ? 0 : 1];
}

void read_all(int from, std::string& into) {
  std::array<char, 4096> block{};
  ssize_t count = 0;
  while ((count = read(from, block.data(), block.size())) > 0) into.append(block.data(), static_cast<size_t>(count));
}

// For each thread of a process, how often it stopped running; none if one is running.
std::optional<std::map<std::string, std::string>> stops(pid_t process) {
  std::map<std::string, std::string> found;
  std::error_code ended;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ended)) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && !line.starts_with("State:\tS")) return std::nullopt;
      if (line.find("ctxt_switches:") != std::string::npos) found[thread.path()] += line;
    }
  }
  return found;
}

// Until a child has read all that was written to it and none of its threads runs, nor ran since the look before.
void wait_until_idle(pid_t child, int its_input) {
  std::optional<std::map<std::string, std::string>> before;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);  // on a busy machine
  while (std::chrono::steady_clock::now() < deadline) {
    int unread = 0;
    EXPECT_EQ(ioctl(its_input, FIONREAD, &unread), 0);
    auto now = unread == 0 ? stops(child) : std::nullopt;
    if (now && now == before) return;
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "the command never waited for its input";
}

// Until a child has begun to handle a signal, or ended by it. The end of its input must not come first.
void wait_until_handled(pid_t child, int signal) {
  const auto is_pending = [&] {
    std::ifstream status("/proc/" + std::to_string(child) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("ShdPnd:")) continue;
      return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1) != 0;
    }
    return false;
  };
  for (int i = 0; i < 60'000 && is_pending(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for the first line of its handler
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// What a test measures stays out of the developer's own capability file, and out of what other tests see. Mesa's
// compiled kernels stay where they are.
std::vector<std::string> without_cache(std::vector<std::string> more) {
  const auto is_given = [&](const std::string& entry) { return entry.starts_with("XDG_CACHE_HOME="); };
  if (std::any_of(more.begin(), more.end(), is_given)) return more;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  more.emplace_back("XDG_CACHE_HOME=/dev/null");
  if (std::getenv("MESA_SHADER_CACHE_DIR") != nullptr || (cache == nullptr && home == nullptr)) return more;
  more.push_back("MESA_SHADER_CACHE_DIR=" + (cache != nullptr ? std::string(cache) : std::string(home) + "/.cache"));
  return more;
}

std::vector<std::string> environment_with(const std::vector<std::string>& given_by_test) {
  const std::vector<std::string> more = without_cache(given_by_test);
  std::vector<std::string> list = more;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string(*entry).find('=') + 1);
    bool replaced = false;
    for (const std::string& given : more) replaced = replaced || given.starts_with(name);
    if (!replaced) list.emplace_back(*entry);
  }
  return list;
}

}  // namespace

Outcome run(const std::vector<std::string>& words, const Surroundings& surroundings) {
  Outcome outcome;
  Channel in, out, err;
  surroundings.input_terminal ? open_terminal(in) : open_pipe(in, true);
  surroundings.output_terminal ? open_terminal(out) : open_pipe(out, false);
  surroundings.error_terminal ? open_terminal(err) : open_pipe(err, false);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.theirs, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.theirs, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.theirs, STDERR_FILENO);
  const std::vector<std::string> environment = environment_with(surroundings.environment);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(failed, 0) << words[0];
  if (failed != 0) return outcome;
  in.close_theirs();
  out.close_theirs();
  err.close_theirs();
  std::thread reads_output([&] { read_all(out.ours, outcome.out); });
  std::thread reads_errors([&] { read_all(err.ours, outcome.err); });
  std::signal(SIGPIPE, SIG_IGN);  // the child need not read its input
  [[maybe_unused]] const ssize_t written = write(in.ours, surroundings.input.data(), surroundings.input.size());
  if (surroundings.interrupt) {
    wait_until_idle(child, in.ours);
    kill(child, SIGINT);
    wait_until_handled(child, SIGINT);
  }
  if (!surroundings.input_terminal) in.close_ours();  // a terminal that hangs up is none any more
  int status = 0;
  waitpid(child, &status, 0);
  reads_output.join();
  reads_errors.join();
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

Outcome acuity(std::vector<std::string> words, const Surroundings& surroundings) {
  words.insert(words.begin(), ACUITY_COMMAND);
  return run(words, surroundings);
}

pid_t start_acuity(std::vector<std::string> words) {
  words.insert(words.begin(), ACUITY_COMMAND);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::vector<std::string> environment = environment_with({});
  pid_t child = 0;
  EXPECT_EQ(
      posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data()),
      0);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

Ending wait_for_end(pid_t child) {
  Ending ending;
  const auto begin = std::chrono::steady_clock::now();
  waitpid(child, &ending.status, 0);
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ending;
}

bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);  // on a busy machine
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

bool installed(const std::string& program) { return run({"sh", "-c", "command -v " + program}).exit_code == 0; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string scratch(const std::string& name) {
  // Of its own: numbers of processes come again, and a test that was killed leaves its files behind.
  struct Folder {
    std::string path = ::testing::TempDir() + "acuity_cli_test_XXXXXX";
    Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr) << path; }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path + "/" + name;
}

}  // namespace acuity::test
