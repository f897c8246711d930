// SPDX-License-Identifier: BSD-2-Clause-Patent
// Gaussian windows in float as libvmaf has them, for features that look at neighbourhoods at several scales.
#ifndef ACUITY_FRAMES_GAUSSIAN_WINDOWS_H
#define ACUITY_FRAMES_GAUSSIAN_WINDOWS_H

#include <string>
#include <vector>

namespace acuity {

/// `taps` times `kernel_scale`, rounded up to an odd number, at least 3.
int window_taps(int taps, float kernel_scale);

/// Weights from end to end, rounded where libvmaf rounds.
std::vector<float> gaussian_window(int taps, float deviation);

/// Whether libvmaf has windows for it, and the list of those, for messages.
bool is_kernel_scale(double scale);
std::string kernel_scales();

}  // namespace acuity

#endif
