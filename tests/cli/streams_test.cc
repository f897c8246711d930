// SPDX-License-Identifier: BSD-2-Clause-Patent
// Terminals, pipes, full disks and interrupts.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

constexpr char kEscape = '\x1b';

bool coloured(const std::string& text) { return text.find(kEscape) != std::string::npos; }

Outcome score_on_terminal(std::vector<std::string> more, std::vector<std::string> environment) {
  more.insert(more.begin(), {"score", "-m", "psnr", scene(), noisy()});
  return acuity(more, {.environment = std::move(environment), .output_terminal = true});
}

TEST(Streams, ColourOnlyWhereItIsWanted) {
  EXPECT_TRUE(coloured(score_on_terminal({}, {"TERM=xterm", "NO_COLOR="}).out));
  EXPECT_FALSE(coloured(score_on_terminal({}, {"TERM=xterm", "NO_COLOR=1"}).out));
  EXPECT_FALSE(coloured(score_on_terminal({}, {"TERM=dumb", "NO_COLOR="}).out));
  EXPECT_FALSE(coloured(score_on_terminal({"--color", "never"}, {"TERM=xterm", "NO_COLOR="}).out));
  EXPECT_TRUE(coloured(score_on_terminal({"--color=always"}, {"TERM=xterm", "NO_COLOR=1"}).out));
  EXPECT_FALSE(coloured(acuity({"score", scene(), noisy()}, {.environment = {"TERM=xterm", "NO_COLOR="}}).out));
  EXPECT_TRUE(coloured(acuity({"score", scene(), noisy(), "--color", "always"}).out));
}

TEST(Streams, JsonAndCsvAreNeverColoured) {
  EXPECT_FALSE(coloured(acuity({"score", scene(), noisy(), "--color", "always", "--json"}).out));
  EXPECT_FALSE(coloured(acuity({"score", scene(), noisy(), "--color", "always", "--csv"}).out));
}

TEST(Streams, ProgressOnATerminalOnly) {
  const Surroundings terminal{.environment = {"TERM=xterm"}, .error_terminal = true};
  // One thread scores one pair after the other; several take some at once.
  EXPECT_NE(acuity({"score", "--threads=1", scene(), noisy(), blurred()}, terminal).err.find("1 of 2"),
            std::string::npos);
  // A single pair may be large: what is being done is told, and taken back at the end.
  const std::string single = acuity({"score", "-m", "psnr,mse", scene(), noisy()}, terminal).err;
  EXPECT_NE(single.find("reading " + scene()), std::string::npos) << single;
  EXPECT_NE(single.find("computing 2 metrics"), std::string::npos) << single;
  EXPECT_TRUE(single.ends_with("\r\x1b[K")) << single;
  EXPECT_EQ(acuity({"score", scene(), noisy(), blurred()}).err, "");
  const Surroundings dumb{.environment = {"TERM=dumb"}, .error_terminal = true};
  EXPECT_EQ(acuity({"score", scene(), noisy(), blurred()}, dumb).err, "");
}

TEST(Streams, SuccessIsSilentOnStandardError) {
  for (const char* command : {"metrics", "devices", "man", "selftest", "--help", "--version"}) {
    const Outcome outcome = acuity({command});
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_EQ(outcome.err, "") << command;
    EXPECT_NE(outcome.out, "") << command;
  }
}

TEST(Streams, AFullDiskIsAFailure) {
  for (const std::string& arguments :
       {std::string("metrics"), std::string("--help"), "score " + scene() + " " + noisy()}) {
    const Outcome outcome = run({"sh", "-c", ACUITY_COMMAND " " + arguments + " > /dev/full"});
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
  }
}

TEST(Streams, AClosedStandardOutputIsAFailure) {
  EXPECT_EQ(run({"sh", "-c", ACUITY_COMMAND " metrics >&-"}).exit_code, 1);
}

TEST(Streams, AClosedPipeEndsQuietly) {
  const std::string many = noisy() + " " + noisy() + " " + noisy();
  const Outcome outcome =
      run({"bash", "-c", ACUITY_COMMAND " score " + scene() + " " + many + " | true; exit ${PIPESTATUS[0]}"});
  EXPECT_EQ(outcome.err, "");
  // All may have been taken before the pipe closed.
  EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 0) << outcome.exit_code;
}

TEST(Streams, AnInterruptEndsItAsShellsExpect) {
  // It waits for a picture on standard input. Death by the signal is what shells show as 130.
  const Outcome outcome = acuity({"score", scene(), "-"}, {.interrupt = true});
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_EQ(outcome.out, "");
}

// The first of several waits on standard input; the others are not begun any more.
TEST(Streams, AnInterruptBeginsNoOtherVideo) {
  const std::string whole = scratch("several.y4m"), output = scratch("several.json");
  write_file(whole, draw_y4m({.frames = 9}));
  const Outcome outcome = acuity({"score", "-m", "psnr_yuv", "-o", output, whole, "-", whole, whole},
                                 {.input = draw_y4m({.frames = 5, .damage = 9}), .interrupt = true});
  EXPECT_EQ(outcome.signal, SIGINT);
  const nlohmann::json document = nlohmann::json::parse(read_file(output));
  EXPECT_EQ(document["complete"], false);
  ASSERT_EQ(document["results"].size(), 1u) << outcome.err;
  EXPECT_EQ(document["results"][0]["complete"], false);
}

