// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures made larger or smaller before they are measured (the option vif_prescale).
#ifndef ACUITY_METRICS_FLOAT_VIF_SCALING_H
#define ACUITY_METRICS_FLOAT_VIF_SCALING_H

#include <cstddef>
#include <string>

namespace acuity::float_vif {

/// A plane of floats, or a place for one.
template <typename Sample>
struct PlaneOf {
  Sample* samples = nullptr;
  size_t stride = 0;  // in samples
  int width = 0;
  int height = 0;
  Sample* row(int y) const { return samples + static_cast<size_t>(y) * stride; }
};

/// `method` is "nearest", "bilinear", "bicubic" or "lanczos4". The arithmetic is libvmaf's, with what is odd in it:
/// beyond the edges, "bilinear" extrapolates.
void scale_plane(const std::string& method, const PlaneOf<const float>& from, const PlaneOf<float>& to);

}  // namespace acuity::float_vif

#endif
