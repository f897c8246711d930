// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows per second of a Scheduler, beside what score_many() does with pictures that are decoded already, and beside one
// thread that decodes and prepares each reference once:
// schedule_rows DEVICES FORMAT SIDE ROWS REFERENCES [METRIC,METRIC...]
// such as schedule_rows cuda:0 ppm 512 20000 20. FORMAT is ppm or jpeg; the files are written to a folder for temporary
// files first. Numbers are of the second of two runs, with the files in the system's cache.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <jpeglib.h>

#include "acuity/picture.h"
#include "acuity/schedule.h"
#include "acuity/scorer.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "draw.h"

namespace {

using acuity::Stopwatch;

// Milliseconds of all cores together that this process has used: what a busy machine does not change much.
double cores_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// Of distorted pictures, which rows use in turn: enough that none is still in a cache of the processor's.
int most_files(int side) { return std::clamp(400 * 512 * 512 / (side * side), 16, 400); }

constexpr double kMostMsByHand = 5000;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

template <typename T>
T must(acuity::Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "schedule_rows: %s\n", result.status().message().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

void write_ppm(const acuity::bench::Drawing& drawing, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << drawing.side << " " << drawing.side << "\n255\n";
  file.write(reinterpret_cast<const char*>(drawing.pixels.data()), static_cast<std::streamsize>(drawing.pixels.size()));
}

void write_jpeg(acuity::bench::Drawing& drawing, const std::string& path, int quality) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::exit(1);
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, file);
  info.image_width = info.image_height = static_cast<JDIMENSION>(drawing.side);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < drawing.side; ++y) {
    JSAMPROW row = drawing.pixels.data() + static_cast<size_t>(y) * static_cast<size_t>(drawing.side) * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::fclose(file);
}

struct Files {
  std::vector<std::string> references;
  std::vector<std::string> distorted;
};

Files write_files(const std::filesystem::path& folder, const std::string& format, int side, int rows, int references) {
  Files files;
  const auto write = [&](bool is_distorted, int number) {
    acuity::bench::Drawing drawing = acuity::bench::draw(side, is_distorted);
    for (size_t i = 0; i < drawing.pixels.size(); i += 97) {
      drawing.pixels[i] ^= static_cast<uint8_t>((static_cast<size_t>(number) >> (i % 16)) % 31);
    }
    std::string name(is_distorted ? "d" : "r");
    name.append(std::to_string(number)).append(".").append(format);
    std::string path = (folder / name).string();
    if (format == "ppm") {
      write_ppm(drawing, path);
    } else {
      write_jpeg(drawing, path, is_distorted ? 60 : 95);
    }
    return path;
  };
  files.references.resize(static_cast<size_t>(references));
  files.distorted.resize(static_cast<size_t>(std::min(rows, most_files(side))));
  std::atomic<size_t> next = 0;
  acuity::Threads(0).run([&](int) {
    for (size_t i = next++; i < files.references.size() + files.distorted.size(); i = next++) {
      const bool is_distorted = i >= files.references.size();
      const size_t number = is_distorted ? i - files.references.size() : i;
      (is_distorted ? files.distorted : files.references)[number] = write(is_distorted, static_cast<int>(number));
    }
  });
  return files;
}

double by_hand(const Files& files, const std::vector<acuity::MetricRequest>& metrics, int side, int rows) {
  acuity::Scorer scorer = must(acuity::Scorer::create({.metrics = metrics, .device = "cpu", .threads = 1}, side, side));
  const int each = std::max(rows / static_cast<int>(files.references.size()), 1);
  double decode_ms = 0, score_ms = 0;
  size_t done = 0;
  const double cores_before = cores_ms();
  const auto goes_on = [&] { return done < 300 && decode_ms + score_ms < kMostMsByHand; };
  for (size_t r = 0; r < files.references.size() && goes_on(); ++r) {
    const Stopwatch reading;
    const acuity::Picture reference = must(acuity::read_picture(files.references[r]));
    decode_ms += reading.milliseconds();
    const Stopwatch preparing;
    std::optional<acuity::Reference> prepared;
    if (each > 1) prepared = must(scorer.prepare(reference.view));
    score_ms += preparing.milliseconds();
    for (int i = 0; i < each && (done == 0 || decode_ms + score_ms < kMostMsByHand); ++i, ++done) {
      const Stopwatch decoding;
      const acuity::Picture distorted = must(acuity::read_picture(files.distorted[done % files.distorted.size()]));
      decode_ms += decoding.milliseconds();
      const Stopwatch scoring;
      if (!(prepared ? scorer.score(*prepared, distorted.view) : scorer.score(reference.view, distorted.view)).ok()) {
        std::exit(1);
      }
      score_ms += scoring.milliseconds();
    }
  }
  const auto count = static_cast<double>(done);
  std::printf("one thread by hand: %.3f ms to decode and %.3f ms to score a row, %.1f rows/s; %.3f ms of a core\n",
              decode_ms / count, score_ms / count, 1000 * count / (decode_ms + score_ms),
              (cores_ms() - cores_before) / count);
  return 1000 * count / (decode_ms + score_ms);
}

