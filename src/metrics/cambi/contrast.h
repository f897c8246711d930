// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which steps between 10-bit samples can be seen, by the transfer function of the display.
#ifndef ACUITY_METRICS_CAMBI_CONTRAST_H
#define ACUITY_METRICS_CAMBI_CONTRAST_H

#include <array>

namespace acuity::cambi {

enum class Eotf { bt1886, pq };

/// Samples between which a step is seen; none where highest < lowest.
struct StepRange {
  int lowest = 0;
  int highest = -1;
};

constexpr int kMostSteps = 32;

/// Steps of 1, 2 ... `count` are looked for. Samples from first_counted on, counted_levels of them, matter to any.
struct Contrast {
  int count = 0;
  std::array<int, kMostSteps> weights{};
  std::array<StepRange, kMostSteps> ranges{};
  int first_counted = 0;
  int counted_levels = 0;
};

/// `threshold`: a step must be larger than this part of the luminance to be seen; `dark`: nor is it where the luminance
/// is below that, in cd/m2.
Contrast find_contrast(int log_count, double threshold, double dark, Eotf eotf);

}  // namespace acuity::cambi

#endif
