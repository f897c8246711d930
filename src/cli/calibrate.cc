// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/calibrate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "acuity/frame_scorer.h"
#include "acuity/picture.h"
#include "base/threads.h"
#include "base/try.h"
#include "cli/gpu_metrics.h"
#include "cli/sample_files.h"
#include "device/device.h"
#include "engine/measurements.h"
#include "engine/noting.h"

namespace acuity::cli {
namespace {

// Sides of squares, in the order of how often pictures are about that large.
constexpr std::array kSides{512, 2048, 1024, 256};
constexpr int kLargeSide = 4096;  // only on GPUs: on the CPU a pixel takes as long as at 2048
constexpr int kManySide = 1024;   // up to here, Scorers score several pairs at once
constexpr int kStripSide = 2048, kStripRows = 128;
constexpr size_t kPairsAtOnce = 16;
constexpr int kRuns = 3;
constexpr double kEnoughMs = 400;  // no further run of the same once it has taken so long

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median time of a few runs, after one that loads, allocates and records.
Result<double> typical_ms(bool warm_up, const std::function<Status()>& run) {
  if (warm_up) ACUITY_TRY(run());
  std::vector<double> times;
  const Stopwatch all;
  for (int i = 0; i < kRuns && (i == 0 || all.milliseconds() < kEnoughMs); ++i) {
    const Stopwatch watch;
    ACUITY_TRY(run());
    times.push_back(watch.milliseconds());
  }
  return median(std::move(times));
}

// A gradient with grain, which has something for every metric to do.
std::vector<uint8_t> drawn(int side, uint32_t seed) {
  std::vector<uint8_t> samples(static_cast<size_t>(side) * static_cast<size_t>(side) * 3);
  uint32_t state = seed;
  for (size_t i = 0; i < samples.size(); ++i) {
    state = state * 1664525 + 1013904223;
    samples[i] = static_cast<uint8_t>((i / 3 % static_cast<size_t>(side)) * 160 / static_cast<size_t>(side) +
                                      (state >> 27) + 32);
  }
  return samples;
}

struct Pictures {
  explicit Pictures(int its_side)
      : side(its_side),
        reference(std::make_shared<const std::vector<uint8_t>>(drawn(side, 1))),
        distorted(std::make_shared<const std::vector<uint8_t>>(drawn(side, 2))) {}

  static ImageView view(const std::vector<uint8_t>& samples, int side) {
    return interleaved_view(samples.data(), side, side, Channels::rgb, SampleType::u8);
  }
  ImageView reference_view() const { return view(*reference, side); }
  ImageView distorted_view() const { return view(*distorted, side); }
  double pixels() const { return static_cast<double>(side) * side; }

  int side;
  std::shared_ptr<const std::vector<uint8_t>> reference, distorted;
};

class Calibrator {
 public:
  explicit Calibrator(const Calibration& calibration) : calibration_(calibration) {}

  CalibrationResult operator()() {
    std::vector<std::pair<const DeviceState*, std::shared_ptr<Device>>> opened;  // stay open from metric to metric
    for (const DeviceState& device : calibration_.devices) {
      if (device.is_cpu) {
        opened.emplace_back(&device, nullptr);
        continue;
      }
      calibration_.progress(fmt::format("opening {}", device.id));
      Result<std::shared_ptr<Device>> one = open_device(device.id);
      if (one.ok()) {
        opened.emplace_back(&device, *one);
        const DeviceInfo& info = (*one)->info();
        note_gpu(info, info.open_ms + info.probe_ms);
      } else {
        result_.failures.push_back(one.status().message());
      }
    }
    // A size on all devices before the next.
    std::vector<int> sides(kSides.begin(), kSides.end());
    sides.push_back(kLargeSide);
    const auto formats = [&](int side) {
      return calibration_.decoding && side != kLargeSide ? sample_formats() : std::span<const SampleFormat>();
    };
    const auto steps = [&](int side) {
      return (side == kLargeSide ? count_gpus(opened) : opened.size()) * calibration_.metrics.size() +
             formats(side).size();
    };
    for (const int side : sides) steps_ += steps(side);
    for (const int side : sides) {
      if (steps(side) == 0) continue;
      const std::vector<uint8_t> samples = formats(side).empty() ? std::vector<uint8_t>() : sample_picture(side);
      for (const SampleFormat& format : formats(side)) step(format, samples, side);
      const Pictures pictures(side);
      for (const auto& [device, open] : opened) {
        if (side == kLargeSide && device->is_cpu) continue;
        for (const MetricInfo* metric : calibration_.metrics) step(*device, *metric, pictures);
      }
    }
    return result_;
  }

