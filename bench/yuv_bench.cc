// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of video to RGB on one thread of the CPU: bits; frames of 1920x1080. The least that must move is read and
// written once: "B/pixel".
#include <benchmark/benchmark.h>

#include "lang/targets.h"
#include "media/video.h"

namespace acuity::bench {
namespace {

void convert(benchmark::State& state, Subsampling subsampling, Siting siting) {
  if (!prepare_cpu().ok()) return state.SkipWithError("the processor is too old");
  VideoFormat format;
  format.width = 1920;
  format.height = 1080;
  format.subsampling = subsampling;
  format.siting = siting;
  format.depth = static_cast<int>(state.range(0));
  VideoFrame frame;
  frame.samples.assign(format.frame_bytes(), 2);
  FrameConverter converter;
  const Threads threads(1);
  for (auto _ : state) benchmark::DoNotOptimize(converter(format, frame, threads));
  constexpr double kPixels = 1920.0 * 1080;
  const double moved = static_cast<double>(format.frame_bytes()) / kPixels + 3 * sizeof(float);
  state.SetLabel(cpu_target());
  state.counters["B/pixel"] = moved;
  state.counters["GB/s"] =
      benchmark::Counter(moved * kPixels / 1e9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(convert, yuv420_left, Subsampling::yuv420, Siting::left)
    ->Arg(8)
    ->Arg(10)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(convert, yuv420_centre, Subsampling::yuv420, Siting::centre)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(convert, yuv444, Subsampling::yuv444, Siting::left)->Arg(8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace acuity::bench
