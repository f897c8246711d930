// SPDX-License-Identifier: BSD-2-Clause-Patent
// Small pictures for tests of many rows.
#ifndef ACUITY_TESTS_CLI_BATCH_PICTURES_H
#define ACUITY_TESTS_CLI_BATCH_PICTURES_H

#include <string>

#include "cli/command.h"

namespace acuity::test {

/// A PPM file whose samples depend on `seed`. Returns its path.
inline std::string small_picture(const std::string& name, unsigned seed, int side = 16) {
  std::string text = "P6\n" + std::to_string(side) + " " + std::to_string(side) + "\n255\n";
  unsigned state = seed * 2654435761u + 1;
  for (int i = 0; i < side * side * 3; ++i) {
    state = state * 1664525u + 1013904223u;
    text += static_cast<char>(64 + (i % 97) + static_cast<int>(state >> 28));
  }
  const std::string path = scratch(name);
  write_file(path, text);
  return path;
}

}  // namespace acuity::test

#endif
