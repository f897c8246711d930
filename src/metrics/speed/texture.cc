// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed/texture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/powers.h"
#include "base/try.h"
#include "metrics/speed/algebra.h"

#ifndef ACUITY_METRICS_SPEED_TEXTURE_ONCE
#define ACUITY_METRICS_SPEED_TEXTURE_ONCE
namespace acuity::speed {

constexpr size_t kCentredRow = 2 * Places::kTogether;

}  // namespace acuity::speed
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/speed/texture.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::speed {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
constexpr size_t kDoubles = HWY_LANES(double);
constexpr size_t kParts = kVirtualLanes / kDoubles;

// The mean of each sample of a block over all places, summed up one after the other in float.
void FindMeans(const Places& places, float* means) {
  const hn::FixedTag<float, 4> four;
  using Four = hn::Vec<decltype(four)>;
  Four sums[kBlockSide][2];
  for (auto& sum : sums) sum[0] = sum[1] = hn::Zero(four);
  for (int y = 0; y < places.down; ++y) {
    const float* row = places.samples + y * places.stride;
    for (int x = 0; x < places.across; ++x) {
      for (int dy = 0; dy < kBlockSide; ++dy) {
        sums[dy][0] = hn::Add(sums[dy][0], hn::LoadU(four, row + dy * places.stride + x));
        sums[dy][1] = hn::Add(sums[dy][1], hn::LoadU(four, row + dy * places.stride + x + 4));
      }
    }
  }
  const auto count = static_cast<float>(places.across * places.down);
  for (int dy = 0; dy < kBlockSide; ++dy) {
    float lanes[8];
    hn::StoreU(sums[dy][0], four, lanes);
    hn::StoreU(sums[dy][1], four, lanes + 4);
    for (int dx = 0; dx < kBlockSide; ++dx) means[dy * kBlockSide + dx] = lanes[dx] / count;
  }
}

// sums += a * b, in kVirtualLanes partial sums.
HWY_INLINE void add_products(const double* a, const double* b, size_t count, double* sums) {
  const Doubles d;
  hn::Vec<Doubles> parts[kParts];
  for (size_t p = 0; p < kParts; ++p) parts[p] = hn::Load(d, sums + p * kDoubles);
  for (size_t i = 0; i < count; i += kVirtualLanes) {
    for (size_t p = 0; p < kParts; ++p) {
      const size_t at = i + p * kDoubles;
      parts[p] = hn::Add(parts[p], hn::Mul(hn::Load(d, a + at), hn::Load(d, b + at)));
    }
  }
  for (size_t p = 0; p < kParts; ++p) hn::Store(parts[p], d, sums + p * kDoubles);
}

// `centred` has room for kSide rows of kCentredRow doubles.
void SumProducts(const Places& places, const float* means, double* centred, PairSums& out) {
  const Doubles d;
  const Floats f;
  HWY_ALIGN double sums[kPairs][kVirtualLanes] = {};
  const int rows_together = places.rows_together(), columns_together = places.columns_together();
  for (int top = 0; top < places.down; top += rows_together) {
    const int bottom = std::min(top + rows_together, places.down);
    for (int left = 0; left < places.across; left += columns_together) {
      const int width = std::min(columns_together, places.across - left);
      const size_t count = static_cast<size_t>(width) * static_cast<size_t>(bottom - top);
      for (int i = 0; i < kSide; ++i) {
        double* row = centred + static_cast<size_t>(i) * kCentredRow;
        const auto mean = hn::Set(d, static_cast<double>(means[i]));
        double* to = row;
        for (int y = top; y < bottom; ++y, to += width) {
          const float* from = places.samples + (y + i / kBlockSide) * places.stride + left + i % kBlockSide;
          for (int x = 0; x < width; x += static_cast<int>(kDoubles)) {
            hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(f, from + x)), mean), d, to + x);
          }
        }
        std::fill(row + count, row + count + kVirtualLanes, 0.0);
      }
      size_t pair = 0;
      for (size_t i = 0; i < kSide; ++i) {
        for (size_t j = 0; j <= i; ++j, ++pair) {
          add_products(centred + i * kCentredRow, centred + j * kCentredRow, count, sums[pair]);
        }
      }
    }
  }
  for (size_t pair = 0; pair < kPairs; ++pair) std::copy_n(sums[pair], kVirtualLanes, out[pair].begin());
}

