// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity batch' as people use it: lists in, one row per pair out, and the same command again.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/batch_pictures.h"
#include "cli/command.h"
#include "cli/row_scheduler.h"

namespace acuity::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Three good rows and one whose file is missing.
struct Example {
  std::string reference = small_picture("r.ppm", 1), a = small_picture("a.ppm", 2), b = small_picture("b.ppm", 3),
              missing = scratch("missing.ppm"), list = scratch("pairs.csv"), out;
  explicit Example(const std::string& name) : out(scratch(name)) {
    std::filesystem::remove(out);
    std::filesystem::remove(missing);
    write_file(list, fmt::format("q,reference,distorted\n1,{0},{1}\n2,{0},{2}\n3,{0},{3}\n4,{0},{1}\n", reference, a,
                                 missing, b));
  }
  Outcome run(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"batch", list, "-m", "psnr,mse", "--devices", "cpu", "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    return acuity(words);
  }
};

TEST(Batch, WritesOneRowPerPair) {
  const Example example("one.csv");
  const Outcome outcome = example.run();
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string text = read_file(example.out);
  EXPECT_TRUE(text.starts_with("reference,distorted,q,psnr,mse,device,version,warnings,error\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_TRUE(contains(text, fmt::format("{},{},2,,,", example.reference, example.missing))) << text;
  EXPECT_TRUE(contains(text, "there is no such file"));
  EXPECT_TRUE(contains(outcome.err, "3 rows scored, 1 failed (input 1)")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "--retry-failed")) << outcome.err;
  // The scores are those of 'acuity score'.
  const std::string value = acuity({"score", "-m", "psnr", "--value-only", example.reference, example.a}).out;
  EXPECT_TRUE(contains(text, fmt::format(",1,{},", value.substr(0, value.size() - 1)))) << text << value;
}

// Whatever is closed: the file of results must not get the number of a standard stream.
TEST(Batch, MessagesStayOutOfTheResults) {
  const std::string picture = small_picture("m.ppm", 1), out = scratch("messages.csv");
  for (const std::string closed : {"2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    std::filesystem::remove(out);
    run({"sh", "-c",
         fmt::format("{} batch -r {} --glob {} -m psnr --devices cpu -o {} {}", ACUITY_COMMAND, picture, picture, out,
                     closed)});
    const std::string text = read_file(out);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << closed << '\n' << text;
  }
}

TEST(Batch, TheSameCommandAgainDoesNothing) {
  const Example example("again.csv");
  example.run();
  const std::string before = read_file(example.out);
  const Outcome again = example.run();
  EXPECT_EQ(again.exit_code, 6);
  EXPECT_EQ(read_file(example.out), before);
  EXPECT_TRUE(contains(again.err, "0 rows scored; 4 were there before, 1 of them failed")) << again.err;
}

TEST(Batch, RetriesOnlyWhatFailed) {
  for (const std::string name : {"retry.csv", "retry.tsv", "retry.jsonl"}) {
    const Example example(name);
    example.run();
    small_picture("missing.ppm", 9);
    EXPECT_TRUE(contains(example.run().err, "0 rows scored; 4 were there before"));
    const Outcome retry = example.run({"--retry-failed"});
    EXPECT_EQ(retry.exit_code, 0) << retry.err;
    EXPECT_TRUE(contains(retry.err, "1 row scored; 3 were there before")) << retry.err;
    EXPECT_FALSE(std::filesystem::exists(example.out + ".retry"));
    const std::string retried = read_file(example.out);
    std::filesystem::remove(example.out);
    EXPECT_EQ(example.run().exit_code, 0);
    EXPECT_EQ(read_file(example.out), retried) << "as if nothing had failed";
  }
}

TEST(Batch, ARetryKeepsThePermissions) {
  namespace fs = std::filesystem;
  const Example example("private.csv");
  example.run();
  fs::permissions(example.out, fs::perms::owner_read | fs::perms::owner_write);
  small_picture("missing.ppm", 9);
  EXPECT_EQ(example.run({"--retry-failed"}).exit_code, 0);
  EXPECT_EQ(fs::status(example.out).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Batch, ARetryGoesOnWhereItEnded) {
  const Example example("retried.csv");
  example.run();
  const std::string failed = read_file(example.out);
  small_picture("missing.ppm", 9);
  example.run({"--retry-failed"});
  const std::string expected = read_file(example.out);
  for (size_t size = 0; size < expected.size(); size += 71) {
    write_file(example.out, failed);
    write_file(example.out + ".retry", expected.substr(0, size));
    EXPECT_EQ(example.run({"--retry-failed"}).exit_code, 0);
    EXPECT_EQ(read_file(example.out), expected) << size;
  }
}

TEST(Batch, RefusesWhatDoesNotFit) {
  const Example example("fit.csv");
  example.run();
  const std::string before = read_file(example.out);
  const auto refused = [&](const Outcome& outcome, const std::string& message) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
    EXPECT_EQ(read_file(example.out), before);
  };
  refused(acuity({"batch", example.list, "-m", "psnr", "-o", example.out}), "it has mse, which this command does not");
  refused(acuity({"batch", example.list, "-m", "psnr,mse,dssim", "-o", example.out}), "it has no column dssim");
  refused(example.run({"--outputs", "all"}), "it has no column psnr.psnr_r");
  refused(example.run({"--scale", "dist"}), "--scale dist");
  refused(acuity({"batch", example.list, "-o", example.list}), "is the list itself");
  const std::string other = scratch("other.jsonl");
  write_file(other, "hello\n");
  const Outcome damaged = acuity({"batch", example.list, "-o", other});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_TRUE(contains(damaged.err, "other.jsonl, line 1: is not a row of results: found 'hello'")) << damaged.err;
  EXPECT_EQ(read_file(other), "hello\n");
  const std::string list = read_file(example.list);
  write_file(example.list, "q,reference,distorted\n" + list.substr(list.find("3,")));
  refused(example.run(), "line 2: distorted is");
  write_file(example.list, list.substr(0, list.find("3,")));
  refused(example.run(), "has more rows than");
  write_file(example.list, list);
  const int lock = open(example.out.c_str(), O_RDWR);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  refused(example.run(), "another process is writing this file");
  close(lock);
  EXPECT_EQ(example.run().exit_code, 6);
}

TEST(Batch, ABadListIsFoundBeforeAnyWork) {
  const Example example("bad.csv");
  write_file(example.list, read_file(example.list) + "5,only\n");
  const Outcome outcome = example.run();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(contains(outcome.err, "pairs.csv, line 6: found 2 fields; expected 3")) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(example.out));
  EXPECT_EQ(acuity({"batch", scratch("no.csv"), "-o", example.out}).exit_code, 3);
  EXPECT_EQ(acuity({"batch", example.list}).exit_code, 2);
  EXPECT_EQ(acuity({"batch", "-o", example.out}).exit_code, 2);
}

// As in a script of 'acuity score': what cannot be written is 1, and the command does not wait for what nobody writes.
TEST(Batch, AResultFileThatCannotBeOneIsRefusedAtOnce) {
  const Example example("refused.csv");
  const Outcome nowhere = acuity({"batch", example.list, "-o", scratch("no-such-folder/out.csv")});
  EXPECT_EQ(nowhere.exit_code, 1) << nowhere.err;
  EXPECT_TRUE(contains(nowhere.err, "no-such-folder/out.csv: cannot be opened: No such file")) << nowhere.err;
  const std::string pipe = scratch("pipe.csv");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome piped = run({"timeout", "-k", "1", "20", ACUITY_COMMAND, "batch", example.list, "-o", pipe});
  EXPECT_EQ(piped.exit_code, 2) << piped.err;
  EXPECT_TRUE(contains(piped.err, "pipe.csv: is a pipe; name a file")) << piped.err;
  std::filesystem::remove(pipe);
}

TEST(Batch, RowsMayHaveTheirOwnMetrics) {
  const Example example("own.csv");
  write_file(example.list, fmt::format("reference,distorted,metrics\n{0},{1},mse\n{0},{1},\n{0},{1},\"mse,dssim\"\n",
                                       example.reference, example.a));
  EXPECT_EQ(acuity({"batch", example.list, "-m", "psnr", "-o", example.out}).exit_code, 0);
  const std::string text = read_file(example.out);
  EXPECT_TRUE(text.starts_with("reference,distorted,metrics,psnr,mse,dssim,device,")) << text;
  EXPECT_TRUE(contains(text, ",mse,,")) << text;
  const Outcome other = acuity({"batch", example.list, "-m", "psnr,mse", "-o", example.out});
  EXPECT_EQ(other.exit_code, 2) << "the second row would have mse as well";
  EXPECT_TRUE(contains(other.err, "--metric psnr,mse")) << other.err;
  write_file(example.list,
             fmt::format("reference,distorted,metrics\n{0},{1},\n{0},{1},msee\n", example.reference, example.a));
  const Outcome wrong = acuity({"batch", example.list, "-o", scratch("own2.csv")});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_TRUE(contains(wrong.err, "pairs.csv, line 3: there is no metric 'msee'")) << wrong.err;
  const Outcome planned = acuity({"plan", example.list});
  EXPECT_EQ(planned.exit_code, 3);
  EXPECT_TRUE(contains(planned.err, "pairs.csv, line 3: there is no metric 'msee'")) << planned.err;
}

TEST(Batch, ListsMayComeThroughAPipe) {
  const Example example("pipe.jsonl");
  const std::string line =
      fmt::format("{{\"reference\":\"{}\",\"distorted\":\"{}\",\"q\":1.50}}\n", example.reference, example.a);
  const Surroundings piped{.input = line + line};
  EXPECT_EQ(acuity({"batch", "-", "-m", "psnr", "-o", example.out}, piped).exit_code, 0);
  const std::string text = read_file(example.out);
  EXPECT_EQ(count_of(text, "\"q\":1.50,\"psnr\":"), 2u) << text;
  EXPECT_TRUE(contains(text, "\"error\":null}")) << text;
  const Outcome again = acuity({"batch", "-", "-m", "psnr", "-o", example.out}, piped);
  EXPECT_TRUE(contains(again.err, "0 rows scored; 2 were there before")) << again.err;
  // What comes before a mistake is done.
  const Outcome bad = acuity({"batch", "-", "-m", "psnr", "-o", example.out}, {.input = line + line + line + "x\n"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_TRUE(contains(bad.err, "standard input, line 4: ")) << bad.err;
  EXPECT_EQ(count_of(read_file(example.out), "\"q\":1.50"), 3u);
}

TEST(Batch, AnInterruptLeavesCompleteRows) {
  const Example example("interrupted.csv");
  const std::string rows = read_file(example.list);
  const Outcome outcome = acuity({"batch", "-", "-m", "psnr,mse", "--devices", "cpu", "-o", example.out},
                                 {.input = rows, .interrupt = true});
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_TRUE(contains(outcome.err, "the same command continues after them")) << outcome.err;
  const std::string left = read_file(example.out);
  std::filesystem::remove(example.out);
  example.run();
  EXPECT_TRUE(read_file(example.out).starts_with(left)) << left;
}

TEST(Batch, RowsMayComeInAnyOrder) {
  for (const std::string name : {"any.csv", "any.jsonl"}) {
    const Example example(name);
    EXPECT_EQ(example.run({"--unordered"}).exit_code, 6);
    const std::string whole = read_file(example.out);
    const bool csv = name == "any.csv";
    EXPECT_TRUE(whole.starts_with(csv ? "row,reference,distorted,q,psnr,mse," : "{\"row\":")) << whole;
    EXPECT_TRUE(contains(
        whole, fmt::format(fmt::runtime(csv ? "\n3,{},{},3,"
                                            : "{{\"row\":3,\"reference\":\"{}\",\"distorted\":\"{}\",\"q\":\"3\""),
                           example.reference, example.b)))
        << whole;
    // Without its first row, and with a torn one.
    const size_t header = csv ? whole.find('\n') + 1 : 0;
    std::string torn = whole;
    torn.erase(header, torn.find('\n', header) + 1 - header);
    write_file(example.out, torn.substr(0, torn.size() - 5));
    small_picture("missing.ppm", 9);
    const Outcome again = example.run({"--unordered"});
    EXPECT_TRUE(contains(again.err, "; 2 were there before")) << again.err;
    example.run({"--unordered", "--retry-failed"});
    const std::string text = read_file(example.out);
    for (int row = 1; row <= 4; ++row) {
      EXPECT_EQ(count_of(text, fmt::format(fmt::runtime(csv ? "\n{}," : "{{\"row\":{},"), row)), 1u) << text;
    }
    EXPECT_TRUE(contains(example.run({"--unordered"}).err, "0 rows scored; 4 were there before")) << text;
    const std::string list = read_file(example.list);
    write_file(example.list, list.substr(0, list.size() - 6) + "x.ppm\n");
    const Outcome other = example.run({"--unordered"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_TRUE(contains(other.err, "its rows are not those of")) << other.err;
  }
  EXPECT_EQ(acuity({"batch", "-", "--unordered", "-o", scratch("piped.csv")}).exit_code, 2);
}

TEST(Batch, PairsFoldersAndPatterns) {
  const std::string folder = scratch("folders");
  std::filesystem::create_directories(folder + "/refs/sub");
  std::filesystem::create_directories(folder + "/out/sub");
  for (const std::string name : {"refs/a.ppm", "refs/sub/b.ppm", "out/a.pnm", "out/sub/b.ppm", "out/c.ppm"}) {
    std::filesystem::copy_file(small_picture("copied.ppm", static_cast<unsigned>(name.size())), folder + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  const std::string out = scratch("folders.tsv");
  const Outcome found = acuity({"batch", "--pair-dirs", folder + "/refs", folder + "/out", "-m", "psnr", "-o", out});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_TRUE(contains(found.err, "left out 1 file without a reference")) << found.err;
  // Links that lead back, each by itself and through the other.
  for (const char* link : {"/refs/back", "/refs/sub/back", "/out/sub/back"}) {
    std::filesystem::remove(folder + link);
    std::filesystem::create_directory_symlink(folder + (std::string(link) == "/refs/sub/back" ? "/out" : "/refs"),
                                              folder + link);
  }
  const std::string linked = scratch("linked.tsv");
  EXPECT_EQ(run({"timeout", "20", ACUITY_COMMAND, "batch", "--pair-dirs", folder + "/refs", folder + "/refs", "-m",
                 "psnr", "-o", linked})
                .exit_code,
            0);
  for (const char* link : {"/refs/back", "/refs/sub/back", "/out/sub/back"}) std::filesystem::remove(folder + link);
  EXPECT_EQ(count_of(read_file(linked), "\n"), 1 + 2 + 3u) << "refs, and through its link out: " << read_file(linked);
  const std::string text = read_file(out);
  EXPECT_TRUE(contains(text, fmt::format("{0}/refs/a.ppm\t{0}/out/a.pnm\t", folder))) << text;
  EXPECT_TRUE(contains(text, fmt::format("{0}/refs/sub/b.ppm\t{0}/out/sub/b.ppm\t", folder))) << text;
  const std::string matched = scratch("matched.csv");
  EXPECT_EQ(
      acuity({"batch", "-r", folder + "/refs/a.ppm", "--glob", folder + "/out/*.p?m", "-m", "psnr", "-o", matched})
          .exit_code,
      0);
  EXPECT_EQ(count_of(read_file(matched), folder + "/refs/a.ppm,"), 2u);
  EXPECT_EQ(acuity({"batch", "-r", "x", "--glob", folder + "/*.no", "-o", scratch("n.csv")}).exit_code, 3);
  EXPECT_EQ(acuity({"batch", "--pair-dirs", folder + "/refs", "-o", scratch("n.csv")}).exit_code, 2);
  EXPECT_EQ(acuity({"batch", "--glob", "x", "-o", scratch("n.csv")}).exit_code, 2);
}

// As variables of a shell are that were not set.
TEST(Batch, EmptyNamesAreRefused) {
  const std::string out = scratch("empty.csv"), picture = small_picture("e.ppm", 1);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"batch", "", "-o", out},
                                                {"plan", ""},
                                                {"batch", "--pair-dirs", "", scratch("."), "-o", out},
                                                {"batch", "--reference", "", "--glob", picture, "-o", out}}) {
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[0] << words[1];
    EXPECT_TRUE(contains(outcome.err, " is empty; name ")) << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Batch, AllOutputsHaveColumnsBeforeTheFirstRow) {
  const Example example("all.csv");
  const std::string large = small_picture("l.ppm", 4, 200), other = small_picture("m.ppm", 5, 200);
  // The first row fails, the second has fewer scales than the third.
  write_file(example.list, fmt::format("reference,distorted\n{0},{1}\n{0},{2}\n{3},{4}\n", example.reference,
                                       example.missing, example.a, large, other));
  const Outcome outcome =
      acuity({"batch", example.list, "-m", "ssimulacra2,psnr", "--outputs", "all", "-o", example.out});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  const std::string text = read_file(example.out);
  size_t begin = 0;
  std::vector<int64_t> commas;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    commas.push_back(
        std::count(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(end), ','));
    begin = end + 1;
  }
  EXPECT_EQ(commas, std::vector<int64_t>(4, commas[0]));
  EXPECT_GT(commas[0], 110);
  EXPECT_FALSE(contains(text, "has no column")) << text;
}

// A still picture is a video of one frame.
TEST(Batch, RowsMayBeFrames) {
  const Example example("frames.csv");
  const std::string frames = "YUV4MPEG2 W16 H16 F25:1 C420jpeg\n";
  const auto frame = [](char level) { return "FRAME\n" + std::string(16 * 16 * 3 / 2, level); };
  const std::string a = scratch("a.y4m"), b = scratch("b.y4m");
  write_file(a, frames + frame(40) + frame(50) + frame(60));
  write_file(b, frames + frame(41) + frame(52) + frame(60));
  write_file(example.list, fmt::format("reference,distorted\n{},{}\n{},{}\n{},{}\n", a, b, example.reference, example.a,
                                       a, example.missing));
  const Outcome outcome = acuity({"batch", example.list, "-m", "psnr_yuv,psnr", "-o", example.out});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "2 rows scored, 1 failed")) << outcome.err;
  const std::string text = read_file(example.out);
  for (const auto& [reference, distorted] : {std::pair(a, b), std::pair(example.reference, example.a)}) {
    std::string values = acuity({"score", "-m", "psnr_yuv,psnr", "--value-only", reference, distorted}).out;
    values.pop_back();
    values[values.find('\t')] = ',';
    EXPECT_TRUE(contains(text, fmt::format("{},{},{},cpu,", reference, distorted, values))) << text << values;
  }
  EXPECT_TRUE(contains(text, fmt::format("{},{},,,,acuity", a, example.missing))) << "no device computed it: " << text;
}

// Memory that is less than a video usually needs is no reason not to try.
TEST(Batch, VideosRunWhateverTheMemoryLimit) {
  const std::string video = scratch("limited.y4m"), list = scratch("limited.csv"), out = scratch("limited.out.csv");
  write_file(video, "YUV4MPEG2 W16 H16 F25:1 C420jpeg\nFRAME\n" + std::string(16 * 16 * 3 / 2, 'x'));
  write_file(list, fmt::format("reference,distorted\n{0},{0}\n", video));
  for (const char* limit : {"64", "128", "200", "270", "300"}) {
    std::filesystem::remove(out);
    const Outcome outcome =
        acuity({"batch", list, "-m", "psnr_yuv", "--devices", "cpu", "--memory-limit", limit, "-o", out});
    EXPECT_EQ(outcome.exit_code, 0) << limit << outcome.err << read_file(out);
  }
}

// Options of cvvdp that are for pictures only, or for videos.
TEST(Batch, HasColumnsOfOutputsWhateverTheOptionsAreFor) {
  const Example example("outputs.csv");
  for (const auto& [option, exit_code] : {std::pair("grey=luminance", 0), std::pair("padding=symmetric", 6)}) {
    const std::string results = scratch(fmt::format("outputs-{}.csv", option));
    write_file(example.list, fmt::format("reference,distorted\n{},{}\n", example.reference, example.a));
    const Outcome outcome =
        acuity({"batch", example.list, "-m", fmt::format("cvvdp:{}", option), "--outputs", "all", "-o", results});
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_TRUE(contains(read_file(results), ".achromatic_subband1")) << option;
  }
}

// Pictures of 2048 pixels on each side have eleven subbands on a phone, and none of the rows here is one.
TEST(Batch, HasColumnsOfAllSubbandsOfADisplay) {
  const Example example("subbands.csv");
  write_file(example.list, fmt::format("reference,distorted\n{},{}\n", example.reference, example.a));
  for (const auto& [display, last] : {std::pair("iphone_14_pro", 10), std::pair("standard_4k", 8)}) {
    const std::string results = scratch(fmt::format("subbands-{}.csv", display));
    const Outcome outcome = acuity(
        {"batch", example.list, "-m", fmt::format("cvvdp:display={}", display), "--outputs", "all", "-o", results});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string text = read_file(results);
    for (const char* channel : {"achromatic", "red_green", "violet_yellow", "transient"}) {
      EXPECT_TRUE(contains(text, fmt::format(".{}_subband{},", channel, last))) << text;
      EXPECT_FALSE(contains(text, fmt::format(".{}_subband{},", channel, last + 1))) << text;
    }
  }
}

// As in a checkout without the content of large files.
TEST(Batch, LinksThatLeadNowhereAreRows) {
  const std::string folder = scratch("lost"), out = scratch("lost.csv"), picture = small_picture("there.ppm", 1);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/refs");
  std::filesystem::create_directories(folder + "/out");
  for (const std::string name : {"/refs/a.ppm", "/refs/b.ppm", "/out/a.ppm"}) {
    std::filesystem::copy_file(picture, folder + name);
  }
  std::filesystem::create_symlink("/nowhere/b.ppm", folder + "/out/b.ppm");
  const Outcome outcome = acuity({"batch", "--pair-dirs", folder + "/refs", folder + "/out", "-m", "psnr", "-o", out});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_TRUE(contains(read_file(out), "cannot read '" + folder + "/out/b.ppm': there is no such file"));
}

// The time is in the summary, which says how much of it went into decoding.
TEST(Batch, DecodingOfVideosCounts) {
  const std::string a = scratch("decoded.y4m");
  write_file(a, "YUV4MPEG2 W16 H16 F25:1 C420jpeg\nFRAME\n" + std::string(16 * 16 * 3 / 2, 'x'));
  cli::RowPlan plan;
  plan.scheduler.devices = {"cpu"};
  Result<std::unique_ptr<cli::RowScheduler>> scheduler = cli::RowScheduler::create(plan, /*ordered=*/true);
  ASSERT_TRUE(scheduler.ok()) << scheduler.status().message();
  const std::vector<cli::MetricChoice> metrics{{.name = "psnr_yuv", .options = {}, .label = "psnr_yuv"}};
  ASSERT_TRUE((*scheduler)->submit(a, a, std::make_shared<const std::vector<cli::MetricChoice>>(metrics)).ok());
  const std::optional<TaskResult> result = (*scheduler)->wait_any();
  ASSERT_TRUE(result && result->status.ok());
  EXPECT_GT(result->reference.decode_ms, 0);
  EXPECT_GT(result->distorted.decode_ms, 0);
  EXPECT_EQ((*scheduler)->statistics().decode_ms, result->reference.decode_ms + result->distorted.decode_ms);
}

TEST(Batch, WarnsOfScoresThatAreTooMuchAlike) {
  const Example example("alike.csv");
  std::string list = "reference,distorted\n";
  for (int i = 0; i < 12; ++i) {
    list += fmt::format("{},{}\n", example.reference, small_picture(fmt::format("same{}.ppm", i), 2));
  }
  write_file(example.list, list);
  const Outcome constant = example.run();
  EXPECT_EQ(constant.exit_code, 0);
  EXPECT_TRUE(contains(constant.err, "warning: psnr is ")) << constant.err;
  EXPECT_TRUE(contains(constant.err, " in all 12 rows")) << constant.err;
  write_file(example.list, list + fmt::format("{},{}\n", example.reference, example.b));
  const Outcome alike = example.run();
  EXPECT_TRUE(contains(alike.err, " in 12 of 13 rows with 12 different files")) << alike.err;
}

// What hangs in place of the missing file is a pipe that nobody writes to: where it is opened, or where it is read.
TEST(Batch, ARowThatHangsFailsAloneInAnyOrder) {
  for (const auto& [unordered, is_open] : {std::pair(false, false), {true, false}, {false, true}}) {
    const Example example("hangs.csv");
    ASSERT_EQ(mkfifo(example.missing.c_str(), 0600), 0);
    const int other_end = is_open ? open(example.missing.c_str(), O_RDWR | O_CLOEXEC) : -1;
    std::vector<std::string> words{"--timeout", "4"};
    if (unordered) words.push_back("--unordered");
    const Outcome outcome = example.run(words);
    EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "3 rows scored, 1 failed (timeout 1)")) << outcome.err;
    const std::string text = read_file(example.out);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
    EXPECT_TRUE(contains(text, "not done within the time limit of 4000 ms")) << text;
    EXPECT_TRUE(contains(text, example.b)) << text;
    std::filesystem::remove(example.missing);
    if (is_open) close(other_end);
  }
}

