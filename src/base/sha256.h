// SPDX-License-Identifier: BSD-2-Clause-Patent
// SHA-256 (FIPS 180-4), so that a result can name the file it depends on.
#ifndef ACUITY_BASE_SHA256_H
#define ACUITY_BASE_SHA256_H

#include <cstddef>
#include <span>
#include <string>

namespace acuity {

/// 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> data);

}  // namespace acuity

#endif
