// SPDX-License-Identifier: BSD-2-Clause-Patent
// The drivers' names for their codes of failure.
#ifndef ACUITY_TESTS_DEVICE_FAKE_ERRORS_H
#define ACUITY_TESTS_DEVICE_FAKE_ERRORS_H

struct FakeError {
  int code;
  const char* cuda;  // null if CUDA does not know the code
  const char* hip;
  const char* text;
};

const FakeError& find_error(int code);

#endif
