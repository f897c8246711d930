// SPDX-License-Identifier: BSD-2-Clause-Patent
// What --help and --version print.
#ifndef ACUITY_CLI_HELP_H
#define ACUITY_CLI_HELP_H

#include <string>

#include "cli/options.h"

namespace acuity::cli {

std::string general_help();
std::string command_help(const Command& command);
std::string version_text();

}  // namespace acuity::cli

#endif
