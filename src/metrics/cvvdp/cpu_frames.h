// SPDX-License-Identifier: BSD-2-Clause-Patent
// The work on rows of video frames, compiled once for each instruction set.
#ifndef ACUITY_METRICS_CVVDP_CPU_FRAMES_H
#define ACUITY_METRICS_CVVDP_CPU_FRAMES_H

#include <array>
#include <span>

#include "metrics/cvvdp/cpu.h"

namespace acuity::cvvdp {

/// Encoded samples from 0 to 1 to the three channels, in place, by a table of light if there is one. Rows are aligned,
/// and may be written beyond their end.
void show_row(const Photometry& photometry, std::span<const float> table, int width,
              const std::array<float*, kStillChannels>& rows);

/// A row of all four channels: `frames` has for each plane the row of the frame itself, then of the frame before, and
/// so on, aligned and readable up to a multiple of 32 floats. The ends of the rows are set as ChannelReader wants them.
void filter_row(const std::array<std::vector<float>, kChannels>& filters,
                const std::array<std::vector<const float*>, kStillChannels>& frames, int width,
                const std::array<float*, kChannels>& out);

}  // namespace acuity::cvvdp

#endif