 private:
  template <typename Opened>
  static size_t count_gpus(const Opened& opened) {
    return static_cast<size_t>(
        std::count_if(opened.begin(), opened.end(), [](const auto& one) { return one.second != nullptr; }));
  }

  bool is_over() {
    if (watch_.milliseconds() <= calibration_.limit_ms && !calibration_.stop()) return false;
    ++result_.left_out;
    return true;
  }

  void count(const std::string& what, const Status& measured) {
    // A picture that is too large for a device is no failure of it.
    if (measured.ok() || measured.code() == StatusCode::too_big) {
      ++result_.measured;
      return;
    }
    const std::string failure = fmt::format("{}: {}", what, measured.message());
    if (std::find(result_.failures.begin(), result_.failures.end(), failure) == result_.failures.end()) {
      result_.failures.push_back(failure);
    }
  }

  void step(const DeviceState& device, const MetricInfo& metric, const Pictures& pictures) {
    ++step_;
    if (!device.is_cpu && !has_gpu_version(metric)) return;
    if (is_over()) return;
    calibration_.progress(fmt::format("{} of {}: {} at {}x{} on {}", step_, steps_, metric.name, pictures.side,
                                      pictures.side, device.id));
    count(fmt::format("{} on {}", metric.name, device.id),
          metric.is_frame_metric ? measure_frames(device, metric, pictures) : measure_pairs(device, metric, pictures));
  }

  void step(const SampleFormat& format, const std::vector<uint8_t>& samples, int side) {
    ++step_;
    if (is_over()) return;
    calibration_.progress(fmt::format("{} of {}: decoding {} at {}x{}", step_, steps_, format.name, side, side));
    count(fmt::format("decoding {}", format.name), measure_decoding(format, samples, side));
  }

  static Status measure_decoding(const SampleFormat& format, const std::vector<uint8_t>& samples, int side) {
    const std::vector<uint8_t> file = format.file(samples, side);
    if (file.empty()) return Status(StatusCode::internal, "no file of this format could be made");
    double ms = 0;
    ACUITY_TRY_ASSIGN(ms,
                      typical_ms(/*warm_up=*/true, [&] { return decode_picture(file, "a drawn picture").status(); }));
    const double pixels = static_cast<double>(side) * side;
    Measurements figure;
    figure.set({note_cpu(), std::string(format.name), {.kind = RowMode::Kind::decode}, size_class(pixels)},
               {std::max(ms, 1e-6) * 1e6 / pixels, kRuns});
    process_measurements().put(figure);
    return {};
  }

  // Of one row or reference, on all threads that the device has.
  void put(const DeviceState& device, const MetricInfo& metric, const RowMode& mode, double pixels, double ms) const {
    Measurements figure;
    const double threads = device.is_cpu ? Threads(0).count() : 1;
    figure.set({device.key, metric.name, mode, size_class(pixels)},
               {std::max(ms, 1e-6) * 1e6 * threads / pixels, kRuns});
    process_measurements().put(figure);
  }

