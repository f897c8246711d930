// SPDX-License-Identifier: BSD-2-Clause-Patent
// The modes of cross_backend that compare nothing.
#ifndef ACUITY_TESTS_CROSS_BACKEND_BENCH_H
#define ACUITY_TESTS_CROSS_BACKEND_BENCH_H

#include <string>

#include "cross_backend/kernels_check.h"

namespace acuity::tests {

/// Which devices there are, whether they can be opened, and why not.
int support();

/// A metric's scores of one pair of that side, printed. Like all here: what main returns.
int once(const std::string& device, int side, const std::string& metric);

/// How long it takes, printed; of pictures of one side, unless that is 0. Here and below, Amount::brief times little
/// work of small pictures, to try the program on a device in software.
int bench(const std::string& device, const std::string& metric, int side, Amount amount);

/// The same of 8-bit 4:2:0 frames of 3840 x 2160: one at a time, and with several in flight.
int bench_frames(const std::string& device, const std::string& metric, Amount amount);

/// Frames per second of metrics of frames, 8-bit 4:2:0 of that size: from page-locked memory, and on the device
/// already.
int bench_features(const std::string& device, const std::string& metrics, int width, int height, Amount amount);

/// Of each kernel of a metric of pictures, alone on the device: a pair of that side, preparing, and a prepared
/// reference.
int kernel_times(const std::string& device, const std::string& metric, int side);

/// Frames per second that a video is decoded with, by "cpu" or by the decoders of a device: once, and several times at
/// once.
int bench_decode(const std::string& device, const std::string& path);

}  // namespace acuity::tests

#endif
