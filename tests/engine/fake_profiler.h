// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_TESTS_ENGINE_FAKE_PROFILER_H
#define ACUITY_TESTS_ENGINE_FAKE_PROFILER_H

#include <map>
#include <string>

struct FakeProfiler {
  std::map<std::string, int> pushes;  // by name
  int pops = 0;
  int pops_too_many = 0;
};

#endif
