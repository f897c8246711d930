// SPDX-License-Identifier: BSD-2-Clause-Patent
// For functions that are a row of steps, each of which may fail.
#ifndef ACUITY_BASE_TRY_H
#define ACUITY_BASE_TRY_H

#include "acuity/status.h"

/// Returns the failure from the enclosing function, if it is one.
#define ACUITY_TRY(expression)                     \
  do {                                             \
    ::acuity::Status acuity_status = (expression); \
    if (!acuity_status.ok()) return acuity_status; \
  } while (false)

/// Assigns the value of a Result to `target`, or returns its failure from the enclosing function.
#define ACUITY_TRY_ASSIGN(target, expression)               \
  do {                                                      \
    auto acuity_result = (expression);                      \
    if (!acuity_result.ok()) return acuity_result.status(); \
    target = std::move(*acuity_result);                     \
  } while (false)

#endif
