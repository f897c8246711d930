// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_memory.h"

#include <cstring>
#include <utility>

#include "base/try.h"

namespace acuity {
namespace {

// Rows begin aligned.
FrameView laid_out(const FrameShape& format) {
  FrameView view{format};
  for (int p = 0; p < view.planes_count(); ++p) {
    const auto row = static_cast<size_t>(view.plane_width(p) * view.sample_bytes());
    view.row_strides[static_cast<size_t>(p)] = static_cast<ptrdiff_t>(round_up(row, kAlignment));
  }
  return view;
}

size_t bytes_of(const FrameView& view) {
  size_t bytes = 0;
  for (int p = 0; p < view.planes_count(); ++p) {
    bytes += static_cast<size_t>(view.row_strides[static_cast<size_t>(p)] * view.plane_height(p));
  }
  return bytes;
}

template <typename From>
void widen_row(const std::byte* from, std::byte* to, int count, int shift) {
  const auto* samples = reinterpret_cast<const From*>(from);
  auto* wide = reinterpret_cast<uint16_t*>(to);
  for (int x = 0; x < count; ++x) wide[x] = static_cast<uint16_t>(samples[x] << shift);
}

}  // namespace

size_t FrameMemory::frame_bytes(const FrameShape& format) { return bytes_of(laid_out(format)); }

FrameMemory::FrameMemory(const FrameShape& format) : format_(laid_out(format)), pool_(bytes_of(format_)) {}

Result<FrameView> FrameMemory::copy(const FrameView& frame, const PlaneSet& planes) {
  std::shared_ptr<std::byte> memory;
  ACUITY_TRY_ASSIGN(memory, pool_.take());
  FrameView view = format_;
  std::byte* plane = memory.get();
  for (int p = 0; p < view.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    const int width = view.plane_width(p);
    for (int y = 0; planes[at] && y < view.plane_height(p); ++y) {
      const std::byte* from = frame.planes[at] + y * frame.row_strides[at];
      std::byte* to = plane + y * view.row_strides[at];
      if (frame.depth == view.depth) {
        std::memcpy(to, from, static_cast<size_t>(width * view.sample_bytes()));
      } else if (frame.depth == 8) {
        widen_row<uint8_t>(from, to, width, view.depth - frame.depth);
      } else {
        widen_row<uint16_t>(from, to, width, view.depth - frame.depth);
      }
    }
    view.planes[at] = plane;
    plane += view.row_strides[at] * view.plane_height(p);
  }
  view.owner = std::move(memory);
  return view;
}

bool within_depth(const FrameView& frame, const PlaneSet& planes) {
  if (frame.depth == 8 || frame.depth == 16) return true;
  uint16_t all = 0;
  for (int p = 0; p < frame.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    for (int y = 0; planes[at] && y < frame.plane_height(p); ++y) {
      const auto* samples = reinterpret_cast<const uint16_t*>(frame.planes[at] + y * frame.row_strides[at]);
      for (int x = 0; x < frame.plane_width(p); ++x) all |= samples[x];
    }
  }
  return all >> frame.depth == 0;
}

}  // namespace acuity
