// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the command tells the shell. Scripts rely on these numbers: they are never changed.
#ifndef ACUITY_CLI_EXIT_CODE_H
#define ACUITY_CLI_EXIT_CODE_H

#include "acuity/status.h"

namespace acuity::cli {

enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitInput = 3,
  kExitDevice = 4,
  kExitBelowLimit = 5,
  kExitRowsFailed = 6,
};

constexpr int exit_code(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return kExitOk;
    case StatusCode::usage:
      return kExitUsage;
    case StatusCode::input:
    case StatusCode::too_big:
      return kExitInput;
    case StatusCode::device_memory:
    case StatusCode::device_lost:
    case StatusCode::unknown_device:
    case StatusCode::device:
      return kExitDevice;
    case StatusCode::out_of_memory:
    case StatusCode::cancelled:
    case StatusCode::internal:
      return kExitFailed;
  }
  return kExitFailed;
}

/// Whether a device is to blame, so that another may do better.
inline bool is_of_device(const Status& status) { return exit_code(status.code()) == kExitDevice; }

}  // namespace acuity::cli

#endif
