// SPDX-License-Identifier: BSD-2-Clause-Patent
// The reciprocal that libvmaf's float_adm starts its divisions from: the one x86 processors approximate to 12 bits
// (RCPSS). Processors of different makes do not approximate it alike; these are AMD's figures, read off a processor
// (Zen 4) for every float, because the goldens are made with them.
//
// A mantissa counts with its leading 12 bits. The first eight choose a reciprocal, of the first four and the last four
// a correction is made.
#ifndef ACUITY_METRICS_FLOAT_ADM_RECIPROCALS_H
#define ACUITY_METRICS_FLOAT_ADM_RECIPROCALS_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace acuity::float_adm {

/// Of mantissas from 1 to 2, in 1/8192.
constexpr std::array<int16_t, 256> kReciprocals = {
    8190, 8158, 8127, 8095, 8065, 8034, 8003, 7973, 7943, 7913, 7883, 7854, 7825, 7796, 7767, 7738, 7708, 7680, 7652,
    7625, 7597, 7570, 7543, 7516, 7489, 7462, 7436, 7410, 7384, 7358, 7332, 7307, 7280, 7255, 7230, 7205, 7181, 7156,
    7132, 7108, 7084, 7060, 7037, 7013, 6990, 6967, 6944, 6921, 6897, 6875, 6852, 6830, 6808, 6786, 6764, 6742, 6721,
    6699, 6678, 6657, 6636, 6615, 6594, 6574, 6552, 6532, 6512, 6492, 6472, 6452, 6432, 6413, 6393, 6374, 6354, 6335,
    6316, 6297, 6278, 6260, 6241, 6223, 6204, 6186, 6168, 6150, 6132, 6114, 6096, 6079, 6061, 6044, 6026, 6009, 5992,
    5975, 5957, 5940, 5924, 5907, 5890, 5874, 5858, 5841, 5825, 5809, 5793, 5777, 5761, 5746, 5730, 5714, 5698, 5683,
    5667, 5652, 5637, 5622, 5607, 5592, 5577, 5562, 5548, 5533, 5519, 5504, 5490, 5475, 5461, 5447, 5432, 5418, 5405,
    5391, 5377, 5363, 5350, 5336, 5322, 5309, 5296, 5282, 5269, 5256, 5242, 5229, 5216, 5203, 5191, 5178, 5165, 5152,
    5140, 5127, 5115, 5102, 5090, 5078, 5065, 5053, 5041, 5029, 5017, 5005, 4993, 4981, 4969, 4958, 4946, 4934, 4923,
    4911, 4900, 4888, 4877, 4866, 4854, 4843, 4832, 4821, 4810, 4799, 4788, 4777, 4766, 4755, 4744, 4734, 4723, 4713,
    4702, 4691, 4680, 4670, 4660, 4649, 4639, 4629, 4619, 4609, 4598, 4588, 4578, 4568, 4559, 4549, 4539, 4529, 4519,
    4510, 4500, 4490, 4481, 4471, 4462, 4452, 4443, 4433, 4424, 4415, 4406, 4396, 4387, 4378, 4368, 4359, 4350, 4341,
    4332, 4323, 4315, 4306, 4297, 4288, 4279, 4271, 4262, 4253, 4245, 4236, 4228, 4219, 4211, 4202, 4194, 4186, 4177,
    4169, 4161, 4153, 4144, 4136, 4128, 4120, 4112, 4104,
};

/// What is less, in 1/8192: 16 of the last four bits for each of the first four.
constexpr std::array<int8_t, 256> kCorrections = {
    0, 2, 3, 5, 7, 9, 11, 13, 15, 17, 18, 20, 22, 24, 26, 28, 0, 1, 3, 5, 6, 8, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25,
    0, 1, 3, 4, 5, 7, 8,  10, 11, 13, 14, 16, 17, 19, 20, 22, 0, 1, 2, 4, 5, 6, 8,  9,  10, 12, 13, 14, 16, 17, 18, 20,
    0, 1, 2, 3, 4, 6, 7,  8,  9,  11, 12, 13, 14, 15, 17, 18, 0, 1, 2, 4, 5, 6, 7,  8,  9,  10, 11, 12, 14, 15, 16, 17,
    0, 1, 2, 3, 4, 5, 6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
    0, 1, 2, 2, 3, 4, 5,  6,  7,  8,  8,  9,  10, 11, 12, 13, 0, 1, 1, 2, 3, 4, 5,  5,  6,  7,  8,  9,  9,  10, 11, 12,
    0, 1, 2, 2, 3, 4, 4,  5,  6,  7,  7,  8,  9,  10, 10, 11, 0, 1, 1, 2, 3, 3, 4,  5,  5,  6,  7,  7,  8,  9,  9,  10,
    0, 0, 1, 2, 2, 3, 3,  4,  5,  5,  6,  7,  7,  8,  8,  9,  0, 0, 1, 2, 2, 3, 3,  4,  5,  5,  6,  6,  7,  8,  8,  9,
    0, 0, 1, 1, 2, 2, 3,  3,  4,  5,  5,  6,  6,  7,  7,  8,  0, 0, 1, 1, 2, 2, 3,  4,  4,  5,  5,  6,  6,  7,  7,  8,
};

constexpr size_t kMantissas = 4096;

constexpr std::array<int32_t, kMantissas> make_reciprocal_bits() {
  constexpr int32_t kExponentOfHalf = 126, kExponentOfOne = 127;
  std::array<int32_t, kMantissas> bits{};
  for (size_t i = 0; i < kMantissas; ++i) {
    const int32_t reciprocal = kReciprocals[i / 16] - kCorrections[i / 256 * 16 + i % 16];  // from 4096 to 8191
    bits[i] = (kExponentOfHalf + kExponentOfOne) * (1 << 23) + (reciprocal - 4096) * (1 << 11);
  }
  return bits;
}

/// By the leading 12 bits of a mantissa: the bits of a float, from which the sign and the exponent of the divisor are
/// to be subtracted as they stand in its bits.
inline constexpr std::array<int32_t, kMantissas> kReciprocalBits = make_reciprocal_bits();

}  // namespace acuity::float_adm

#endif
