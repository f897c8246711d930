// SPDX-License-Identifier: BSD-2-Clause-Patent
// The file of results as its own journal: whatever is left of it, what is complete is kept and nothing else.
#include "cli/result_file.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"

namespace {

// What the disk does with the next fdatasync() calls.
struct Disk {
  std::atomic<bool> is_slow_and_broken = false;
  std::atomic<bool> is_syncing = false;
};
Disk disk;

}  // namespace

// Instead of the C library's, for the whole test program.
extern "C" int fdatasync(int descriptor) {
  if (!disk.is_slow_and_broken) return fsync(descriptor);
  disk.is_syncing = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  errno = EIO;
  disk.is_slow_and_broken = false;
  return -1;
}

namespace acuity::cli {
namespace {

using test::read_file;
using test::scratch;
using test::write_file;
using Strings = std::vector<std::string>;

constexpr int kRows = 4;
const Strings kColumns{"reference", "distorted", "score", "error"};

std::vector<ResultCell> row(int number) {
  std::vector<ResultCell> cells{ResultCell::of(fmt::format("a{}", number)),
                                ResultCell::of(std::string("b,\n\"c\"")),
                                ResultCell::of(number / 7.0),
                                {}};
  return cells;
}

// Keeps what is there, then adds the rest.
Status fill(const std::string& path, ResultFormat format) {
  Result<std::unique_ptr<ResultFile>> file = ResultFile::open(path, format, kColumns);
  if (!file.ok()) return file.status();
  int number = 0;
  Strings fields;
  for (;; ++number) {
    const Result<bool> any = (*file)->next(fields);
    if (!any.ok()) return any.status();
    if (!*any) break;
    EXPECT_EQ(fields[0], cell_field(row(number)[0], format));
  }
  const Result<int64_t> cut = (*file)->begin_writing();
  if (!cut.ok()) return cut.status();
  for (; number < kRows; ++number) {
    const Status added = (*file)->append(row_text(kColumns, row(number), format));
    if (!added.ok()) return added;
  }
  return (*file)->finish();
}

class ResultFiles : public ::testing::TestWithParam<ResultFormat> {
 protected:
  std::string whole() const {
    const std::string path = scratch("whole");
    std::remove(path.c_str());
    EXPECT_TRUE(fill(path, GetParam()).ok());
    return read_file(path);
  }
};

TEST_P(ResultFiles, AreContinuedFromAnyByte) {
  const std::string expected = whole(), path = scratch("torn");
  for (size_t size = 0; size <= expected.size(); size += 2) {
    write_file(path, expected.substr(0, size));
    ASSERT_TRUE(fill(path, GetParam()).ok()) << size;
    ASSERT_EQ(read_file(path), expected) << size;
  }
}

// After a loss of power.
TEST_P(ResultFiles, AreContinuedWhereZerosBegin) {
  const std::string expected = whole(), path = scratch("zeros");
  for (size_t size = 0; size <= expected.size(); size += 5) {
    write_file(path, expected.substr(0, size) + std::string(100, '\0'));
    ASSERT_TRUE(fill(path, GetParam()).ok()) << size;
    ASSERT_EQ(read_file(path), expected) << size;
  }
}

TEST_P(ResultFiles, HaveOnlyCompleteRowsWhenTheDiskIsFull) {
  const std::string expected = whole(), path = scratch("full");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (size_t size = 0; size < expected.size(); size += 3) {
    std::remove(path.c_str());
    rlimit limit = before;
    limit.rlim_cur = size;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const Status status = fill(path, GetParam());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(status.ok()) << size;
    EXPECT_EQ(status.code(), StatusCode::internal);
    const std::string left = read_file(path);
    ASSERT_TRUE(expected.starts_with(left)) << size << left;
    ASSERT_TRUE(left.empty() || left.ends_with('\n')) << size << left;
    ASSERT_TRUE(fill(path, GetParam()).ok()) << size;
    ASSERT_EQ(read_file(path), expected) << size;
  }
}

TEST_P(ResultFiles, HaveOneWriter) {
  const std::string path = scratch("locked");
  const auto first = ResultFile::open(path, GetParam(), kColumns);
  ASSERT_TRUE(first.ok());
  const auto second = ResultFile::open(path, GetParam(), kColumns);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another process is writing this file"), std::string::npos);
}

TEST_P(ResultFiles, OtherFilesStayAsTheyAre) {
  const std::string path = scratch("other");
  for (const std::string content : {"shopping list", "a,b\n1,2\n", "{\"a\":1}\n", "{", "[1,2]\n"}) {
    write_file(path, content);
    if (GetParam() == ResultFormat::jsonl && content == "{") continue;  // may be ours
    EXPECT_FALSE(fill(path, GetParam()).ok()) << content;
    EXPECT_EQ(read_file(path), content);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ResultFiles,
                         ::testing::Values(ResultFormat::csv, ResultFormat::tsv, ResultFormat::jsonl));

// Files beside it lie where the file is, also if it is made now.
TEST(ResultFile, FollowsALinkToAFileThatIsNotThereYet) {
  const std::string target = scratch("target.csv"), link = scratch("link.csv");
  std::filesystem::remove(target);
  std::filesystem::remove(link);
  std::filesystem::create_symlink(target, link);
  for (int i = 0; i < 2; ++i) {
    const auto file = ResultFile::open(link, ResultFormat::csv, kColumns);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->target(), std::filesystem::canonical(target).string());
  }
}

// The end waits for a sync that the writer began, and fails if that does.
TEST(ResultFile, AFailureToReachTheDiskIsNotLost) {
  const auto file = ResultFile::open(scratch("synced.csv"), ResultFormat::csv, kColumns);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->begin_writing().ok());
  disk.is_slow_and_broken = true;
  ASSERT_TRUE((*file)->append(row_text(kColumns, row(0), ResultFormat::csv)).ok());
  ASSERT_TRUE(test::comes_true([] { return disk.is_syncing.load(); }));
  const Status finished = (*file)->finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_NE(finished.message().find("writing to the disk failed"), std::string::npos) << finished.message();
  EXPECT_EQ((*file)->rows_on_disk(), 0);
}

// Rows in a file that nobody finds any more are lost, which is no success.
TEST(ResultFile, OneThatWasTakenAwayIsAFailure) {
  const std::string path = scratch("taken.csv"), other = scratch("other.csv");
  const std::vector<std::function<void()>> ways{[&] { std::filesystem::remove(path); },
                                                [&] { std::filesystem::rename(path, other); },
                                                [&] {
                                                  write_file(other, "x");
                                                  std::filesystem::rename(other, path);
                                                },
                                                [&] { std::filesystem::resize_file(path, 0); }};
  for (const std::function<void()>& take_away : ways) {
    for (const bool ends_at_once : {true, false}) {
      std::filesystem::remove(path);
      const auto file = ResultFile::open(path, ResultFormat::csv, kColumns);
      ASSERT_TRUE(file.ok()) << file.status().message();
      ASSERT_TRUE((*file)->begin_writing().ok());
      take_away();
      const std::string text = row_text(kColumns, row(0), ResultFormat::csv);
      // A run that goes on finds out within about a second.
      EXPECT_TRUE(ends_at_once || test::comes_true([&] { return !(*file)->append(text).ok(); }));
      const Status finished = (*file)->finish();
      ASSERT_FALSE(finished.ok());
      EXPECT_NE(finished.message().find("was removed, replaced or changed"), std::string::npos) << finished.message();
      EXPECT_EQ((*file)->rows(), 0);
    }
  }
}

TEST(ResultFile, LongRowsAreReadBack) {
  const std::string path = scratch("long.csv");
  const std::string cell((size_t{1} << 20) - 2, '"');  // twice as long in quotes
  for (int turn = 0; turn < 2; ++turn) {
    const auto file = ResultFile::open(path, ResultFormat::csv, kColumns);
    ASSERT_TRUE(file.ok()) << file.status().message();
    Strings fields;
    const Result<bool> any = (*file)->next(fields);
    ASSERT_TRUE(any.ok()) << any.status().message();
    ASSERT_EQ(*any, turn == 1);
    if (turn == 1) break;
    ASSERT_TRUE((*file)->begin_writing().ok());
    const std::vector<ResultCell> cells{ResultCell::of(cell), ResultCell::of(cell), {}, {}};
    ASSERT_TRUE((*file)->append(row_text(kColumns, cells, ResultFormat::csv)).ok());
    ASSERT_TRUE((*file)->finish().ok());
  }
}

TEST(ResultFile, SaysWhichColumnsDiffer) {
  const std::string path = scratch("columns.csv");
  write_file(path, "reference,distorted,psnr,error\n");
  const auto file = ResultFile::open(path, ResultFormat::csv, kColumns);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.status().message().find("it has no column score, and it has psnr, which this command does not write"),
            std::string::npos)
      << file.status().message();
}

TEST(ResultFile, FormatsAreKnownByName) {
  EXPECT_EQ(*result_format("a.csv"), ResultFormat::csv);
  EXPECT_EQ(*result_format("a.b.tsv"), ResultFormat::tsv);
  EXPECT_EQ(*result_format("a.jsonl"), ResultFormat::jsonl);
  EXPECT_FALSE(result_format("a.txt").ok());
  EXPECT_NE(result_format("a.parquet").status().message().find("no Parquet"), std::string::npos);
}

}  // namespace
}  // namespace acuity::cli
