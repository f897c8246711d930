// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is made of the values of many frames.
#ifndef ACUITY_CLI_POOLS_H
#define ACUITY_CLI_POOLS_H

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace acuity::cli {

struct Pool {
  std::string name;             // "mean", "p5", ...
  std::optional<double> value;  // none: these values have no such pool
};

/// Every pool of at least one value, always the same ones in the same order. Percentiles lie on the line between the
/// two nearest values in order; the harmonic mean is n / sum(1 / (x + 1)) - 1, and there is none where a value is -1
/// or below; std is that of the values themselves, not an estimate for others.
std::vector<Pool> pools(std::span<const double> values);

double mean(std::span<const double> values);

}  // namespace acuity::cli

#endif