  Status measure_pairs(const DeviceState& device, const MetricInfo& metric, const Pictures& pictures) const {
    using Kind = RowMode::Kind;
    ScorerOptions options{.metrics = {metric.name}, .device = device.id, .memory = MemoryMode::full()};
    Result<Scorer> scorer = Scorer::create(options, pictures.side, pictures.side);
    if (!scorer.ok()) return scorer.status();
    const ImageView reference = pictures.reference_view(), distorted = pictures.distorted_view();
    const bool warm_up = !device.is_cpu || pictures.side < kStripSide;
    double ms = 0;
    const auto score_pair = [&] { return scorer->score(reference, distorted).status(); };
    ACUITY_TRY_ASSIGN(ms, typical_ms(warm_up, score_pair));
    put(device, metric, {Kind::pair}, pictures.pixels(), ms);

    Result<Reference> prepared = Status();
    const auto prepare = [&] {
      prepared = scorer->prepare(reference);
      return prepared.status();
    };
    ACUITY_TRY_ASSIGN(ms, typical_ms(warm_up, prepare));
    put(device, metric, {Kind::prepare}, pictures.pixels(), ms);
    const auto score_prepared = [&] { return scorer->score(*prepared, distorted).status(); };
    ACUITY_TRY_ASSIGN(ms, typical_ms(warm_up, score_prepared));
    put(device, metric, {Kind::prepared}, pictures.pixels(), ms);

    if (pictures.side <= kManySide || !device.is_cpu) {
      const size_t count = pictures.side <= kManySide ? kPairsAtOnce : 4;
      const std::vector<InputPair> pairs(count, {reference, distorted});
      const auto score_all = [&]() -> Status {
        const Result<std::vector<Result<std::vector<Score>>>> scores = scorer->score_many(pairs);
        ACUITY_TRY(scores.status());
        for (const auto& one : *scores) ACUITY_TRY(one.status());
        return {};
      };
      ACUITY_TRY_ASSIGN(ms, typical_ms(!device.is_cpu, score_all));
      put(device, metric, {Kind::pair, false, true}, pictures.pixels(), ms / static_cast<double>(count));
    }
    if (pictures.side != kStripSide) return {};
    options.memory = MemoryMode::strip(kStripRows);
    scorer = Scorer::create(options, pictures.side, pictures.side);
    if (!scorer.ok()) return scorer.status();
    ACUITY_TRY_ASSIGN(ms, typical_ms(warm_up, score_pair));
    put(device, metric, {Kind::pair, true}, pictures.pixels(), ms);
    return {};
  }

  // What so many frames take: the time of all threads on the CPU, and what passes on a GPU.
  static Result<double> frames_ms(const DeviceState& device, const MetricInfo& metric, const Pictures& pictures,
                                  int frames) {
    FrameFormat format;
    format.width = format.height = pictures.side;
    format.subsampling = Subsampling::yuv444;
    format.rate = {25, 1};
    Result<FrameScorer> scorer =
        FrameScorer::create({.metrics = {{metric.name}}, .format = format, .device = device.id});
    if (!scorer.ok()) return scorer.status();
    const auto frame = [&](const std::shared_ptr<const std::vector<uint8_t>>& samples) {
      FrameView view{format};
      for (size_t plane = 0; plane < 3; ++plane) {
        view.planes[plane] = reinterpret_cast<const std::byte*>(samples->data()) +
                             plane * static_cast<size_t>(pictures.side) * static_cast<size_t>(pictures.side);
        view.row_strides[plane] = pictures.side;
      }
      view.owner = samples;
      return view;
    };
    const Stopwatch watch;
    for (int i = 0; i < frames; ++i) {
      // What moves takes longer than what does not.
      ACUITY_TRY(scorer->push(frame(i % 2 == 0 ? pictures.reference : pictures.distorted), frame(pictures.distorted)));
    }
    std::vector<FrameScore> scores;
    ACUITY_TRY_ASSIGN(scores, scorer->finish());
    return device.is_cpu ? scores.front().provenance.timing_ms.front().value : watch.milliseconds();
  }

  Status measure_frames(const DeviceState& device, const MetricInfo& metric, const Pictures& pictures) const {
    if (device.is_cpu) {
      const int frames = pictures.side > 1024 ? 2 : 4;
      double ms = 0;
      ACUITY_TRY_ASSIGN(ms, frames_ms(device, metric, pictures, frames));
      put(device, metric, {}, pictures.pixels(), ms / frames / Threads(0).count());
      return {};
    }
    // The difference of a long and a short run is without what comes before the first frame.
    double few_ms = 0, many_ms = 0;
    ACUITY_TRY_ASSIGN(few_ms, frames_ms(device, metric, pictures, 8));
    ACUITY_TRY_ASSIGN(few_ms, frames_ms(device, metric, pictures, 8));
    ACUITY_TRY_ASSIGN(many_ms, frames_ms(device, metric, pictures, 24));
    put(device, metric, {RowMode::Kind::pair, false, true}, pictures.pixels(), (many_ms - few_ms) / 16);
    return {};
  }

  const Calibration& calibration_;
  CalibrationResult result_;
  size_t step_ = 0, steps_ = 0;
  Stopwatch watch_;
};

}  // namespace

CalibrationResult calibrate(const Calibration& calibration) { return Calibrator(calibration)(); }

}  // namespace acuity::cli
