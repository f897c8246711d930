// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a Scheduler makes of the pictures of its rows: how they are read, recognised, kept, cropped and scaled, and in
// how much memory.
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "media/scale.h"
#include "schedule/scheduler_test.h"
#include "schedule/work.h"

namespace acuity {
namespace {

using namespace tests;

class SchedulerPicturesTest : public SchedulerTest {};

// Each reference is decoded and prepared once, whatever the order of its rows.
TEST_F(SchedulerPicturesTest, ReferencesAreRecognisedByTheirContent) {
  const std::string copy = write_file(folder->path("copy.ppm"), drawn(0, width(0), 64));
  for (const int threads : {1, 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.threads = threads}));
    auto rows = shuffled();
    std::vector<Task> all = tasks(rows);
    for (int d = 0; d < kDistorted; ++d) {
      all.push_back(task(0, d));
      all.back().reference = TaskPicture::file(copy);
      rows.emplace_back(0, d);
    }
    const std::vector<TaskResult> results = run(scheduler, std::move(all));
    int64_t cached = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      expect_right(results[i], rows[i].first, rows[i].second);
      cached += results[i].reference_was_cached ? 1 : 0;
    }
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_EQ(statistics.references_decoded, kReferences);
    EXPECT_EQ(statistics.references_found, cached);
    EXPECT_EQ(cached, static_cast<int64_t>(rows.size()) - kReferences);
    EXPECT_EQ(statistics.references_prepared, kReferences);
  }
}

// A row may decode its reference and then fail; those after it have found the reference decoded, by somebody.
TEST_F(SchedulerPicturesTest, AReferenceThatARowDecodedBeforeItFailedCounts) {
  const std::string reference = ACUITY_TEST_DATA "/data/scene.png";
  std::ifstream whole(ACUITY_TEST_DATA "/data/scene.jpeg50.png", std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(whole), {}};
  bytes.resize(bytes.size() / 2);
  const std::string damaged = write_file(folder->path("damaged.png"), bytes);
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1}));
  const std::vector<TaskResult> results =
      run(scheduler, {task_of(reference, damaged), task_of(reference, ACUITY_TEST_DATA "/data/scene.jpeg90.png")});
  EXPECT_EQ(results[0].status.code(), StatusCode::input);
  EXPECT_GT(results[0].reference.decode_ms, 0);
  ASSERT_TRUE(results[1].status.ok()) << results[1].status.message();
  EXPECT_TRUE(results[1].reference_was_cached);
  EXPECT_EQ(results[1].reference.decode_ms, 0);
  EXPECT_EQ(scheduler.statistics().references_decoded, 1);
  EXPECT_EQ(scheduler.statistics().references_found, 1);
}

TEST_F(SchedulerPicturesTest, SmallReferencesAreNotPrepared) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .keep = Keep::small}));
  const auto rows = shuffled();
  const std::vector<TaskResult> results = run(scheduler, tasks(rows));
  for (size_t i = 0; i < rows.size(); ++i) expect_right(results[i], rows[i].first, rows[i].second);
  EXPECT_EQ(scheduler.statistics().references_prepared, 0);
}

TEST_F(SchedulerPicturesTest, TheMemoryLimitIsKept) {
  const auto rows = shuffled(3);
  // What one row needs by itself.
  Scheduler alone = scheduler_of(on_cpu({.threads = 1, .window = 1}));
  int64_t largest = 0;
  for (const TaskResult& result : run(alone, tasks(shuffled()))) largest = std::max(largest, result.peak_bytes);
  ASSERT_GT(largest, 0);
  for (const int64_t limit : {largest, largest * 3 / 2, largest * 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.memory_limit_bytes = limit, .threads = 4}));
    const std::vector<TaskResult> results = run(scheduler, tasks(rows));
    for (size_t i = 0; i < rows.size(); ++i) expect_right(results[i], rows[i].first, rows[i].second);
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_LE(statistics.peak_host_bytes, limit);
    EXPECT_EQ(statistics.memory_limit_bytes, limit);
  }
}

TEST_F(SchedulerPicturesTest, ARowThatNeedsMoreThanTheLimitIsRefusedAlone) {
  const std::string large = write_file(folder->path("large.ppm"), drawn(1, 900, 900));
  const std::string other = write_file(folder->path("large2.ppm"), drawn(2, 900, 900));
  Scheduler scheduler = scheduler_of(on_cpu({.memory_limit_bytes = 4'000'000, .threads = 2}));
  std::vector<Task> all{task(0, 0), task_of(large, other), task(0, 1)};
  const std::vector<TaskResult> results = run(scheduler, std::move(all));
  expect_right(results[0], 0, 0);
  EXPECT_EQ(results[1].status.code(), StatusCode::too_big);
  EXPECT_NE(results[1].status.message().find("the limit for all tasks is 4000000"), std::string::npos)
      << results[1].status.message();
  EXPECT_TRUE(results[1].scores.empty());
  expect_right(results[2], 0, 1);
  EXPECT_LE(scheduler.statistics().peak_host_bytes, 4'000'000);
}

