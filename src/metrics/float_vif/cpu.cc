// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/cpu.h"

#include <algorithm>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/float_vif/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/transpose.h"
#include "metrics/float_vif/statistics.h"
#include "metrics/vif/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

constexpr int kChunk = 32;    // columns that are filtered down before they are filtered across
constexpr int kTogether = 4;  // columns of results
constexpr int kMoments = 5;   // means, squares of the reference, of the distorted picture, products
// Rows of results that are filtered down at once, as many as there are registers for.
constexpr int kRowsTogether = HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 ? 2 : 4;

// kResults neighbouring results of each of kPlanes planes, of which load(i, values) reads the place i; the results
// begin at place 0. Products are added from the window's beginning to its end, as libvmaf does.
template <int kPlanes, int kResults, class Load>
HWY_INLINE void filter(const Kernel& kernel, const Load& load, real (&sums)[kPlanes][kResults]) {
  const float* const weights = kernel.weights.data();
  const int taps = kernel.taps();
  const auto add = [&](int i, int first, int last) INLINED {
    real values[kPlanes];
    load(i, values);
    UNROLL for (int q = 0; q < kResults; ++q) {
      if (q < first || q > last) continue;
      const real weight(weights[i - q]);
      UNROLL for (int p = 0; p < kPlanes; ++p) sums[p][q] += weight * values[p];
    }
  };
  UNROLL for (int p = 0; p < kPlanes; ++p) { UNROLL for (int q = 0; q < kResults; ++q) sums[p][q] = real(0.0f); }
  UNROLL for (int i = 0; i < kResults - 1; ++i) add(i, 0, i);
  for (int i = kResults - 1; i < taps; ++i) add(i, 0, kResults - 1);
  UNROLL for (int i = 1; i < kResults; ++i) add(taps - 1 + i, i, kResults - 1);
}

// Columns of a band that have been filtered down, as vectors: those that results still need, and new ones. A chunk of
// rows goes into `rows` first.
template <int kPlanes>
struct Columns {
  float* rows;     // kPlanes * kLanes of kChunk
  float* columns;  // kPlanes * capacity of kLanes
  int capacity;
  int first = 0;  // the column that lies at the beginning
  int end = 0;    // behind the last that is there

  Columns(float* scratch, int radius)
      : rows(scratch),
        columns(scratch + kPlanes * kLanes * kChunk),
        capacity(kChunk + 3 * radius + kTogether),
        first(-radius) {}

  float* at(int plane, int x) { return columns + (plane * capacity + x - first) * kLanes; }
  float* row(int plane, int r) { return rows + (plane * kLanes + r) * kChunk; }

  // Takes the chunk of rows that begins where the columns end; the columns end at `new_end` then.
  void take(int new_end) {
    for (int p = 0; p < kPlanes; ++p) {
      for (int x = 0; x < kChunk; x += 4) load_columns(row(p, 0) + x, kChunk, at(p, end + x));
    }
    end = new_end;
  }
  void mirror(int radius, bool left, bool right) {
    for (int p = 0; p < kPlanes; ++p) {
      for (int i = 1; left && i <= radius; ++i) store(load(at(p, i)), at(p, -i));
      for (int i = 1; right && i <= radius; ++i) store(load(at(p, end - 1 - i)), at(p, end - 1 + i));
    }
  }
  // Forgets columns before `x`.
  void drop(int x) {
    for (int p = 0; p < kPlanes; ++p) std::copy(at(p, x), at(p, end), at(p, first));
    first = x;
  }
};

// Filters chunk after chunk down with `down(x)` and gives those columns to `across(begin, end)` whose neighbours
// are there; `begin` is a multiple of kTogether.
template <int kPlanes, class Down, class Across>
HWY_INLINE void for_each_chunk(Columns<kPlanes>& columns, int width, int radius, const Down& down,
                               const Across& across) {
  for (int begin = 0, done = 0; begin < width; begin += kChunk) {
    const int end = std::min(begin + kChunk, width);
    down(begin);
    columns.take(end);
    columns.mirror(radius, done == 0 && end > radius, end == width);
    const int ready = end == width ? width : (end - radius) / kTogether * kTogether;
    if (ready <= done) continue;
    across(done, ready);
    done = ready;
    if (done < width) columns.drop(done - radius);
  }
}

