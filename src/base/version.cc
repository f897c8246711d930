// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/version.h"

const char* acuity_version(void) { return ACUITY_VERSION; }
