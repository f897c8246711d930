// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU's way through all scales; cpu.cc does one strip.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "metrics/zensim/runner.h"

namespace acuity::zensim {
namespace {

// Rows that are made at a time, and the rows around them that windows look at.
constexpr int kWindowRows = kStripRows;
constexpr int kWindowHeight = kWindowRows + 2 * kReach;

// A worker makes ten rows for each range it takes, so the fewer the better, but every thread should have several.
constexpr int kRangesOfThread = 4;

size_t planes_cost(Size size) { return kChannels * Arena::cost<float>(plane_floats(size.width, size.height)); }

Planes take_planes(Arena& arena, Size size) {
  Planes planes;
  planes.stride = plane_stride(size.width);
  const size_t floats = plane_floats(size.width, size.height);
  for (float*& channel : planes.channel) {
    channel = arena.take<float>(floats);
    // What lies beside the rows is computed with, so it must be numbers.
    std::memset(channel, 0, floats * sizeof(float));
    channel += kRowMargin;
  }
  return planes;
}

Planes rows_from(const Planes& planes, int row) {
  Planes from = planes;
  for (size_t c = 0; c < kChannels; ++c) from.channel[c] = planes.row(c, row);
  return from;
}

// Planes of scales first_scale .. kScales - 1 of one picture.
struct Pyramid {
  Arena arena;
  std::array<Planes, kScales> scales;

  static Result<Pyramid> create(const Layout& layout, size_t first_scale) {
    size_t bytes = 0;
    for (size_t s = first_scale; s < kScales; ++s) bytes += planes_cost(layout.sizes[s]);
    Pyramid pyramid;
    ACUITY_TRY_ASSIGN(pyramid.arena, Arena::create(bytes));
    for (size_t s = first_scale; s < kScales; ++s) pyramid.scales[s] = take_planes(pyramid.arena, layout.sizes[s]);
    return pyramid;
  }
};

struct Prepared final : PreparedReference {
  Pyramid pyramid;
  size_t bytes() const override { return pyramid.arena.size(); }
};

class CpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, const Layout& layout,
                                                const Wanted& wanted) {
    std::unique_ptr<CpuRunner> runner(new CpuRunner(setup, layout, wanted));
    ACUITY_TRY_ASSIGN(runner->distorted_, Pyramid::create(layout, 1));
    ACUITY_TRY(runner->create_workers());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    size_t map_samples = maps_.luma.size();
    for (const std::vector<float>& scale : maps_.scales) map_samples += scale.size();
    return distorted_.arena.size() + (pair_ ? pair_->arena.size() : 0) + arena_.size() + sums_bytes_ +
           map_samples * sizeof(float);
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) override {
    const auto prepared = std::make_shared<Prepared>();
    ACUITY_TRY_ASSIGN(prepared->pyramid, Pyramid::create(layout_, 0));
    const std::array<Planes, kScales>& scales = prepared->pyramid.scales;
    share(layout_.sizes[0].height, [&](int begin, int end, Worker& worker) {
      for (int y = begin; y < end; ++y) make_row(reference, layout_, y, scales[0], y, worker.scratch);
    });
    for (size_t s = 0; s + 1 < kScales; ++s) {
      share(layout_.sizes[s].height,
            [&](int begin, int end, Worker&) { halve(scales[s], 0, layout_.sizes[s], begin, end, scales[s + 1]); });
    }
    return std::shared_ptr<const PreparedReference>(prepared);
  }