void many(const Files& files, const std::vector<acuity::MetricRequest>& metrics, const std::string& device, int side,
          int rows) {
  acuity::Scorer scorer = must(acuity::Scorer::create({.metrics = metrics, .device = device}, side, side));
  std::vector<acuity::Picture> references, distorted;
  for (const std::string& path : files.references) references.push_back(must(acuity::read_picture(path)));
  for (const std::string& path : files.distorted) distorted.push_back(must(acuity::read_picture(path)));
  std::vector<acuity::InputPair> pairs;
  const auto count = static_cast<size_t>(std::min(rows, device == "cpu" ? 200 : 10000));
  for (size_t i = 0; i < count; ++i) {
    pairs.push_back({references[i % references.size()].view, distorted[i % distorted.size()].view});
  }
  for (int run = 0; run < 2; ++run) {
    const Stopwatch watch;
    for (const auto& scores : must(scorer.score_many(pairs))) {
      if (!scores.ok()) std::exit(1);
    }
    if (run == 1) {
      std::printf("score_many on %s: %.1f pairs/s\n", device.c_str(),
                  1000 * static_cast<double>(count) / watch.milliseconds());
    }
  }
}

void schedule(const Files& files, const acuity::SchedulerOptions& options, int rows, double one_thread) {
  for (int run = 0; run < 2; ++run) {
    acuity::Scheduler scheduler = must(acuity::Scheduler::create(options));
    const double cores_before = cores_ms();
    const Stopwatch watch;
    int next = 0;
    int64_t failed = 0;
    const auto references = static_cast<int>(files.references.size());
    const acuity::Status status = scheduler.run_all(
        [&]() -> std::optional<acuity::Task> {
          if (next == rows) return std::nullopt;
          const int row = next++;
          acuity::Task task;
          task.reference = acuity::TaskPicture::file(files.references[static_cast<size_t>(row % references)]);
          task.distorted =
              acuity::TaskPicture::file(files.distorted[static_cast<size_t>(row) % files.distorted.size()]);
          return task;
        },
        [&](acuity::TaskResult result) {
          if (!result.status.ok() && failed++ == 0) std::printf("%s\n", result.status.message().c_str());
          return acuity::Status();
        });
    const double ms = watch.milliseconds();
    if (!status.ok() || failed > 0) std::exit(1);
    if (run == 0) continue;
    const acuity::SchedulerStatistics facts = scheduler.statistics();
    std::printf(
        "scheduler: %.1f rows/s, %.2f times one thread; %.3f ms of a core for a row; at most %ld MiB resident\n",
        1000 * rows / ms, 1000 * rows / ms / one_thread, (cores_ms() - cores_before) / rows, peak_mib());
    std::printf("  read %.0f ms, decode %.0f ms, prepare %.0f ms, waiting %.0f ms, idle %.0f ms of %.0f ms\n",
                facts.read_ms, facts.decode_ms, facts.prepare_ms, facts.waiting_ms, facts.idle_ms, ms);
    for (const acuity::NamedValue& metric : facts.metrics)
      std::printf("  %s %.0f ms\n", metric.name.c_str(), metric.value);
    for (const auto& device : facts.devices) {
      std::printf("  %s %lld rows, %.0f ms\n", device.device.c_str(), static_cast<long long>(device.tasks),
                  device.busy_ms);
    }
    std::printf("  references: %lld decoded, %lld found, %lld prepared; memory: at most %lld of %lld MiB\n",
                static_cast<long long>(facts.references_decoded), static_cast<long long>(facts.references_found),
                static_cast<long long>(facts.references_prepared), static_cast<long long>(facts.peak_host_bytes >> 20),
                static_cast<long long>(facts.memory_limit_bytes >> 20));
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string format = count > 2 ? words[2] : "";
  const int side = count > 3 ? std::atoi(words[3]) : 0, rows = count > 4 ? std::atoi(words[4]) : 0;
  const int references = count > 5 ? std::atoi(words[5]) : 0;
  if ((format != "ppm" && format != "jpeg") || side < 16 || rows < 1 || references < 1 || count > 7) {
    std::fprintf(stderr, "usage: schedule_rows DEVICES ppm|jpeg SIDE ROWS REFERENCES [METRIC,METRIC...]\n");
    return 2;
  }
  std::vector<acuity::MetricRequest> metrics;
  for (const std::string& name : split(count > 6 ? words[6] : "ssimulacra2")) metrics.emplace_back(name);
  std::string pattern = (std::filesystem::temp_directory_path() / "schedule_rows.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return 1;
  const Files files = write_files(pattern, format, side, rows, references);
  const double one_thread = by_hand(files, metrics, side, rows);
  const std::vector<std::string> devices = split(words[1]);
  schedule(files, {.metrics = metrics, .devices = devices}, rows, one_thread);
  many(files, metrics, devices.front(), side, rows);  // last: its pictures stay on the device, and would count above
  std::filesystem::remove_all(pattern);
  return 0;
}
