// SPDX-License-Identifier: BSD-2-Clause-Patent
// Picture files for the tests, good and bad.
#ifndef ACUITY_TESTS_CLI_PICTURES_H
#define ACUITY_TESTS_CLI_PICTURES_H

#include <string>

namespace acuity::test {

/// PNG files of the self-test's pictures, whose scores are known: the scene and its damaged copies.
std::string scene();
std::string noisy();
std::string blurred();

/// A grey PNG of any size.
std::string flat(int width, int height);

/// A small PNG header that declares a size, and next to no data.
std::string png_declaring(unsigned width, unsigned height);

/// A grey PNG whose gAMA and cHRM chunks say that its samples are light itself, of BT.709's primaries.
std::string png_in_linear_light(int width, int height);

std::string exr_with_nan(int width, int height);
std::string jpeg_with_corrupt_icc(int width, int height);

}  // namespace acuity::test

#endif
