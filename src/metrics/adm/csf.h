// SPDX-License-Identifier: BSD-2-Clause-Patent
// How sensitive the eye is to the details of each scale, by several models: the factors ADM multiplies them with.
#ifndef ACUITY_METRICS_ADM_CSF_H
#define ACUITY_METRICS_ADM_CSF_H

#include <array>
#include <optional>

#include "metrics/adm/scales.h"

namespace acuity::adm {

/// Of horizontal and vertical details, and of diagonal ones.
struct Sensitivity {
  float straight = 0;
  float diagonal = 0;
  float of(int subband) const { return subband < 2 ? straight : diagonal; }
};
using Sensitivities = std::array<Sensitivity, kScales>;

/// Where the picture is seen from, in heights of the screen, and how many rows that has.
struct Viewing {
  double distance = 3;
  int height = 1080;
};

/// Watson et al. 1997, "Visibility of wavelet quantization noise", for luma.
Sensitivities watson_sensitivities(const Viewing& viewing);

/// Barten's model as HDR-VDP-2.2 has it, at 100 cd/m2, times factors for each direction.
Sensitivities barten_sensitivities(const Viewing& viewing, double straight, double diagonal);

/// The one of Li et al. 2011, "Image quality assessment by separately evaluating detail losses and additive
/// impairments".
Sensitivities native_sensitivities(const Viewing& viewing);

/// A blend of the first two, fitted for some viewing conditions alone; `mae`: the later fit by absolute errors.
std::optional<Sensitivities> blended_sensitivities(const Viewing& viewing, bool mae);

}  // namespace acuity::adm

#endif
