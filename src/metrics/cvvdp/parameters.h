// SPDX-License-Identifier: BSD-2-Clause-Patent
// The trained figures of ColorVideoVDP, parameters 0.5.6 (cvvdp_parameters.json); THIRD_PARTY.md names their licence.
#ifndef ACUITY_METRICS_CVVDP_PARAMETERS_H
#define ACUITY_METRICS_CVVDP_PARAMETERS_H

#include <array>

namespace acuity::cvvdp {

/// Sustained achromatic, red-green, violet-yellow; in video also transient achromatic.
inline constexpr int kChannels = 4;
inline constexpr int kStillChannels = 3;
inline constexpr std::array<const char*, kChannels> kChannelNames = {"achromatic", "red_green", "violet_yellow",
                                                                     "transient"};

inline constexpr double kMaskPower = 2.264355182647705;          // mask_p
inline constexpr double kLogMaskScale = -0.7954971194267273;     // mask_c
inline constexpr std::array<double, kChannels> kMaskingPowers =  // mask_q
    {1.302622675895691, 2.8885908126831055, 3.6807713508605957, 3.588787317276001};
/// log2 of how much each channel masks others: row by row the masking channel, across the masked one.
inline constexpr std::array<std::array<double, kChannels>, kChannels> kLogCrossMasking = {{
    {-0.18950104713439941, -5.962151050567627, -4.31834602355957, -1.9321587085723877},
    {2.5655593872070312, 0.34406712651252747, -2.719646453857422, -0.4970424771308899},
    {3.8118371963500977, -1.0051705837249756, -0.5193376541137695, -0.5653647780418396},
    {-7.054771423339844, -5.527150630950928, -3.5106418132781982, -2.08804988861084},
}};
inline constexpr double kLogLargestDifference = 2.5642454624176025;  // d_max
inline constexpr std::array<double, kChannels> kGains = {1, 1.45, 1, 1};
inline constexpr double kSensitivityDecibels = -0.2797423303127289;  // sensitivity_correction

inline constexpr std::array<double, kChannels> kChannelWeights = {1, 1, 1, 0.8081134557723999};
inline constexpr std::array<double, kChannels> kBaseWeights = {0.0036334486212581396, 1.6627724170684814,
                                                               4.11874532699585, 25.25969886779785};
inline constexpr double kStillFactor = 0.577918291091919;  // image_int
inline constexpr double kJodScale = 0.0439569391310215;    // jod_a
inline constexpr double kJodPower = 0.9302042722702026;    // jod_exp

/// The reference's power is (x + e)^p - e^p, so that its slope at 0 is finite.
inline constexpr double kPowerOffset = 1e-5;

inline constexpr double kLeastBackground = 0.01;
inline constexpr double kLargestContrast = 1000;

}  // namespace acuity::cvvdp

#endif
