// SPDX-License-Identifier: BSD-2-Clause-Patent
// How sensitive the eye is to a contrast, by channel, spatial frequency and luminance.
#ifndef ACUITY_METRICS_CVVDP_SENSITIVITY_H
#define ACUITY_METRICS_CVVDP_SENSITIVITY_H

#include <array>

#include "metrics/cvvdp/parameters.h"

namespace acuity::cvvdp {

inline constexpr int kTableSide = 32;
/// log10 of the sensitivity: a row for each luminance, a column for each frequency.
using SensitivityTable = std::array<std::array<float, kTableSide>, kTableSide>;
extern const std::array<double, kTableSide> kTableFrequencies;  // in cycles per degree
extern const std::array<SensitivityTable, kChannels> kLogSensitivity;

/// log2 of the luminance in nit times this plus that is the place among the table's luminances, 0 .. 31.
double luminance_step();
double luminance_offset();

/// log2 of the sensitivity at the luminances of the table, for one frequency. Beyond the table's ends the line through
/// the last two frequencies goes on.
std::array<double, kTableSide> log_sensitivity(int channel, double frequency);

/// The sensitivity at one luminance.
double sensitivity_at(int channel, double frequency, double luminance);

}  // namespace acuity::cvvdp

#endif
