// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers in files whose lowest byte comes first.
#ifndef ACUITY_MEDIA_LITTLE_ENDIAN_H
#define ACUITY_MEDIA_LITTLE_ENDIAN_H

#include "media/decoder.h"

namespace acuity {

/// 0 where the file ends before it.
inline uint32_t little_endian(Bytes file, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | (at + i < file.size() ? file[at + i] : 0u);
  return value;
}

inline uint32_t little_endian_16(Bytes file, size_t at) { return little_endian(file, at, 2); }
inline uint32_t little_endian_32(Bytes file, size_t at) { return little_endian(file, at, 4); }

/// A sample of `most` at the most, brought to 8 bits and rounded; exact for 1, 2, 4 and 8 bits.
inline uint8_t to_8_bits(uint32_t sample, uint32_t most) {
  return most == 0 ? 0 : static_cast<uint8_t>((sample * 255 + most / 2) / most);
}

}  // namespace acuity

#endif