void MeasureBand(const Window& window, const Kernel& kernel, const Noise& noise, float* scratch, float* numerators,
                 float* denominators) {
  const int radius = kernel.radius();
  Columns<kMoments> columns(scratch, radius);
  real numerator(0.0f), denominator(0.0f);
  const int rows = kLanes + 2 * radius;
  const auto down = [&](int begin) INLINED {
    // More rows are read at once than processors follow by themselves.
    for (int i = 0; i < rows; ++i) {
      for (int x = kChunk; x < 2 * kChunk; x += 16) {
        hwy::Prefetch(window.reference[i] + begin + x);
        hwy::Prefetch(window.distorted[i] + begin + x);
      }
    }
    for (int x = 0; x < kChunk; x += kLanes) {
      for (int r = 0; r < kLanes; r += kRowsTogether) {
        real sums[kMoments][kRowsTogether];
        filter(
            kernel,
            [&](int i, real(&values)[kMoments]) INLINED {
              const real a = load(window.reference[r + i] + begin + x), b = load(window.distorted[r + i] + begin + x);
              values[0] = a;
              values[1] = b;
              values[2] = a * a;
              values[3] = b * b;
              values[4] = a * b;
            },
            sums);
        UNROLL for (int m = 0; m < kMoments; ++m) {
          UNROLL for (int q = 0; q < kRowsTogether; ++q) store(sums[m][q], columns.row(m, r + q) + x);
        }
      }
    }
  };
  const auto results = [&](auto count, int x) INLINED {
    constexpr int kCount = decltype(count)::value, kHalf = (kCount + 1) / 2;
    real moments[kMoments][kCount];
    // Two by two, for which registers suffice.
    for (int first = 0; first < kCount; first += kHalf) {
      real sums[kMoments][kHalf];
      filter(
          kernel,
          [&](int i, real(&values)[kMoments]) INLINED {
            UNROLL for (int m = 0; m < kMoments; ++m) values[m] = load(columns.at(m, x + first + i - radius));
          },
          sums);
      UNROLL for (int m = 0; m < kMoments; ++m) {
        UNROLL for (int q = 0; q < kHalf; ++q) moments[m][first + q] = sums[m][q];
      }
    }
    add_pixels(moments, noise, numerator, denominator);
  };
  for_each_chunk(columns, window.width, radius, down, [&](int begin, int end) INLINED {
    int x = begin;
    for (; x + kTogether <= end; x += kTogether) results(std::integral_constant<int, kTogether>(), x);
    for (; x < end; ++x) results(std::integral_constant<int, 1>(), x);
  });
  store_unaligned(numerator, numerators);
  store_unaligned(denominator, denominators);
}

void HalveBand(const Window& window, const Kernel& kernel, float* scratch, float* reference, float* distorted,
               size_t stride) {
  const int radius = kernel.radius();
  Columns<2> columns(scratch, radius);
  const auto down = [&](int begin) INLINED {
    for (int x = 0; x < kChunk; x += kLanes) {
      for (int r = 0; r < kLanes; ++r) {
        real sums[2][1];
        filter(
            kernel,
            [&](int i, real(&values)[2]) INLINED {
              values[0] = load(window.reference[2 * r + i] + begin + x);
              values[1] = load(window.distorted[2 * r + i] + begin + x);
            },
            sums);
        store(sums[0][0], columns.row(0, r) + x);
        store(sums[1][0], columns.row(1, r) + x);
      }
    }
  };
  // Four columns are written together.
  real pending[2][4];
  UNROLL for (int i = 0; i < 4; ++i) pending[0][i] = pending[1][i] = real(0.0f);
  for_each_chunk(columns, window.width, radius, down, [&](int begin, int end) INLINED {
    for (int x = begin; x < end; x += 2) {
      real sums[2][1];
      filter(
          kernel,
          [&](int i, real(&values)[2]) INLINED {
            values[0] = load(columns.at(0, x + i - radius));
            values[1] = load(columns.at(1, x + i - radius));
          },
          sums);
      const int place = x / 2;
      pending[0][place % 4] = sums[0][0];
      pending[1][place % 4] = sums[1][0];
      if (place % 4 < 3 && x + 2 < window.width) continue;
      for (int p = 0; p < 2; ++p) {
        const real* const four = pending[p];
        store_columns(four[0], four[1], four[2], four[3], (p == 0 ? reference : distorted) + place / 4 * 4, stride);
      }
    }
  });
}

int BandRows() { return kLanes; }
size_t BandScratch(int radius) {
  return static_cast<size_t>(kMoments * kLanes) * static_cast<size_t>(2 * kChunk + 3 * radius + kTogether);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::float_vif
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::float_vif {

HWY_EXPORT(BandRows);
HWY_EXPORT(BandScratch);
HWY_EXPORT(HalveBand);
HWY_EXPORT(MeasureBand);

int band_rows() { return HWY_DYNAMIC_DISPATCH(BandRows)(); }

size_t band_scratch(int radius) { return HWY_DYNAMIC_DISPATCH(BandScratch)(radius); }

void measure_band(const Window& window, const Kernel& kernel, const Noise& noise, float* scratch, float* numerators,
                  float* denominators) {
  HWY_DYNAMIC_DISPATCH(MeasureBand)(window, kernel, noise, scratch, numerators, denominators);
}

void halve_band(const Window& window, const Kernel& kernel, float* scratch, float* reference, float* distorted,
                size_t stride) {
  HWY_DYNAMIC_DISPATCH(HalveBand)(window, kernel, scratch, reference, distorted, stride);
}

}  // namespace acuity::float_vif
#endif