// Messages quote what files hold, and zeros mark the end of what was written.
TEST(Batch, ZerosInMessagesEndNoFile) {
  for (const std::string name : {"zeros.csv", "zeros.tsv", "zeros.jsonl"}) {
    const Example example(name);
    using namespace std::string_literals;
    std::string picture = "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 3\nMAXVAL 255\nTUPLTYPE FO\0O\nENDHDR\n"s;
    write_file(example.missing, picture.append(12, 'x'));
    EXPECT_EQ(example.run().exit_code, 6);
    const std::string text = read_file(example.out);
    EXPECT_TRUE(contains(text, name.ends_with("jsonl") ? "FO\\u0000O" : "FO\\0O")) << text;
    for (const bool retry : {false, true}) {
      const Outcome again = retry ? example.run({"--retry-failed"}) : example.run();
      EXPECT_EQ(again.exit_code, 6);
      EXPECT_EQ(read_file(example.out), text) << again.err;
    }
  }
}

TEST(Batch, AZeroInALineIsNotItsEnd) {
  const Example example("zero_line.csv");
  const std::string row = fmt::format("{{\"reference\":\"{}\",\"distorted\":\"{}\"}}", example.reference, example.a);
  const std::string list = scratch("zeros.list.jsonl");
  write_file(list, row + '\0' + row + '\0');
  const Outcome outcome = acuity({"batch", list, "-m", "psnr", "-o", example.out});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(contains(outcome.err, "line 1: found a zero byte")) << outcome.err;
}

TEST(Batch, TruncatedFilesFailAlone) {
  const Example example("truncated.csv");
  const std::string whole = read_file(example.a);
  for (const size_t size : {size_t{0}, size_t{5}, whole.size() / 2, whole.size() - 1}) {
    write_file(example.a, whole.substr(0, size));
    std::filesystem::remove(example.out);
    const Outcome outcome = example.run();
    EXPECT_EQ(outcome.exit_code, 6);
    EXPECT_TRUE(contains(outcome.err, "1 row scored, 3 failed")) << size << outcome.err;
    write_file(example.a, whole);
    EXPECT_TRUE(contains(example.run({"--retry-failed"}).err, "2 rows scored, 1 failed")) << size;
  }
}

}  // namespace
}  // namespace acuity::test
