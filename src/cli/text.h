// SPDX-License-Identifier: BSD-2-Clause-Patent
// Text as the outputs need it. Nothing here depends on the locale.
#ifndef ACUITY_CLI_TEXT_H
#define ACUITY_CLI_TEXT_H

#include <string>
#include <string_view>
#include <vector>

#include "acuity/scorer.h"

namespace acuity::cli {

/// 17 significant digits: reading it back gives the same bits.
std::string exact_number(double value);

/// "higher", "lower" or "neither".
std::string_view name_of(Better better);

/// For people: six significant digits.
std::string short_number(double value);

/// As UTF-8 with quotes and escapes, as JSON wants it.
std::string json_string(std::string_view text);

/// Bytes that are not UTF-8 become U+FFFD.
std::string as_utf8(std::string_view text);

/// Whether JSON can hold the text as it is.
bool is_utf8(std::string_view text);

/// A field by RFC 4180: in quotes where it needs them.
std::string csv_field(std::string_view text);

/// On one line and without control characters, so that a file name can neither break a message nor steer a terminal.
std::string printable(std::string_view text);

/// Lines of at most `width` characters, broken at blanks.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace acuity::cli

#endif
