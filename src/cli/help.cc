// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "acuity/version.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/request.h"
#include "cli/text.h"
#include "device/device.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

constexpr size_t kWidth = 100;

using Rows = std::vector<Meaning>;

// Two columns: names, and what they say.
std::string table(const Rows& rows) {
  size_t widest = 0;
  for (const Meaning& row : rows) widest = std::max(widest, row.name.size());
  std::string text;
  for (const Meaning& row : rows) {
    std::string name = row.name;
    for (const std::string& line : wrapped(row.says, kWidth - widest - 4)) {
      text += fmt::format("  {:<{}}  {}\n", name, widest, line);
      name.clear();
    }
  }
  return text;
}

std::string examples_text(const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples) text += fmt::format("  {}\n      {}\n", example.command, example.says);
  return text;
}

std::string options_text(const std::vector<Option>& options) {
  Rows rows;
  for (const Option& option : options) rows.push_back({spelling(option), full_help(option)});
  return "Options:\n" + table(rows);
}

std::string exit_codes_text() { return "Exit codes:\n" + table(exit_codes()); }

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

// What this build can drive, whether it is there or not.
std::string devices() {
  std::string names = "cpu";
  for (const Backend backend : {Backend::cuda, Backend::hip, Backend::vulkan}) {
    if (has_code(backend)) names += fmt::format(", {}", backend_name(backend));
  }
  return names;
}

}  // namespace

std::string general_help() {
  Rows rows;
  for (const Command& command : commands()) rows.push_back({command.name, command.summary});
  return fmt::format(
      "Acuity measures how visible the difference between two pictures or videos is.\n\n"
      "{}\nUsage: acuity COMMAND ...\n\nCommands ('acuity COMMAND --help' shows its options):\n{}\n{}\n{}",
      examples_text(commands().front().examples), table(rows), options_text(general_options()), exit_codes_text());
}

std::string command_help(const Command& command) {
  std::string text = fmt::format("{}\nUsage: acuity {} [OPTION]...{}{}\n", examples_text(command.examples),
                                 command.name, command.arguments.empty() ? "" : " ", command.arguments);
  for (const std::string& paragraph : command.description) {
    text += '\n';
    for (const std::string& line : wrapped(paragraph, kWidth)) text += line + '\n';
  }
  return fmt::format("{}\n{}\n{}", text, options_text(command.options), exit_codes_text());
}

int run_help(const Request& request, Console& console) {
  const std::vector<std::string>& names = request.arguments();
  console.print(names.empty() ? general_help() : command_help(*find_command(names.front())));
  return kExitOk;
}

std::string version_text() {
  const Status cpu = prepare_cpu();
  return fmt::format("acuity {}\ncompiler: {}\ndevices: {}\ncpu: {}\n", acuity_version(), compiler(), devices(),
                     cpu.ok() ? cpu_target() : cpu.message());
}

}  // namespace acuity::cli