TEST_F(SchedulerPicturesTest, BadFilesFailAlone) {
  std::vector<uint8_t> file = drawn(3, 64, 64);
  file.resize(file.size() / 2);
  const std::string truncated = write_file(folder->path("truncated.ppm"), file);
  const std::string empty = write_file(folder->path("empty.ppm"), {});
  const std::string absent = folder->path("absent.ppm");
  const std::string text = write_file(folder->path("text.ppm"), {'h', 'e', 'l', 'l', 'o'});
  for (const int threads : {1, 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.threads = threads}));
    std::vector<Task> all;
    for (const std::string& bad : {truncated, empty, absent, text}) {
      all.push_back(task_of(reference(0), bad));
      all.push_back(task_of(bad, distorted(0, 1)));
      all.push_back(task_of(bad, distorted(0, 2)));
      all.push_back(task(0, 3));
    }
    all.push_back(task_of(reference(0), distorted(1, 0)));  // another size
    const std::vector<TaskResult> results = run(scheduler, std::move(all));
    for (size_t i = 0; i < 16; ++i) {
      const std::string bad = std::vector{truncated, empty, absent, text}[i / 4];
      if (i % 4 == 3) {
        expect_right(results[i], 0, 3);
        continue;
      }
      EXPECT_EQ(results[i].status.code(), StatusCode::input);
      EXPECT_NE(results[i].status.message().find(bad), std::string::npos) << results[i].status.message();
      EXPECT_TRUE(results[i].scores.empty());
    }
    EXPECT_EQ(results[16].status.code(), StatusCode::input);
    EXPECT_NE(results[16].status.message().find("80x64"), std::string::npos) << results[16].status.message();
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_EQ(statistics.submitted, 17);
    EXPECT_EQ(statistics.finished, 17);
    EXPECT_EQ(statistics.failed, 13);
    ASSERT_EQ(statistics.failures.size(), 1u);
    EXPECT_EQ(statistics.failures[0].kind, "input");
    EXPECT_EQ(statistics.failures[0].tasks, 13);
  }
}

// What a file holds when it is read counts, even if a reference of that name was decoded before.
TEST_F(SchedulerPicturesTest, AReferenceThatChangesIsReadAnew) {
  const std::string changing = folder->path("changing.ppm");
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  for (const int content : {1, 4, 1, 4}) {
    write_file(changing, drawn(content, width(content), 64));
    const double right = plain_score(changing, distorted(content, 0), "ssimulacra2");
    for (const TaskResult& result : run(scheduler, {task_of(changing, distorted(content, 0))})) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_EQ(result.scores[0].value, right);
    }
  }
  EXPECT_EQ(scheduler.statistics().references_decoded, 2);
}

// A file that has been the same for a while is not read again until it changes.
TEST_F(SchedulerPicturesTest, AReferenceThatIsUnchangedIsNotReadAnew) {
  const std::string settled = write_file(folder->path("settled.ppm"), drawn(0, width(0), 64));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1, .window = 1}));
  const auto read_ms = [&](int content) {
    const std::vector<TaskResult> results = run(scheduler, {task_of(settled, distorted(content, 1))});
    EXPECT_TRUE(results[0].status.ok()) << results[0].status.message();
    EXPECT_EQ(results[0].scores[0].value, expected[content][1]);
    return results[0].reference.read_ms;
  };
  EXPECT_GT(read_ms(0), 0);
  EXPECT_EQ(read_ms(0), 0);
  EXPECT_EQ(read_ms(0), 0);
  write_file(settled, drawn(3, width(3), 64));
  EXPECT_GT(read_ms(3), 0);
}

TEST_F(SchedulerPicturesTest, BytesAndPixelsAreTasksToo) {
  const auto bytes = std::make_shared<std::vector<uint8_t>>(drawn(0, width(0), 64));
  const Result<Picture> picture = read_picture(distorted(0, 4));
  ASSERT_TRUE(picture.ok());
  std::vector<Task> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(task(0, 4));
    if (i % 2 == 1) all.back().reference = TaskPicture::encoded("in memory", *bytes, bytes);
    if (i >= 2) all.back().distorted = TaskPicture::pixels("pixels", Input(picture->view, picture->pixels));
  }
  const Result<Picture> original = read_picture(reference(0));
  const Input pixels(original->view, original->pixels);
  for (int i = 0; i < 3; ++i) {
    all.push_back(task(0, 4));
    all.back().reference = TaskPicture::pixels("original", pixels);
    if (i > 0) all.back().distorted = TaskPicture::pixels("pixels", Input(picture->view, picture->pixels));
  }
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  for (const TaskResult& result : run(scheduler, std::move(all))) expect_right(result, 0, 4);
  EXPECT_EQ(scheduler.statistics().references_decoded, 2);
}

