// SPDX-License-Identifier: BSD-2-Clause-Patent
// Picture files that a calibration makes in memory, to measure how long decoding takes.
#ifndef ACUITY_CLI_SAMPLE_FILES_H
#define ACUITY_CLI_SAMPLE_FILES_H

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace acuity::cli {

/// One format, under the name that the decoders have for it.
struct SampleFormat {
  std::string_view name;
  /// A file of 8-bit RGB samples of a square. Empty if the encoder failed.
  std::vector<uint8_t> (*file)(const std::vector<uint8_t>& samples, int side);
};

/// 8-bit RGB with as much detail as photographs have, about.
std::vector<uint8_t> sample_picture(int side);

/// Those whose encoder comes with the decoder and needs little time: JPEG, PNG, PNM and WebP.
std::span<const SampleFormat> sample_formats();

}  // namespace acuity::cli

#endif
