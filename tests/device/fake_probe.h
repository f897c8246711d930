// SPDX-License-Identifier: BSD-2-Clause-Patent
// The known-answer kernel on the CPU, with the mistakes of devices that must be refused.
#ifndef ACUITY_TESTS_DEVICE_FAKE_PROBE_H
#define ACUITY_TESTS_DEVICE_FAKE_PROBE_H

#include "device/fake_driver.h"

void run_probe(FakeMistake mistake, const float* triples, float* answers, int count);

#endif
