// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_yuv/sums.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/psnr_yuv/sums.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/pairs.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::psnr_yuv {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

// So many samples of a row are added up at a time that no sum of 32 bits, nor a whole number in a double, runs over.
constexpr int kTogether = 8192;

// For what the last vector of a row lacks: samples from there to the end, then zeros, which add nothing.
template <class D>
HWY_INLINE hn::Vec<D> load_rest(D d, const hn::TFromD<D>* from, int count) {
  alignas(64) hn::TFromD<D> rest[hn::MaxLanes(D())] = {};
  std::copy(from, from + count, rest);
  return hn::Load(d, rest);
}

/// Calls use(vector) or use(vector, vector) with all samples of the rows, full vectors first.
template <class D, class Use, class... Rows>
HWY_INLINE void for_vectors(D d, int count, const Use& use, const Rows*... rows) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= count; x += lanes) use(hn::LoadU(d, rows + x)...);
  if (x < count) use(load_rest(d, rows + x, count - x)...);
}

HWY_INLINE uint64_t squares_of_row(const uint8_t* a, const uint8_t* b, int count) {
  const hn::ScalableTag<uint8_t> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::RebindToSigned<decltype(wide)> wide_signed;
  PairSums even(0), odd(0);
  for_vectors(
      d, count,
      [&](auto samples_a, auto samples_b) {
        const auto difference =
            hn::BitCast(wide, hn::Sub(hn::Max(samples_a, samples_b), hn::Min(samples_a, samples_b)));
        const auto low = hn::BitCast(wide_signed, hn::And(difference, hn::Set(wide, 0xFF)));
        const auto high = hn::BitCast(wide_signed, hn::ShiftRight<8>(difference));
        even.add(low, low);
        odd.add(high, high);
      },
      a, b);
  return static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(LongTag(), hn::Add(even.sum(), odd.sum()))));
}

HWY_INLINE uint64_t squares_of_row(const uint16_t* a, const uint16_t* b, int count) {
  const hn::ScalableTag<uint16_t> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::RepartitionToWide<decltype(wide)> sums;
  auto total = hn::Zero(sums);
  for_vectors(
      d, count,
      [&](auto samples_a, auto samples_b) {
        const auto difference =
            hn::BitCast(wide, hn::Sub(hn::Max(samples_a, samples_b), hn::Min(samples_a, samples_b)));
        const auto low = hn::And(difference, hn::Set(wide, 0xFFFF)), high = hn::ShiftRight<16>(difference);
        const auto add = [&](auto value) {  // a square has 32 bits
          const auto squares = hn::BitCast(sums, hn::Mul(value, value));
          total = hn::Add(total, hn::Add(hn::And(squares, hn::Set(sums, 0xFFFFFFFFu)), hn::ShiftRight<32>(squares)));
        };
        add(low);
        add(high);
      },
      a, b);
  return hn::GetLane(hn::SumOfLanes(sums, total));
}

using WideTag = hn::RepartitionToWide<RealTag>;
using WideVector = hn::Vec<WideTag>;

// The squares of floats that hold whole numbers, rounded to float and then added in double without rounding.
HWY_INLINE WideVector add_squares(WideVector total, real value) {
  const hn::Half<RealTag> half;
  const auto square = (value * value).v;
  total = hn::Add(total, hn::PromoteTo(WideTag(), hn::LowerHalf(half, square)));
  return hn::Add(total, hn::PromoteTo(WideTag(), hn::UpperHalf(half, square)));
}

HWY_INLINE uint64_t sum_lanes(WideVector total) {
  return static_cast<uint64_t>(hn::GetLane(hn::SumOfLanes(WideTag(), total)));
}

template <typename Sample>
HWY_INLINE uint64_t rounded_squares_of_row(const Sample* a, const Sample* b, int count) {
  const hn::Rebind<Sample, WholeTag> d;
  WideVector squares = hn::Zero(WideTag());
  for_vectors(
      d, count,
      [&](auto samples_a, auto samples_b) {
        const whole difference = whole(hn::PromoteTo(WholeTag(), samples_a)) - hn::PromoteTo(WholeTag(), samples_b);
        squares = add_squares(squares, to_real(difference));
      },
      a, b);
  return sum_lanes(squares);
}

template <typename Sample>
HWY_INLINE void add_moments_of_row(const Sample* row, int count, Moments& moments) {
  const hn::Rebind<Sample, WholeTag> d;
  whole sum = 0;
  WideVector squares = hn::Zero(WideTag());
  for_vectors(
      d, count,
      [&](auto samples) {
        const whole values = hn::PromoteTo(WholeTag(), samples);
        sum = sum + values;
        squares = add_squares(squares, to_real(values));
      },
      row);
  moments.sum += static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(WholeTag(), sum.v)));
  moments.squares += sum_lanes(squares);
}

template <typename Sample>
HWY_INLINE const Sample* row_at(const FrameView& frame, int plane, int y) {
  const auto p = static_cast<size_t>(plane);
  return reinterpret_cast<const Sample*>(frame.planes[p] + y * frame.row_strides[p]);
}

/// Calls use(y, x, count) with pieces of rows that cover the plane.
template <class Use>
HWY_INLINE void for_pieces(const FrameView& frame, int plane, const Use& use) {
  const int width = frame.plane_width(plane);
  for (int y = 0; y < frame.plane_height(plane); ++y) {
    for (int x = 0; x < width; x += kTogether) use(y, x, std::min(kTogether, width - x));
  }
}

template <typename Sample>
HWY_INLINE uint64_t sum_of_plane(const FrameView& a, const FrameView& b, int plane, bool rounded) {
  uint64_t total = 0;
  for_pieces(a, plane, [&](int y, int x, int count) {
    const Sample *from_a = row_at<Sample>(a, plane, y) + x, *from_b = row_at<Sample>(b, plane, y) + x;
    total += rounded ? rounded_squares_of_row(from_a, from_b, count) : squares_of_row(from_a, from_b, count);
  });
  return total;
}

uint64_t SumSquares(const FrameView& a, const FrameView& b, int plane, bool rounded) {
  return a.depth == 8 ? sum_of_plane<uint8_t>(a, b, plane, rounded) : sum_of_plane<uint16_t>(a, b, plane, rounded);
}

void SumMoments(const FrameView& frame, Moments& moments) {
  for_pieces(frame, 0, [&](int y, int x, int count) {
    if (frame.depth == 8) {
      add_moments_of_row(row_at<uint8_t>(frame, 0, y) + x, count, moments);
    } else {
      add_moments_of_row(row_at<uint16_t>(frame, 0, y) + x, count, moments);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::psnr_yuv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::psnr_yuv {
HWY_EXPORT(SumSquares);
HWY_EXPORT(SumMoments);

uint64_t squared_differences(const FrameView& a, const FrameView& b, int plane) {
  return HWY_DYNAMIC_DISPATCH(SumSquares)(a, b, plane, false);
}

uint64_t rounded_squared_differences(const FrameView& a, const FrameView& b) {
  return HWY_DYNAMIC_DISPATCH(SumSquares)(a, b, 0, true);
}

Moments moments(const FrameView& frame) {
  Moments result;
  HWY_DYNAMIC_DISPATCH(SumMoments)(frame, result);
  return result;
}

}  // namespace acuity::psnr_yuv
#endif
