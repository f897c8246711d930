// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "frames/resampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace acuity {

Result<Resampling> Resampling::create(const FrameRate& reference, const FrameRate& distorted, int most) {
  for (const FrameRate& rate : {reference, distorted}) {
    if (rate.denominator == 0 || rate.numerator <= 0) {
      return Status(StatusCode::usage, "a video without a frame rate cannot be shown at another rate");
    }
    if (rate.numerator > most * rate.denominator) {
      return Status(StatusCode::usage,
                    fmt::format("a video has {:.6g} frames per second, but at most {} are shown; raise that limit",
                                static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator), most));
    }
  }
  const auto whole = [](const FrameRate& rate) { return rate.numerator % rate.denominator == 0; };
  if (!whole(reference) || !whole(distorted)) return Resampling(most);
  const int64_t both =
      std::lcm(reference.numerator / reference.denominator, distorted.numerator / distorted.denominator);
  return Resampling(static_cast<int>(std::min<int64_t>(both, most)));
}

int64_t Resampling::frame_at(int64_t k, const FrameRate& rate) const {
  const double fps = static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
  const double place = (static_cast<double>(k) + 0.5) * fps / rate_;
  const double below = std::floor(place);
  constexpr double kRounding = 1e-6;
  return static_cast<int64_t>(below) + (place - below >= 1 - kRounding ? 1 : 0);
}

int64_t Resampling::frames_for(int64_t k, const FrameRate& rate) const {
  const int64_t per_frame = rate_ * rate.denominator;
  return ((k + 1) * rate.numerator + per_frame - 1) / per_frame;
}

}  // namespace acuity