// The same as exact_log2 of base/powers.h, for normal numbers above zero.
HWY_INLINE hn::Vec<Doubles> log2_of(hn::Vec<Doubles> x) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  // The exponent that leaves a mantissa from sqrt(1/2) to sqrt(2).
  const auto bits = hn::BitCast(di, x), root = hn::Set(di, int64_t{0x3FE6A09E667F3BCD});
  const auto raised = hn::Sub(bits, root);
  const auto exponent_bits = hn::And(raised, hn::Set(di, ~int64_t{0xFFFFFFFFFFFFF}));
  const auto mantissa = hn::BitCast(d, hn::Sub(bits, exponent_bits));
  // Small whole numbers to double: in the last bits of 1.5 * 2^52 they are what they are.
  const auto magic = hn::Set(d, 6755399441055744.0);
  const auto whole = hn::ShiftRight<52>(
      hn::BitCast(hn::RebindToUnsigned<Doubles>(), hn::Add(raised, hn::Set(di, int64_t{0x4000000000000000}))));
  const auto exponent = hn::Sub(
      hn::BitCast(d, hn::Add(hn::BitCast(di, magic), hn::Sub(hn::BitCast(di, whole), hn::Set(di, 1024)))), magic);
  const auto one = hn::Set(d, 1.0);
  const auto t = hn::Div(hn::Sub(mantissa, one), hn::Add(mantissa, one)), t2 = hn::Mul(t, t);
  auto series = hn::Zero(d);
  for (int k = 23; k >= 3; k -= 2) series = hn::Mul(hn::Add(series, hn::Set(d, 1.0 / k)), t2);
  return hn::Add(exponent, hn::Mul(hn::Set(d, 2.8853900817779268147), hn::Add(t, hn::Mul(t, series))));
}

