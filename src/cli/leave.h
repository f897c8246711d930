// SPDX-License-Identifier: BSD-2-Clause-Patent
// The end of the process. Freeing what a GPU driver holds, piece by piece, takes a good part of a short run, and the
// system does it anyway.
#ifndef ACUITY_CLI_LEAVE_H
#define ACUITY_CLI_LEAVE_H

#include <memory>

namespace acuity::cli {

/// Leaves something to the system. leave_process() then ends the process without destroying anything.
void keep_until_exit(std::shared_ptr<const void> thing);
/// The last call of main, once everything is written: returns only where nothing was kept.
void leave_process(int exit_code);

}  // namespace acuity::cli

#endif
