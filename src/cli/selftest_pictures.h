// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pictures of 'acuity selftest', drawn in integer arithmetic so that they are the same everywhere.
#ifndef ACUITY_CLI_SELFTEST_PICTURES_H
#define ACUITY_CLI_SELFTEST_PICTURES_H

#include <cstdint>
#include <string>
#include <vector>

#include "acuity/image.h"

namespace acuity::cli {

/// 8-bit sRGB.
struct DrawnPicture {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;

  ImageView view() const { return interleaved_view(rgb.data(), width, height, Channels::rgb, SampleType::u8); }
};

struct DrawnPair {
  std::string name;
  DrawnPicture reference;
  DrawnPicture distorted;
};

/// "noise", "blur" and "bands": one scene, damaged in three ways.
std::vector<DrawnPair> selftest_pairs();

}  // namespace acuity::cli

#endif