// Whatever is there under its name.
TEST_F(SchedulerPicturesTest, AnEmptyFileInMemoryIsNotReadFromDisk) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1}));
  std::vector<Task> all{task(0, 0), task(0, 0), task(0, 0)};
  all[0].reference = TaskPicture::encoded(reference(0), {}, nullptr);
  all[1].distorted = TaskPicture::encoded(distorted(0, 0), {}, nullptr);
  const std::vector<TaskResult> results = run(scheduler, std::move(all));
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(results[i].status.code(), StatusCode::input);
    EXPECT_NE(results[i].status.message().find("r0"), std::string::npos) << results[i].status.message();
  }
  expect_right(results[2], 0, 0);
}

// Both sides cropped, and one brought to the size of the other, as the functions of src/media do it.
TEST_F(SchedulerPicturesTest, PicturesAreCroppedAndScaled) {
  const auto plain = [&](const Picture& a, const Picture& b) {
    Result<Scorer> scorer = Scorer::create({.metrics = {"ssimulacra2"}, .device = "cpu"}, a.view.width, a.view.height);
    return scorer->score(a.view, b.view)->front().value;
  };
  PairRules crops;
  crops.crop_reference = Crop{40, 30, 3, 5};
  crops.crop_distorted = Crop{40, 30, 7, 1};
  Result<Scheduler> cropping = create_scheduler(on_cpu({.threads = 2}), crops);
  ASSERT_TRUE(cropping.ok());
  for (const TaskResult& result : run(*cropping, {task(0, 0), task(0, 1), task(1, 2)})) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    const int r = result.id[0] - '0', d = result.id[2] - '0';
    Picture a = *read_picture(reference(r)), b = *read_picture(distorted(r, d));
    ASSERT_TRUE(crop_picture(a, *crops.crop_reference, "").ok());
    ASSERT_TRUE(crop_picture(b, *crops.crop_distorted, "").ok());
    EXPECT_EQ(result.scores[0].value, plain(a, b));
    EXPECT_EQ(result.width, 40);
    EXPECT_EQ(result.reference.changed.size(), 1u);
    EXPECT_EQ(result.distorted.changed.size(), 1u);
  }
  for (const bool scale_reference : {true, false}) {
    PairRules scales;
    scales.scale_reference = scale_reference;
    Result<Scheduler> scaling = create_scheduler(on_cpu({.threads = 2}), scales);
    ASSERT_TRUE(scaling.ok());
    std::vector<Task> all{task_of(reference(0), distorted(1, 3)), task_of(reference(0), distorted(2, 3)), task(0, 4)};
    const std::vector<TaskResult> results = run(*scaling, std::move(all));
    for (int i = 0; i < 2; ++i) {
      const TaskResult& result = results[static_cast<size_t>(i)];
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      Picture a = *read_picture(reference(0)), b = *read_picture(distorted(i + 1, 3));
      const ImageView& size = scale_reference ? b.view : a.view;
      Picture& changed = scale_reference ? a : b;
      changed = *scaled(changed, size.width, size.height, Scaler::bicubic, Threads(1), "");
      EXPECT_EQ(result.scores[0].value, plain(a, b));
      EXPECT_EQ((scale_reference ? result.reference : result.distorted).changed.size(), 1u);
    }
    expect_right(results[2], 0, 4);
    EXPECT_EQ(scaling->statistics().references_decoded, 1);
  }
}

// What the options say of the samples counts for the cached reference as well.
TEST_F(SchedulerPicturesTest, ColoursOfTheOptionsCount) {
  PairRules rules;
  rules.meaning.reference.colour = rules.meaning.distorted.colour = Colour{.transfer = Transfer::linear};
  Result<Scheduler> scheduler = create_scheduler(on_cpu({.threads = 2}), rules);
  ASSERT_TRUE(scheduler.ok());
  for (const TaskResult& result : run(*scheduler, {task(0, 0), task(0, 1)})) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    Picture a = *read_picture(reference(0)), b = *read_picture(distorted(0, result.id[2] - '0'));
    a.view.colour.transfer = b.view.colour.transfer = Transfer::linear;
    Result<Scorer> scorer = Scorer::create({.metrics = {"ssimulacra2"}, .device = "cpu"}, a.view.width, a.view.height);
    EXPECT_EQ(result.scores[0].value, scorer->score(a.view, b.view)->front().value);
    EXPECT_NE(result.scores[0].value, expected[0][result.id[2] - '0']);
  }
}

}  // namespace
}  // namespace acuity
