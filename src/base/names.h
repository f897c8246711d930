// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names as people type them: in any case, and sometimes misspelt.
#ifndef ACUITY_BASE_NAMES_H
#define ACUITY_BASE_NAMES_H

#include <span>
#include <string>
#include <string_view>

namespace acuity {

/// Whether two names differ at most in the case of their letters A to Z.
bool same_name(std::string_view a, std::string_view b);

/// The candidate that a misspelt name most likely stands for; empty when none is near.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean 'psnr'?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace acuity

#endif
