// SPDX-License-Identifier: BSD-2-Clause-Patent
// For tests on the stand-in for a driver.
#ifndef ACUITY_TESTS_DEVICE_FAKE_DRIVER_TEST_H
#define ACUITY_TESTS_DEVICE_FAKE_DRIVER_TEST_H

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "acuity/status.h"
#include "device/fake_driver.h"

namespace acuity {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What a call that must not fail gives.
template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

class FakeDriverTest : public testing::Test {
 protected:
  /// The environment variable makes Acuity load that library for the driver.
  void load(const char* variable, const char* file) {
    variable_ = variable;
    setenv(variable, file, 1);
    void* library = dlopen(file, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    reset = reinterpret_cast<ResetFakeDriver>(dlsym(library, "reset_fake_driver"));
    ASSERT_NE(reset, nullptr);
    fake = reset();
  }

  void TearDown() override {
    unsetenv(variable_);
    expect_nothing_left();
    EXPECT_EQ(fake->complaints, std::vector<std::string>());
  }

  void expect_nothing_left() const {
    for (const auto& [kind, count] : fake->live) EXPECT_EQ(count, 0) << kind;
  }

  int calls_of(const std::string& name) const {
    return static_cast<int>(
        std::count_if(fake->calls.begin(), fake->calls.end(), [&](auto& call) { return call.starts_with(name); }));
  }

  ResetFakeDriver reset = nullptr;
  FakeDriver* fake = nullptr;

 private:
  const char* variable_ = "";
};

}  // namespace acuity

#endif
