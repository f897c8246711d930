// SPDX-License-Identifier: BSD-2-Clause-Patent
// A row as one line of JSON. Values that are passed through keep their very text: numbers lose no digit.
#ifndef ACUITY_CLI_JSON_ROW_H
#define ACUITY_CLI_JSON_ROW_H

#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"

namespace acuity::cli {

struct JsonField {
  std::string name;
  std::string value;  // JSON
};

/// The fields of an object, in its order. A message says what is wrong, without a place.
Result<std::vector<JsonField>> parse_json_row(std::string_view line);

/// The text of a string; an error where the value is none.
Result<std::string> json_text(const JsonField& field);

/// A list of metrics: a string as in -m, or an array of such strings.
Result<std::string> json_metrics(const JsonField& field);

/// What a table shows for a value: the text of a string, nothing for null, JSON for anything else.
std::string json_shown(const std::string& value);

}  // namespace acuity::cli

#endif
