// SPDX-License-Identifier: BSD-2-Clause-Patent
// A driver library that answers like libcuda.so.1 and libamdhip64.so, without a GPU. It checks how it is called, counts
// what it has handed out, fails where a test tells it to, and runs the known-answer kernel on the CPU.
#ifndef ACUITY_TESTS_DEVICE_FAKE_DRIVER_H
#define ACUITY_TESTS_DEVICE_FAKE_DRIVER_H

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

enum class FakeMistake {
  none,
  split_fma,
  wrong_division,
  wrong_root,
  wrong_sum,
  no_barrier,
  no_shuffle,
  unrounded_quotient,
  flushes_subnormals
};

struct FakeDriver {
  // What tests set.
  int devices = 2;
  int cuda_version = 12040;
  int capability = 90;                  // of CUDA devices
  std::string hip_target = "gfx90a";    // of HIP devices
  size_t free_bytes = size_t{1} << 20;  // before anything is allocated
  FakeMistake mistake = FakeMistake::none;
  int failing_call = -1;         // counted from 0 since reset
  std::string failing_function;  // or a call of that
  int calls_before_failure = 0;  // so many calls of it succeed first
  int failure = 0;               // its code; from 700 on every later call fails too
  /// What is copied back is a number made of all that was copied to the memory which kernels read before, so that the
  /// results of different pictures differ. If not: what was there, zeros.
  bool results_differ = false;
  std::function<void(const std::string& call)> on_call;  // before each; calls of other threads go on while it blocks

  // What tests look at.
  std::vector<std::string> calls;  // names; events and streams with their numbers
  std::vector<std::string> complaints;
  std::map<std::string, int> live;  // how many of "memory", "stream", "graph" and so on have not been given back
  std::map<std::string, size_t> bytes, most_bytes;  // of "memory" and "pinned": now, and the most there ever was
  std::vector<std::string> loaded;                  // targets of the modules accepted
  std::vector<int> jit_options;                     // CUDA's keys for the last PTX of them
  std::set<std::string> found, launched;            // kernels, by name
  unsigned grid[6] = {};                            // of the last launch: groups and threads
  std::vector<unsigned char> arguments;
  std::vector<std::pair<const void*, size_t>> uploads;  // every copy to the device: from where, and how many bytes
};

/// The library exports this; the state begins anew.
using ResetFakeDriver = FakeDriver* (*)();

#endif
