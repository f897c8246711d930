// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames that lie on the device as decoders leave them there, against the same frames from the host's memory.
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "base/try.h"
#include "cross_backend/frames_check.h"
#include "engine/input.h"
#include "support/synthetic_video.h"

namespace acuity::tests {
namespace {

constexpr int kFrames = 3;

struct Kind {
  const char* name;
  SurfaceLayout layout;
  int depth;
  Subsampling subsampling = Subsampling::yuv420;
};

constexpr Kind kKinds[] = {
    {"NV12", {.chroma_pairs = true}, 8},
    {"P010", {.chroma_pairs = true, .high_bits = true}, 10},
    {"P016 of 12 bits", {.chroma_pairs = true, .high_bits = true}, 12},
    {"P016", {.chroma_pairs = true, .high_bits = true}, 16},
    {"NV16", {.chroma_pairs = true}, 8, Subsampling::yuv422},
    {"planar 8 bits", {}, 8},
    {"planar 10 bits", {}, 10},
    {"4:4:4 in high bits", {.high_bits = true}, 10, Subsampling::yuv444},
    {"grey", {}, 8, Subsampling::grey},
};

// The frame in device memory, with room beside its rows that is not zero.
Result<Input> on_device(Device& device, const OwnedFrame& frame, const FrameFormat& format, const Kind& kind, int pitch,
                        size_t begin) {
  const FrameView view = frame.view();
  const bool paired = kind.layout.chroma_pairs && view.planes_count() > 1;
  const int bytes = view.sample_bytes(), planes = paired ? 2 : view.planes_count();
  std::array<size_t, 3> offsets{};
  size_t size = begin;
  for (int p = 0; p < planes; ++p) {
    offsets[static_cast<size_t>(p)] = size;
    size += static_cast<size_t>(pitch) * static_cast<size_t>(view.plane_height(p));
  }
  std::shared_ptr<DeviceMemory> memory;
  std::unique_ptr<PinnedMemory> staged;
  std::unique_ptr<Queue> queue;
  ACUITY_TRY_ASSIGN(memory, device.allocate(size));
  ACUITY_TRY_ASSIGN(staged, device.allocate_pinned(size));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());
  std::memset(staged->data(), 0xA5, size);
  for (int p = 0; p < view.planes_count(); ++p) {
    const bool is_paired = paired && p > 0;
    std::byte* to =
        staged->data() + offsets[is_paired ? 1 : static_cast<size_t>(p)] + (is_paired && p == 2 ? bytes : 0);
    for (int y = 0; y < view.plane_height(p); ++y, to += pitch) {
      const std::byte* from = view.planes[static_cast<size_t>(p)] + y * view.row_strides[static_cast<size_t>(p)];
      for (int x = 0; x < view.plane_width(p); ++x) {
        uint16_t sample = 0;
        std::memcpy(&sample, from + x * bytes, static_cast<size_t>(bytes));
        // What a decoder leaves in the low bits does not count.
        if (kind.layout.high_bits && bytes == 2 && kind.depth < 16)
          sample = static_cast<uint16_t>(sample << (16 - kind.depth) | 1);
        std::memcpy(to + x * bytes * (is_paired ? 2 : 1), &sample, static_cast<size_t>(bytes));
      }
    }
  }
  ACUITY_TRY(queue->upload(*memory, 0, *staged, 0, size));
  ACUITY_TRY(queue->wait());
  FrameView there{view};
  for (int p = 0; p < planes; ++p) {
    const auto at = static_cast<size_t>(p);
    there.planes[at] = reinterpret_cast<const std::byte*>(memory->address() + offsets[at]);
    there.row_strides[at] = pitch;
  }
  there.owner = memory;
  return Input::on_device(there, format, kind.layout, device.info().id);
}

class Checks {
 public:
  explicit Checks(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  // `taken`: copied first, as from a decoder that wants its surface back.
  void compare(const Kind& kind, int width, int height, int room, size_t begin, bool taken) {
    FrameFormat format{{width, height, kind.depth, kind.subsampling}};
    format.siting = kind.depth == 8 ? Siting::left : Siting::top_left;
    const SyntheticVideo video(width, height, kind.depth, kind.subsampling);
    const bool paired = kind.layout.chroma_pairs;
    const int row = (width + (paired ? 1 : 0)) * format.sample_bytes();
    std::array<std::vector<Input>, 2> here, there;
    std::array<std::vector<OwnedFrame>, 2> frames;
    for (int i = 0; i < kFrames; ++i) {
      frames[0].push_back(video.reference(i));
      frames[1].push_back(video.distorted(i));
      for (size_t side = 0; side < 2; ++side) {
        Result<Input> input = on_device(*device_, frames[side].back(), format, kind, row + room, begin);
        if (input.ok() && taken) input = take(*input);
        if (!input.ok()) return fail(kind, input.status().message());
        there[side].push_back(*input);
        here[side].emplace_back(frames[side].back().view(), format);
      }
    }
    frame_scores(kind, format, here, there);
    picture_scores(kind, format, here, there);
  }

  const Tally& tally() const { return tally_; }

 private:
  using Clip = std::array<std::vector<Input>, 2>;

  Result<Input> take(const Input& surface) {
    std::unique_ptr<Queue> queue;
    ACUITY_TRY_ASSIGN(queue, device_->create_queue());
    return take_surface(surface, DevicePool::of(device_), *queue, {&threads_, &tasks_});
  }

  void fail(const Kind& kind, const std::string& what) {
    ++tally_.failures;
    fmt::print("FAILED surfaces of {}: {}\n", kind.name, what);
  }

  static Result<std::vector<FrameScore>> scores_of(const FrameScorerOptions& options, const Clip& clip) {
    Result<FrameScorer> scorer = FrameScorer::create(options);
    if (!scorer.ok()) return scorer.status();
    for (size_t i = 0; i < clip[0].size(); ++i) ACUITY_TRY(scorer->push(clip[0][i], clip[1][i]));
    return scorer->finish();
  }

  void frame_scores(const Kind& kind, const FrameFormat& format, const Clip& here, const Clip& there) {
    std::vector<FrameMetricRequest> metrics{{"vmaf"}};
    if (kind.subsampling != Subsampling::grey) metrics.insert(metrics.end(), {{"psnr_yuv"}, {"ciede"}});
    FrameScorerOptions options{.metrics = metrics, .format = format, .device = "cpu", .threads = 2};
    const Result<std::vector<FrameScore>> expected = scores_of(options, here);
    options.device = device_->info().id;
    for (const Clip& clip : {there, Clip{here[0], there[1]}}) {
      ++tally_.comparisons;
      const Result<std::vector<FrameScore>> found = scores_of(options, clip);
      if (!expected.ok() || !found.ok()) {
        fail(kind, expected.ok() ? found.status().message() : expected.status().message());
        continue;
      }
      for (size_t m = 0; m < metrics.size(); ++m) {
        for (size_t o = 0; o < (*expected)[m].outputs.size(); ++o) {
          if ((*expected)[m].outputs[o].values == (*found)[m].outputs[o].values) continue;
          fail(kind, fmt::format("{} of {}x{} differs", (*expected)[m].outputs[o].name, format.width, format.height));
        }
      }
    }
  }

  void picture_scores(const Kind& kind, const FrameFormat& format, const Clip& here, const Clip& there) {
    ScorerOptions options{.metrics = {"ssimulacra2", "psnr"}, .device = "cpu", .threads = 2};
    Result<Scorer> cpu = Scorer::create(options, format.width, format.height);
    options.device = device_->info().id;
    Result<Scorer> gpu = Scorer::create(options, format.width, format.height);
    ++tally_.comparisons;
    if (!cpu.ok() || !gpu.ok()) return fail(kind, (cpu.ok() ? gpu : cpu).status().message());
    for (size_t i = 0; i < here[0].size(); ++i) {
      const Result<std::vector<Score>> expected = cpu->score(here[0][i], here[1][i]);
      const Result<std::vector<Score>> found = gpu->score(there[0][i], there[1][i]);
      if (!expected.ok() || !found.ok()) {
        return fail(kind, expected.ok() ? found.status().message() : expected.status().message());
      }
      for (size_t m = 0; m < expected->size(); ++m) {
        if ((*expected)[m].value == (*found)[m].value) continue;
        fail(kind, fmt::format("{} of {}x{} is {:.17g}, from the host {:.17g}", options.metrics[m].metric, format.width,
                               format.height, (*found)[m].value, (*expected)[m].value));
      }
    }
  }

  std::shared_ptr<Device> device_;
  Threads threads_{1};
  TaskThreads tasks_;
  Tally tally_;
};

}  // namespace

Tally check_surfaces(const std::shared_ptr<Device>& device, Amount amount) {
  Checks checks(device);
  for (const Kind& kind : kKinds) {
    const int bytes = kind.depth > 8 ? 2 : 1;
    checks.compare(kind, 97, 67, 15 * bytes, 0, false);  // an odd size, and rows at any address
    if (amount == Amount::brief) continue;
    checks.compare(kind, 96, 64, 32, 64, false);  // as decoders have it
    checks.compare(kind, 97, 67, 31 * bytes, 48, true);
  }
  return checks.tally();
}

}  // namespace acuity::tests