// entropies += log2(eigenvalue * variance + noise) + constant, for each eigenvalue.
void FindEntropies(const float* variances, size_t count, const float* eigenvalues, float noise, double constant,
                   float* entropies) {
  const Doubles d;
  const Floats f;
  for (size_t b = 0; b < count; b += kDoubles) {
    const auto variance = hn::LoadU(f, variances + b);
    auto entropy = hn::Zero(f);
    for (int i = 0; i < kSide; ++i) {
      const auto seen = hn::Add(hn::Mul(hn::Set(f, std::max(eigenvalues[i], 0.0f)), variance), hn::Set(f, noise));
      const auto bits = hn::Add(log2_of(hn::PromoteTo(d, seen)), hn::Set(d, constant));
      entropy = hn::DemoteTo(f, hn::Add(hn::PromoteTo(d, entropy), bits));
    }
    hn::StoreU(entropy, f, entropies + b);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::speed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::speed {

HWY_EXPORT(FindMeans);
HWY_EXPORT(SumProducts);
HWY_EXPORT(FindEntropies);

namespace {

constexpr int kPadding = 16;  // floats in the widest vector

Matrix covariances_of(const PairSums& sums, const Places& places) {
  Matrix result;
  const double count = static_cast<double>(places.across) * places.down;
  size_t pair = 0;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j <= i; ++j, ++pair) {
      double sum = 0;
      for (const double lane : sums[pair]) sum += lane;
      result.at[i][j] = result.at[j][i] = static_cast<float>(sum / count);
    }
  }
  return result;
}

// log2(2 pi e)
double entropy_constant() { return exact_log2(2 * std::numbers::pi * std::numbers::e); }

}  // namespace

Result<TextureFinder> TextureFinder::create(int width, int height) {
  TextureFinder made;
  made.across_ = width / kBlockSide;
  made.down_ = height / kBlockSide;
  made.block_stride_ = static_cast<int>(round_up(static_cast<size_t>(made.blocks()), kPadding));
  const size_t samples = static_cast<size_t>(kSide) * static_cast<size_t>(made.block_stride_);
  constexpr size_t kCentred = static_cast<size_t>(kSide) * kCentredRow;
  ACUITY_TRY_ASSIGN(made.arena_, Arena::create(2 * Arena::cost<float>(samples) + Arena::cost<double>(kCentred)));
  made.samples_ = made.arena_.take<float>(samples);
  made.solved_ = made.arena_.take<float>(samples);
  made.centred_ = made.arena_.take<double>(kCentred);
  std::fill_n(made.samples_, samples, 0.0f);
  return made;
}

void TextureFinder::find(const float* small, ptrdiff_t stride, float noise, Texture& out) {
  float means[kSide];
  PairSums sums;
  HWY_DYNAMIC_DISPATCH(FindMeans)(places(small, stride), means);
  HWY_DYNAMIC_DISPATCH(SumProducts)(places(small, stride), means, centred_, sums);
  conclude(small, stride, sums, noise, out);
}

void TextureFinder::conclude(const float* small, ptrdiff_t stride, const PairSums& sums, float noise, Texture& out) {
  float eigenvalues[kSide];
  const Matrix covariances = covariances_of(sums, places(small, stride));
  find_eigenvalues(covariances, eigenvalues);

  // A row for each place in a block, a column for each block.
  for (int i = 0; i < kSide; ++i) {
    float* row = samples_ + i * block_stride_;
    for (int by = 0; by < down_; ++by) {
      const float* from = small + (by * kBlockSide + i / kBlockSide) * stride + i % kBlockSide;
      for (int bx = 0; bx < across_; ++bx) *row++ = from[bx * kBlockSide];
    }
  }
  const float least = *std::min_element(eigenvalues, eigenvalues + kSide);
  out.singular =
      !(static_cast<double>(least) >= 1e-6) || !solve(covariances, samples_, blocks(), block_stride_, solved_);

  const auto room = static_cast<size_t>(block_stride_);
  out.entropies.assign(room, 0.0f);
  out.variances.assign(room, 0.0f);
  for (int i = 0; i < kSide && !out.singular; ++i) {
    for (int b = 0; b < blocks(); ++b) {
      const int at = i * block_stride_ + b;
      out.variances[static_cast<size_t>(b)] += solved_[at] * samples_[at] / static_cast<float>(kSide);
    }
  }
  // A variance below zero comes of rounding; where a logarithm could not be taken the matrix is as good as singular.
  const float lowest = *std::min_element(out.variances.begin(), out.variances.end());
  const float largest = *std::max_element(eigenvalues, eigenvalues + kSide);
  if (!(largest * lowest + noise > 0 && 1 + lowest > 0)) {
    out.singular = true;
    out.variances.assign(room, 0.0f);
  }
  HWY_DYNAMIC_DISPATCH(FindEntropies)
  (out.variances.data(), out.variances.size(), eigenvalues, noise, entropy_constant(), out.entropies.data());
  out.variances.resize(static_cast<size_t>(blocks()));
  out.entropies.resize(static_cast<size_t>(blocks()));
}

float distance(const Texture& reference, const Texture& distorted, float noise, float floor, int weighting) {
  const double constant = entropy_constant();
  const auto base = static_cast<float>(kSide * (exact_log2(static_cast<double>((1 + floor) * noise)) + constant));
  // The variance of the reference and of the distorted picture in the weight of each, from 0 to 1.
  struct Mix {
    double reference, distorted;
  };
  struct Weighting {
    Mix of_reference, of_distorted;
  };
  static constexpr Weighting kWeightings[] = {{{1, 0}, {0, 1}},         {{1, 0}, {1, 0}},     {{0, 1}, {0, 1}},
                                              {{0.5, 0.5}, {0.5, 0.5}}, {{1, 0}, {0.5, 0.5}}, {{1, 0}, {0.75, 0.25}},
                                              {{1, 0}, {0.25, 0.75}}};
  const Weighting& chosen = kWeightings[weighting];
  float sum = 0;
  for (size_t b = 0; b < reference.entropies.size(); ++b) {
    if (reference.entropies[b] < base && distorted.entropies[b] < base) continue;
    const auto weighted = [&](float entropy, const Mix& mix) {
      const float a = reference.variances[b], c = distorted.variances[b];
      double variance = 0;
      // Sums with a single variance are rounded to float, and so is that of both before it is halved.
      if (mix.reference == 1) {
        variance = static_cast<double>(1 + a);
      } else if (mix.distorted == 1) {
        variance = static_cast<double>(1 + c);
      } else if (mix.reference == mix.distorted) {
        variance = 1 + static_cast<double>(a + c) / 2;
      } else {
        variance = 1 + (mix.reference * static_cast<double>(a) + mix.distorted * static_cast<double>(c));
      }
      return static_cast<float>(static_cast<double>(entropy) * exact_log2(variance));
    };
    sum += std::abs(weighted(reference.entropies[b], chosen.of_reference) -
                    weighted(distorted.entropies[b], chosen.of_distorted));
  }
  return sum / static_cast<float>(reference.entropies.size());
}

}  // namespace acuity::speed
#endif
