// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/contrast.h"

#include <algorithm>

#include "base/powers.h"

namespace acuity::cambi {
namespace {

// Limited range at 10 bit, whatever the stream says.
constexpr int kBlack = 64, kWhite = 940, kMost = 1023;

double bt1886(double signal) {
  constexpr double kGamma = 2.4;
  const double white = exact_power(300.0, 1.0 / kGamma), black = exact_power(0.01, 1.0 / kGamma);
  const double gain = exact_power(white - black, kGamma), lift = black / (white - black);
  return gain * exact_power(std::max(signal + lift, 0.0), kGamma);
}

double pq(double signal) {
  constexpr double kM1 = 0.1593017578125, kM2 = 78.84375, kC1 = 0.8359375, kC2 = 18.8515625, kC3 = 18.6875;
  const double root = exact_power(signal, 1.0 / kM2);
  return 10000 * exact_power(std::max(root - kC1, 0.0) / (kC2 - kC3 * root), 1.0 / kM1);
}

double luminance(int sample, Eotf eotf) {
  const double signal = static_cast<double>(std::clamp(sample, kBlack, kWhite) - kBlack) / (kWhite - kBlack);
  return eotf == Eotf::bt1886 ? bt1886(signal) : pq(signal);
}

// The largest sample from which a step is seen, given that from brighter ones it is not; 0 where it never is. Between
// black and white the first such place that halving the interval comes upon, which for PQ need not be the only one.
int last_seen(int step, double threshold, Eotf eotf) {
  const auto seen = [&](int sample) {
    const double mean = luminance(sample, eotf);
    return luminance(sample + step, eotf) - mean > threshold * mean;
  };
  int low = kBlack, high = kWhite - step - 1;
  if (!seen(low)) return 0;
  if (!seen(low + 1)) return low;
  if (seen(high)) return seen(high + 1) ? kMost : high;
  while (true) {
    const int middle = low + (high - low) / 2;
    if (!seen(middle)) {
      high = middle;
    } else if (seen(middle + 1)) {
      low = middle;
    } else {
      return middle;
    }
  }
}

// The first sample that is not too dark; 0 where black is not.
int first_bright(double dark, Eotf eotf) {
  int sample = kBlack;
  while (sample < kWhite && luminance(sample, eotf) < dark) ++sample;
  return sample == kBlack ? 0 : sample;
}

}  // namespace

Contrast find_contrast(int log_count, double threshold, double dark, Eotf eotf) {
  // How much more visible larger steps are.
  constexpr std::array<int, kMostSteps> kWeights{1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  Contrast contrast;
  contrast.count = 1 << log_count;
  const int bright = first_bright(dark, eotf);
  int last = 0;
  for (int d = 0; d < contrast.count; ++d) {
    const auto at = static_cast<size_t>(d);
    last = last_seen(d + 1, threshold, eotf);
    contrast.weights[at] = kWeights[at];
    // The bound of dark samples is compared with samples raised by the number of steps, as libvmaf does it.
    contrast.ranges[at] = {bright - contrast.count - d, last};
  }
  contrast.first_counted = std::max(bright - 3 * contrast.count + 1, 0);
  contrast.counted_levels = std::max(last + contrast.count + 1 - contrast.first_counted, 1);
  return contrast;
}

}  // namespace acuity::cambi
