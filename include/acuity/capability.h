// SPDX-License-Identifier: BSD-2-Clause-Patent
// The capability file: what was measured on this machine, so that "auto" chooses devices by it. It never changes a
// score.
//
// Scorers measure as they run, and "auto" uses what this process has measured. Nothing of that is read from a file or
// written to one unless a program calls these functions. The command `acuity` does.
#ifndef ACUITY_CAPABILITY_H
#define ACUITY_CAPABILITY_H

#include <string>

#include "acuity/export.h"
#include "acuity/status.h"

namespace acuity {

/// The file of this machine: $XDG_CACHE_HOME/acuity/capability-NUMBER.json, or ~/.cache/acuity/...; empty if the
/// environment names neither folder. The number stands for the processor, so that machines which share a home folder
/// have a file each.
ACUITY_API std::string capability_path();

/// Adds what the file holds to what this process has measured. A file that does not exist, or an empty path, is no
/// failure. A damaged one, or one of another machine or version, is a failure: nothing of it is used, and
/// save_capabilities() replaces it.
ACUITY_API Status load_capabilities(const std::string& path);

/// Writes what this process has measured, if it differs by more than a quarter from what was loaded or saved before.
/// What other processes have written meanwhile stays. The file appears whole under its name or not at all.
ACUITY_API Status save_capabilities(const std::string& path);

}  // namespace acuity

#endif
