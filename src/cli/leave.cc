// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/leave.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace acuity::cli {
namespace {

std::vector<std::shared_ptr<const void>>& kept() {
  static auto& things = *new std::vector<std::shared_ptr<const void>>;
  return things;
}

}  // namespace

void keep_until_exit(std::shared_ptr<const void> thing) { kept().push_back(std::move(thing)); }

void leave_process(int exit_code) {
  if (kept().empty()) return;
  // Not all files: a row that hangs while it is read has locked its own.
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(exit_code);
}

}  // namespace acuity::cli
