// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/capabilities.h"

#include "acuity/capability.h"
#include "cli/console.h"

namespace acuity::cli {

Capabilities::Capabilities(Console& console) : path_(capability_path()) {
  if (const Status loaded = load_capabilities(path_); !loaded.ok()) console.warn(loaded.message());
}

Capabilities::~Capabilities() { (void)save_capabilities(path_); }

}  // namespace acuity::cli
