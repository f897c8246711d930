// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace acuity::cli {

std::optional<FrameTotal> total_of(const VideoFormat& format) {
  if (format.frames) return FrameTotal{*format.frames, false};
  if (!format.seconds || format.rate.denominator == 0) return {};
  const double rate = static_cast<double>(format.rate.numerator) / static_cast<double>(format.rate.denominator);
  return FrameTotal{std::max<int64_t>(1, std::llround(*format.seconds * rate)), true};
}

std::string FrameCount::told(int64_t done, const std::optional<FrameTotal>& total) const {
  const double rate = static_cast<double>(done) * 1000 / std::max(watch_.milliseconds(), 1.0);
  if (!total || done > total->frames) return fmt::format("{} frames, {:.1f} per second", done, rate);
  if (done == 0) return fmt::format("0 of {}{} frames", total->about ? "about " : "", total->frames);
  return fmt::format("{} of {}{} frames, {:.1f} per second, {:.0f} s left", done, total->about ? "about " : "",
                     total->frames, rate, static_cast<double>(total->frames - done) / rate);
}

}  // namespace acuity::cli