  Result<const PictureSums*> run(const ReferencePicture& reference, const Picture& distorted) override {
    const std::array<Planes, kScales>* planes = nullptr;
    if (reference.prepared != nullptr) {
      planes = &static_cast<const Prepared*>(reference.prepared)->pyramid.scales;
    } else {
      // Who scores only against a prepared reference never needs these.
      if (!pair_) ACUITY_TRY_ASSIGN(pair_, Pyramid::create(layout_, 1));
      planes = &pair_->scales;
    }
    share(layout_.sizes[0].height, [&](int begin, int end, Worker& worker) {
      run_first_scale(reference, *planes, distorted, begin, end, worker);
    });
    for (size_t s = 1; s < kScales; ++s) {
      share(layout_.sizes[s].height, [&](int begin, int end, Worker& worker) {
        for (int y = begin; y < end; y += kStripRows) {
          const int above = std::min(y, kReach);
          score(s, y, rows_from((*planes)[s], y - above), rows_from(distorted_.scales[s], y - above), y != begin,
                worker);
          if (s + 1 == kScales) continue;
          const int bottom = std::min(y + kStripRows, end);
          if (reference.prepared == nullptr) halve((*planes)[s], 0, layout_.sizes[s], y, bottom, (*planes)[s + 1]);
          halve(distorted_.scales[s], 0, layout_.sizes[s], y, bottom, distorted_.scales[s + 1]);
        }
      });
    }
    return &sums_;
  }

  const Maps& maps() const override { return maps_; }

 private:
  struct Worker {
    std::byte* scratch = nullptr;
    std::array<Planes, 2> window;  // rows of the first scale: reference, distorted
  };

  CpuRunner(const Metric::Setup& setup, const Layout& layout, const Wanted& wanted)
      : setup_(setup), layout_(layout), wanted_(wanted) {
    const auto pixels = [&](size_t s) {
      return static_cast<size_t>(layout.sizes[s].width) * static_cast<size_t>(layout.sizes[s].height);
    };
    if (wanted.luma) maps_.luma.resize(pixels(0));
    for (size_t s = 0; s < kScales; ++s) {
      if (wanted.map != nullptr) maps_.scales[s].resize(pixels(s));
      for (std::vector<StripSums>& channel : sums_[s]) {
        channel.resize(static_cast<size_t>(strips_of(layout.sizes[s].height)));
        sums_bytes_ += channel.size() * sizeof(StripSums);
      }
    }
  }

  Status create_workers() {
    const int windows = (layout_.sizes[0].height + kWindowRows - 1) / kWindowRows;
    workers_.resize(static_cast<size_t>(std::min(setup_.threads->count(), windows)));
    const Size window{layout_.sizes[0].width, kWindowHeight};
    const size_t scratch = scratch_bytes(layout_);
    ACUITY_TRY_ASSIGN(arena_,
                      Arena::create(workers_.size() * (Arena::cost<std::byte>(scratch) + 2 * planes_cost(window))));
    for (Worker& worker : workers_) {
      worker.scratch = arena_.take<std::byte>(scratch);
      std::memset(worker.scratch, 0, scratch);
      for (Planes& planes : worker.window) planes = take_planes(arena_, window);
    }
    return {};
  }

  // Rows begin .. end - 1 of a scale to the next one; `first` is the row that lies in row 0 of the planes.
  static void halve(const Planes& from, int first, Size size, int begin, int end, const Planes& to) {
    for (int y = begin; y + 1 < end; y += 2) halve_rows(from, y - first, size.width, to, y / 2);
  }

  // The first scale is made as it is needed, some rows at a time.
  void run_first_scale(const ReferencePicture& reference, const std::array<Planes, kScales>& planes,
                       const Picture& distorted, int begin, int end, Worker& worker) {
    const int height = layout_.sizes[0].height;
    const std::array<const Picture*, 2> pictures{reference.picture, &distorted};
    const std::array<const std::array<Planes, kScales>*, 2> pyramids{&planes, &distorted_.scales};
    int made = std::max(begin - kReach, 0);
    for (int top = begin; top < end; top += kWindowRows) {
      const int first = top - kReach;  // lies in row 0 of the window
      const int bottom = std::min(top + kWindowRows, end);
      const int needed = std::min(bottom + kReach, height);
      for (size_t i = 0; i < 2; ++i) {
        if (pictures[i] == nullptr) continue;
        const Planes& window = worker.window[i];
        if (top != begin) move_up(window);
        for (int y = made; y < needed; ++y) {
          make_row(*pictures[i], layout_, y, window, y - first, worker.scratch);
          // At once, while both rows are in the nearest caches; those of the range, each pair once.
          const int pair = y & ~1;
          if (pair != y && pair >= begin && y < end)
            halve(window, first, layout_.sizes[0], pair, y + 1, (*pyramids[i])[1]);
        }
      }
      made = needed;
      for (int y = top; y < bottom; y += kStripRows) {
        const int from = std::max(y - kReach, 0);
        const Planes a =
            pictures[0] == nullptr ? rows_from(planes[0], from) : rows_from(worker.window[0], from - first);
        score(0, y, a, rows_from(worker.window[1], from - first), y != begin, worker);
      }
    }
  }

