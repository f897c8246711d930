// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measurements as JSON, for acuity/capability.h.
#ifndef ACUITY_ENGINE_CAPABILITY_FILE_H
#define ACUITY_ENGINE_CAPABILITY_FILE_H

#include <string>
#include <string_view>

#include "acuity/capability.h"
#include "engine/measurements.h"

namespace acuity {

/// What a file must agree with to be of use.
struct Machine {
  std::string version;  // of this library
  std::string cpu;      // "AMD EPYC 9654, 192 threads"
};
Machine this_machine();

std::string capability_text(const Measurements& measured, const Machine& machine);
/// Nothing of a text that is not entirely as it should be.
Result<Measurements> parse_capabilities(std::string_view text, const Machine& machine);

/// What the file holds: nothing if it does not exist. A failure states what is wrong, in a sentence for people.
Result<Measurements> read_capability_file(const std::string& path, const Machine& machine);
/// Puts what changed into the file, beside what is there.
Status update_capability_file(const std::string& path, const Measurements& changed, const Machine& machine);

}  // namespace acuity

#endif
