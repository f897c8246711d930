// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files of results: none takes the place of an input, none is half written, and a place that cannot be written is told
// before the work starts.
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/pictures.h"
#include "media/output_file.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, so that nothing else is in it.
std::string folder(const std::string& name) {
  fs::remove_all(scratch(name));
  fs::create_directories(scratch(name));
  return scratch(name);
}

size_t files_in(const std::string& path) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

struct Clips {
  std::string reference = scratch("reference.y4m");
  std::string distorted = scratch("distorted.y4m");
  explicit Clips(int frames = 3) {
    write_file(reference, draw_y4m({.frames = frames}));
    write_file(distorted, draw_y4m({.frames = frames, .damage = 9}));
  }
};

std::vector<std::string> vmaf_words(const Clips& clips, const std::string& output) {
  return {"vmaf", "-r", clips.reference, "-d", clips.distorted, "-n", "--feature", "psnr", "--json",
          "-q",   "-o", output};
}

// The command in a shell whose files may not grow beyond 512 or 1024 bytes: as a disk that gets full while the file is
// written. Pipes do not count.
Outcome acuity_on_a_full_disk(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", ACUITY_COMMAND};
  all.insert(all.end(), words.begin(), words.end());
  return run(all);
}

void expect_refused(const std::vector<std::string>& words, const std::string& input) {
  const std::string before = read_file(input);
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("would overwrite the input"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(read_file(input), before);
}

TEST(Output, NoInputIsOverwrittenWhateverItsName) {
  const Clips clips;
  const std::string place = folder("links");
  fs::create_symlink(clips.distorted, place + "/symbolic.json");
  fs::create_hard_link(clips.reference, place + "/hard.json");
  for (const std::string& output : {clips.reference, clips.distorted, place + "/symbolic.json", place + "/hard.json",
                                    place + "/../reference.y4m"}) {
    expect_refused(vmaf_words(clips, output), clips.reference);
  }
  fs::create_symlink(noisy(), place + "/map.png");
  expect_refused({"score", "--map", place + "/map.png", scene(), noisy()}, noisy());
  // Standard input is an input like the others.
  const Outcome outcome = run(
      {"sh", "-c", "exec \"$0\" score --map \"$1\" \"$2\" - < \"$1\"", ACUITY_COMMAND, place + "/map.png", scene()});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
}

// A display is named by its file and its name in it.
TEST(Output, NoFileThatAnOptionNamesIsOverwritten) {
  const std::string display = scratch("displays.csv");
  write_file(
      display,
      R"({"tv": {"max_luminance": 300, "pixels_per_degree": 50}, "b": {"max_luminance": 200, "pixels_per_degree": 40}})");
  const std::string metric = "cvvdp:display=" + display + "#tv";
  expect_refused({"score", "-m", metric, "-o", display, scene(), noisy()}, display);
  expect_refused({"compare", "-m", metric, "-o", display, "--reference", scene(), "--variant", noisy()}, display);
  write_file(scratch("pairs.csv"), "reference,distorted\n" + scene() + "," + noisy() + "\n");
  expect_refused({"batch", scratch("pairs.csv"), "-m", metric, "-o", display}, display);
  // Where the file is not named so.
  EXPECT_EQ(acuity({"score", "-m", metric, "-o", scratch("scores.csv"), scene(), noisy()}).exit_code, 0);
}

// The videos are not there: whoever looks at them first says so.
// CAMBI writes maps by itself, into a folder that may hold inputs.
TEST(Output, NoInputIsOverwrittenByAMapOfBanding) {
  const std::string maps = folder("maps");
  const std::string input = maps + "/cambi_heatmap_scale_0_352x288_16b.gray";
  write_file(input, draw_y4m({.width = 352, .height = 288, .frames = 1}));
  const std::string content = read_file(input);
  const std::string name = scratch("video.y4m");
  fs::remove(name);
  fs::create_hard_link(input, name);
  const std::string other = scratch("other.y4m");
  write_file(other, content);
  for (const Outcome& outcome :
       {acuity({"score", "-m", "cambi:heatmaps_path=" + maps, name, other}),
        acuity({"score", "-m", "cambi:Heatmaps_Path=" + maps, name, other}),
        acuity({"score", "-m", "vmaf:v1:features=cambi.heatmaps_path=" + maps, name, other}),
        acuity({"score", "-m", "vmaf:v1:features=adm.nvd=4;cambi.Heatmaps_Path=" + maps, name, other}),
        acuity({"vmaf", "-r", other, "-d", name, "-n", "--feature", "cambi=heatmaps_path=" + maps}),
        acuity({"vmaf", "-r", other, "-d", name, "-n", "--feature", "cambi=HEATMAPS_PATH=" + maps}),
        acuity({"vmaf", "-r", other, "-d", name, "-m", "version=v1.0.16_3d0h:cambi.heatmaps_path=" + maps})}) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("would overwrite the input"), std::string::npos) << outcome.err;
  }
  // Maps of several videos would be written over each other.
  const std::string list = scratch("maps.csv"), metrics = "cambi:heatmaps_path=" + maps;
  write_file(list, "reference,distorted,metrics\n" + other + "," + other + ",\"" + metrics + "\"\n");
  for (const Outcome& outcome :
       {acuity({"score", "-m", metrics, other, other, other}), acuity({"batch", list, "-o", scratch("maps.out.csv")}),
        acuity({"batch", "-r", other, "--glob", other, "-m", metrics, "-o", scratch("maps.out.csv")}),
        acuity({"compare", "-r", other, "--variant", other, "-m", metrics})}) {
    EXPECT_NE(outcome.err.find("heatmaps_path is for one video"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.exit_code, 0);
  }
  EXPECT_EQ(read_file(input), content);
}