  // The last rows of a window become the first of the next one's own. The rows above those are not looked at again: a
  // strip that continues another has their windows.
  static void move_up(const Planes& window) {
    const size_t bytes = size_t{kReach} * window.stride * sizeof(float);
    for (size_t c = 0; c < kChannels; ++c) {
      std::memcpy(window.row(c, kReach) - kRowMargin, window.row(c, kReach + kWindowRows) - kRowMargin, bytes);
    }
  }

  // The strip that begins at row y; the planes begin with the first row it looks at. continues: it follows the last one
  // of this worker.
  void score(size_t s, int y, const Planes& reference, const Planes& distorted, bool continues, Worker& worker) {
    const Size size = layout_.sizes[s];
    Strip strip;
    strip.reference = reference;
    strip.distorted = distorted;
    strip.above = std::min(y, kReach);
    strip.count = std::min(kStripRows, size.height - y);
    strip.rows = std::min(y + kStripRows + kReach, size.height) - (y - strip.above);
    strip.width = size.width;
    strip.counted = s == 0 ? layout_.mirrored.width : 0;
    strip.continues = continues;
    strip.weighted = wanted_.weighted;
    if (wanted_.map != nullptr) {
      strip.map = maps_.scales[s].data() + static_cast<ptrdiff_t>(y) * size.width;
      strip.map_weights = &wanted_.map->scales[s];
    }
    if (s == 0 && wanted_.luma) {
      for (int row = 0; row < strip.count; ++row) {
        std::copy_n(reference.row(1, strip.above + row), size.width,
                    maps_.luma.data() + static_cast<ptrdiff_t>(y + row) * size.width);
      }
    }
    for (size_t c = 0; c < kChannels; ++c) {
      strip.sums[c] = &sums_[s][c][static_cast<size_t>(y / kStripRows)];
    }
    sum_strip(strip, worker.scratch);
  }

  // Calls work(begin, end, worker) for ranges of rows, whole windows each. How they are cut changes nothing.
  template <typename Work>
  void share(int height, const Work& work) {
    const int count = static_cast<int>(workers_.size());
    int rows = setup_.strip_rows;
    if (rows == 0) rows = count == 1 ? height : height / (kRangesOfThread * count);
    rows = static_cast<int>(round_up(static_cast<size_t>(std::clamp(rows, 1, height)), kWindowRows));
    std::atomic<int> next = 0;
    setup_.threads->run([&](int number) {
      if (number >= count) return;
      Worker& worker = workers_[static_cast<size_t>(number)];
      for (int begin = rows * next++; begin < height; begin = rows * next++) {
        work(begin, std::min(begin + rows, height), worker);
      }
    });
  }

  Metric::Setup setup_;
  Layout layout_;
  Wanted wanted_;
  Maps maps_;
  PictureSums sums_;
  size_t sums_bytes_ = 0;
  Arena arena_;
  std::vector<Worker> workers_;
  Pyramid distorted_;
  std::optional<Pyramid> pair_;  // of a reference that nobody prepared
};

}  // namespace

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, const Layout& layout,
                                                  const Wanted& wanted) {
  return CpuRunner::create(setup, layout, wanted);
}

}  // namespace acuity::zensim
