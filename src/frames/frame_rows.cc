// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "frames/frame_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "frames/frame_rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::frame_rows {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

template <typename Sample>
HWY_INLINE void widen(const Sample* samples, int width, int32_t* out) {
  const hn::Rebind<Sample, WholeTag> narrow;
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    hn::Store(hn::PromoteTo(WholeTag(), hn::LoadU(narrow, samples + x)), WholeTag(), out + x);
  }
  for (; x < width; ++x) out[x] = samples[x];
}

void Widen(const std::byte* row, int depth, int width, int32_t* out) {
  if (depth == 8) {
    widen(reinterpret_cast<const uint8_t*>(row), width, out);
  } else {
    widen(reinterpret_cast<const uint16_t*>(row), width, out);
  }
}

// Nothing is rounded here: samples have 16 bits at most, and the scale is a power of two.
template <typename Sample>
HWY_INLINE void to_floats(const Sample* samples, int width, float scale, float offset, float* out) {
  const hn::Rebind<Sample, WholeTag> narrow;
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    const real value = to_real(hn::PromoteTo(WholeTag(), hn::LoadU(narrow, samples + x)));
    store(value * real(scale) + real(offset), out + x);
  }
  for (; x < width; ++x) out[x] = static_cast<float>(samples[x]) * scale + offset;
}

void ToFloats(const std::byte* row, int depth, int width, float scale, float offset, float* out) {
  if (depth == 8) {
    to_floats(reinterpret_cast<const uint8_t*>(row), width, scale, offset, out);
  } else {
    to_floats(reinterpret_cast<const uint16_t*>(row), width, scale, offset, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::frame_rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace frame_rows {
namespace {
HWY_EXPORT(ToFloats);
HWY_EXPORT(Widen);

// Asked for here, because HWY_DYNAMIC_DISPATCH takes no qualified name where only one target is compiled.
auto* converter() { return &HWY_DYNAMIC_DISPATCH(ToFloats); }
auto* widener() { return &HWY_DYNAMIC_DISPATCH(Widen); }

}  // namespace
}  // namespace frame_rows

void read_frame_row(const FrameView& frame, int plane, int y, float offset, float* out) {
  const auto p = static_cast<size_t>(plane);
  const float scale = 1.0f / static_cast<float>(1 << (frame.depth - 8));
  frame_rows::converter()(frame.planes[p] + y * frame.row_strides[p], frame.depth, frame.plane_width(plane), scale,
                          offset, out);
}

void read_frame_codes(const FrameView& frame, int plane, int y, int32_t* out) {
  const auto p = static_cast<size_t>(plane);
  frame_rows::widener()(frame.planes[p] + y * frame.row_strides[p], frame.depth, frame.plane_width(plane), out);
}

}  // namespace acuity
#endif
