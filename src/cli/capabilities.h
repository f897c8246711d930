// SPDX-License-Identifier: BSD-2-Clause-Patent
// What commands that score do with the capability file: read it first, and write what changed at the end.
#ifndef ACUITY_CLI_CAPABILITIES_H
#define ACUITY_CLI_CAPABILITIES_H

#include <string>

namespace acuity::cli {

class Console;

class Capabilities {
 public:
  /// A file that cannot be used is a warning.
  explicit Capabilities(Console& console);
  /// Nobody is told of a file that cannot be written: the next run measures again.
  ~Capabilities();
  Capabilities(const Capabilities&) = delete;
  Capabilities& operator=(const Capabilities&) = delete;

 private:
  std::string path_;
};

}  // namespace acuity::cli

#endif
