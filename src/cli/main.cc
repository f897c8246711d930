// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/names.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/leave.h"
#include "cli/options.h"
#include "cli/request.h"

namespace acuity::cli {
namespace {

int usage_error(const std::string& message, const std::string& help) {
  Console console("auto");
  console.complain(fmt::format("{}; see 'acuity {}--help'", message, help));
  return console.finish(kExitUsage);
}

int print_and_finish(const std::string& text) {
  Console console("never");
  console.print(text);
  return console.finish(kExitOk);
}

int unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return usage_error(fmt::format("there is no command '{}'{}", word, did_you_mean(word, names)), "");
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) return usage_error("no command is given", "");
  if (words[0] == "--help" || words[0] == "-h") return print_and_finish(general_help());
  if (words[0] == "--version" || words[0] == "-V") return print_and_finish(version_text());
  const Command* command = find_command(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  const Result<Request> request = Request::parse(*command, std::span(words).subspan(1));
  if (!request.ok()) return usage_error(request.status().message(), command->name + " ");
  if (request->has("--help")) return print_and_finish(command_help(*command));
  Console console(request->value("--color"));
  return console.finish(command->run(*request, console));
}

}  // namespace
}  // namespace acuity::cli

int main(int argc, char** argv) {
  using acuity::cli::Console;
  try {
    acuity::cli::hold_closed_streams();
    acuity::cli::handle_signals();
    const int code = acuity::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    acuity::cli::leave_process(code);
    return code;
  } catch (const std::bad_alloc&) {
    Console("auto").complain("out of memory");
  } catch (const std::exception& error) {
    Console("auto").complain(error.what());
  }
  return acuity::cli::kExitFailed;
}
