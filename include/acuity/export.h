// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which symbols the shared library exports. Everything else is hidden.
#ifndef ACUITY_EXPORT_H
#define ACUITY_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define ACUITY_API __attribute__((visibility("default")))
#else
#define ACUITY_API
#endif

#endif