// One video waits on standard input for a frame that never comes, or for the rest of one.
TEST(Streams, AnInterruptedVideoIsWrittenAsFarAsItCame) {
  const std::string whole = scratch("interrupted.y4m");
  write_file(whole, draw_y4m({.frames = 9}));
  const std::string begun = draw_y4m({.frames = 5, .damage = 9});
  const std::string output = scratch("interrupted.json");
  for (const std::string& sent : {begun, begun.substr(0, begun.size() - 100)}) {
    for (const auto& [reference, distorted] : {std::pair<std::string, std::string>{whole, "-"}, {"-", whole}}) {
      const Outcome outcome = acuity({"score", "-m", "vmaf,ssimulacra2", "-o", output, reference, distorted},
                                     {.input = sent, .interrupt = true});
      EXPECT_EQ(outcome.signal, SIGINT);
      EXPECT_EQ(outcome.out, "");
      EXPECT_NE(outcome.err.find("writing what was scored so far"), std::string::npos) << outcome.err;
      const nlohmann::json document = nlohmann::json::parse(read_file(output));
      EXPECT_EQ(document["complete"], false);
      const nlohmann::json& result = document["results"][0];
      EXPECT_EQ(result["complete"], false);
      EXPECT_EQ(result["metrics"]["vmaf"]["frames"].size(), sent == begun ? 5u : 4u);
      EXPECT_NE(result["warnings"].dump().find("interrupted after"), std::string::npos) << result;
      std::filesystem::remove(output);
    }
  }
}

// The pipe stays open all the while: what has come of it is nothing, a part of what tells the format, or some frames.
TEST(Streams, ASignalEndsTheWaitForAPipe) {
  const std::string whole = scratch("stalled.y4m"), pipe = scratch("stalled.pipe"), output = scratch("stalled.json");
  write_file(whole, draw_y4m({.frames = 9}));
  const std::string some = draw_y4m({.frames = 5});
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& sent : {std::string(), some.substr(0, 100), some}) {
    const int end = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
    const pid_t child = start_acuity({"score", "-m", "mse", "-o", output, whole, pipe});
    ASSERT_EQ(write(end, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
    int unread = 0;
    EXPECT_TRUE(comes_true([&] { return ioctl(end, FIONREAD, &unread) == 0 && unread == 0; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    kill(child, SIGTERM);
    const Ending ending = wait_for_end(child);
    close(end);
    EXPECT_TRUE(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGTERM) << ending.status;
    EXPECT_LT(ending.seconds, 5);
    const nlohmann::json document = nlohmann::json::parse(read_file(output));
    EXPECT_EQ(document["complete"], false);
    const nlohmann::json& result = document["results"][0];
    if (sent.size() < some.size()) {
      EXPECT_EQ(result["error"], "interrupted after 0 frames");
    } else {
      EXPECT_EQ(result["metrics"]["mse"]["frames"].size(), 5u);
    }
  }
}

// Rows that wait for a pipe are those that were not scored.
TEST(Streams, ASignalEndsTheWaitForOneOfSeveralPictures) {
  const std::string pipe = scratch("stalled_picture.pipe"), output = scratch("stalled_pictures.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const pid_t child = start_acuity({"score", "-m", "mse", "-o", output, scene(), pipe, noisy()});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(child, SIGTERM);
  const Ending ending = wait_for_end(child);
  EXPECT_TRUE(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGTERM) << ending.status;
  EXPECT_LT(ending.seconds, 5);
  const nlohmann::json document = nlohmann::json::parse(read_file(output));
  EXPECT_EQ(document["complete"], false);
  ASSERT_EQ(document["results"].size(), 1u);
  EXPECT_EQ(document["results"][0]["distorted"], noisy());
}

TEST(Streams, AnInterruptedVideoHasNoValueAlone) {
  const std::string whole = scratch("interrupted.y4m");
  write_file(whole, draw_y4m({.frames = 9}));
  const std::string output = scratch("interrupted.txt");
  const Outcome outcome = acuity({"score", "-m", "mse", "--value-only", "-o", output, whole, "-"},
                                 {.input = draw_y4m({.frames = 5}), .interrupt = true});
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_EQ(read_file(output), "\n");
}

TEST(Streams, TheLocaleChangesNoNumber) {
  const Outcome plain = acuity({"score", "--csv", scene(), noisy()});
  for (const char* locale : {"LC_ALL=de_DE.UTF-8", "LC_ALL=C", "LC_ALL=nonsense"}) {
    const Outcome outcome = acuity({"score", "--csv", scene(), noisy()}, {.environment = {locale}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, plain.out) << locale;
  }
}

}  // namespace
}  // namespace acuity::test