TEST(Output, APlaceThatCannotBeWrittenIsToldFirst) {
  const std::string place = folder("places");
  write_file(place + "/file", "");
  fs::create_directory(place + "/folder");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {place + "/nowhere/scores.json", "there is no folder"},
      {place + "/file/scores.json", "Not a directory"},
      {place + "/folder", "it is a folder"},
      {"", "name a file"}};
  for (const auto& [output, message] : cases) {
    if (!output.empty()) {
      const Outcome outcome = acuity({"vmaf", "-r", "lost.y4m", "-d", "lost.y4m", "-o", output});
      EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
      EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    }
    EXPECT_FALSE(OutputFile::check(output, "-o", {}).ok()) << output;
  }
  const Outcome map = acuity({"score", "--map", place + "/nowhere/map.png", "lost.png", "lost.png"});
  EXPECT_EQ(map.exit_code, 1);
  EXPECT_NE(map.err.find("there is no folder"), std::string::npos) << map.err;
  EXPECT_EQ(files_in(place), 2u);
}

TEST(Output, AFullDiskLosesNeitherTheOldFileNorTheResults) {
  const Clips clips(20);
  const std::string place = folder("full");
  const std::string output = place + "/scores.json";
  write_file(output, "the old one");
  const Outcome outcome = acuity_on_a_full_disk(vmaf_words(clips, output));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("the results are on standard output instead"), std::string::npos) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["frames"].size(), 20u);
  EXPECT_EQ(read_file(output), "the old one");
  EXPECT_EQ(files_in(place), 1u);
}

TEST(Output, AMapThatCannotBeWrittenLeavesTheScore) {
  const std::string place = folder("full_map");
  const Outcome outcome = acuity_on_a_full_disk({"score", "--map", place + "/map.pfm", scene(), noisy()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("ssimulacra2"), std::string::npos) << outcome.out;
  EXPECT_EQ(files_in(place), 0u);
}

TEST(Output, ALinkStaysALinkAndAFileKeepsItsMode) {
  const Clips clips;
  const std::string place = folder("modes");
  write_file(place + "/target.json", "old");
  fs::permissions(place + "/target.json", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target.json", place + "/link.json");
  fs::create_symlink("new.json", place + "/dangling.json");
  for (const char* name : {"/link.json", "/dangling.json"}) {
    ASSERT_EQ(acuity(vmaf_words(clips, place + name)).exit_code, 0);
    EXPECT_TRUE(fs::is_symlink(place + name));
    EXPECT_TRUE(nlohmann::json::accept(read_file(place + name)));
  }
  EXPECT_EQ(fs::status(place + "/target.json").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files_in(place), 4u);
}

TEST(Output, DevicesAndPipesAreWrittenAsTheyAre) {
  const Clips clips;
  EXPECT_TRUE(nlohmann::json::accept(acuity(vmaf_words(clips, "/dev/stdout")).out));
  EXPECT_TRUE(nlohmann::json::accept(acuity(vmaf_words(clips, "/dev/fd/1")).out));
  EXPECT_TRUE(nlohmann::json::accept(acuity(vmaf_words(clips, "-")).out));
  EXPECT_EQ(acuity(vmaf_words(clips, "/dev/null")).exit_code, 0);
  EXPECT_EQ(acuity(vmaf_words(clips, "/dev/full")).exit_code, 1);
  const std::string fifo = scratch("output.fifo");
  fs::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(fifo); });
  EXPECT_EQ(acuity(vmaf_words(clips, fifo)).exit_code, 0);
  reader.join();
  EXPECT_TRUE(nlohmann::json::accept(read)) << read;
  EXPECT_TRUE(fs::is_fifo(fifo));
}

// The shell has the file open: it must be that file that grows, behind what it holds already.
TEST(Output, StandardOutputMayBeAFileThatGrows) {
  const Clips clips;
  const std::string log = scratch("log");
  write_file(log, "before\n");
  std::vector<std::string> words = {"sh", "-c", "exec \"$@\" >> \"$0\"", log, ACUITY_COMMAND};
  const std::vector<std::string> more = vmaf_words(clips, "/dev/stdout");
  words.insert(words.end(), more.begin(), more.end());
  ASSERT_EQ(run(words).exit_code, 0);
  const std::string text = read_file(log);
  ASSERT_TRUE(text.starts_with("before\n{")) << text;
  EXPECT_TRUE(nlohmann::json::accept(text.substr(7)));
}

TEST(Output, TwoNamesOfOnePlace) {
  const std::string place = folder("same");
  EXPECT_TRUE(same_place(place + "/a.png", place + "/../same/a.png"));
  EXPECT_FALSE(same_place(place + "/a.png", place + "/b.png"));
  write_file(place + "/a.png", "");
  fs::create_hard_link(place + "/a.png", place + "/b.png");
  EXPECT_TRUE(same_place(place + "/a.png", place + "/b.png"));
}

}  // namespace
}  // namespace acuity::test
