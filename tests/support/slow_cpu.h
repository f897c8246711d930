// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measurements by which "auto" and the scheduler begin on a GPU, however little there is to do.
#ifndef ACUITY_TESTS_SUPPORT_SLOW_CPU_H
#define ACUITY_TESTS_SUPPORT_SLOW_CPU_H

#include <initializer_list>

#include "engine/chooser.h"
#include "engine/measurements.h"

namespace acuity::tests {

/// The CPU takes a millisecond for a pixel.
inline Measurements slow_cpu(std::initializer_list<const char*> metrics) {
  Measurements slow;
  slow.note_device(measured_cpu_key(), {.id = "cpu"});
  for (const char* metric : metrics) {
    for (const auto kind : {RowMode::Kind::pair, RowMode::Kind::prepared, RowMode::Kind::prepare}) {
      for (const bool many : {false, true}) {
        for (int size = kSmallestClass; size <= kLargestClass; ++size) {
          slow.set({measured_cpu_key(), metric, RowMode{kind, false, many}, size}, {1e6, 1});
        }
      }
    }
  }
  return slow;
}

}  // namespace acuity::tests

#endif
