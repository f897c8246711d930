// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options with one value for both sides or two as REF,DIST.
#ifndef ACUITY_CLI_SIDES_H
#define ACUITY_CLI_SIDES_H

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "acuity/status.h"
#include "cli/request.h"

namespace acuity::cli {

/// "A" is for both sides, "A,B" for each its own; an empty part says nothing of that side.
template <typename Value>
Status read_sides(const Request& request, const std::string& option, Result<Value> (*parse)(std::string_view),
                  std::optional<Value>& reference, std::optional<Value>& distorted) {
  if (!request.has(option)) return {};
  const std::string text = request.value(option);
  const size_t comma = text.find(',');
  const std::string parts[] = {text.substr(0, comma), comma == std::string::npos ? text : text.substr(comma + 1)};
  std::optional<Value>* targets[] = {&reference, &distorted};
  for (int side = 0; side < 2; ++side) {
    if (parts[side].empty() && comma != std::string::npos) continue;
    const Result<Value> value = parse(parts[side]);
    if (!value.ok()) return Status(StatusCode::usage, fmt::format("{}: {}", option, value.status().message()));
    *targets[side] = *value;
  }
  return {};
}

}  // namespace acuity::cli

#endif
