// SPDX-License-Identifier: BSD-2-Clause-Patent
// A machine whose CPU is so slow that whatever a GPU can do is begun there.
#ifndef ACUITY_TESTS_CLI_SLOW_CPU_CACHE_H
#define ACUITY_TESTS_CLI_SLOW_CPU_CACHE_H

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "cli/command.h"
#include "engine/capability_file.h"
#include "support/slow_cpu.h"

namespace acuity::test {

/// The environment of a command that finds this in its capability file. What a command measures is not for the next.
inline std::string slow_cpu_cache(std::initializer_list<const char*> metrics) {
  const std::string folder = scratch("slow_cpu_cache");
  std::filesystem::remove_all(folder);
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const Status written = update_capability_file(capability_path(), tests::slow_cpu(metrics), this_machine());
  unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(written.ok()) << written.message();
  return "XDG_CACHE_HOME=" + folder;
}

}  // namespace acuity::test

#endif
