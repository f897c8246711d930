// SPDX-License-Identifier: BSD-2-Clause-Patent
// A command line, taken apart by the table of options.
#ifndef ACUITY_CLI_REQUEST_H
#define ACUITY_CLI_REQUEST_H

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"
#include "cli/options.h"

namespace acuity::cli {

class Request {
 public:
  /// Reads what stands after the name of the command.
  static Result<Request> parse(const Command& command, std::span<const std::string> words);

  bool has(std::string_view option) const { return !values(option).empty(); }
  /// Every value the option was given.
  const std::vector<std::string>& values(std::string_view option) const;
  /// Its only value, or the default of the table.
  std::string value(std::string_view option) const;

  const Command& command() const { return *command_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  Status check() const;

  const Command* command_ = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> arguments_;
};

}  // namespace acuity::cli

#endif
