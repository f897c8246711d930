// SPDX-License-Identifier: BSD-2-Clause-Patent
// The manual page, from the table of options.
#include <fmt/format.h>

#include "acuity/version.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"

namespace acuity::cli {
namespace {

// A hyphen would become a typographic one, which cannot be pasted into a shell; a leading dot or quote would be a
// request.
std::string roff(std::string_view text) {
  std::string result;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) result = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '~') {
      result += "\\(ti";
    } else if (c == '^') {
      result += "\\(ha";
    } else {
      result += c;
    }
  }
  return result;
}

std::string entry(const std::string& name, const std::string& says) {
  return fmt::format(".TP\n.B {}\n{}.\n", roff(name), roff(says));
}

std::string option_entry(const Option& option) {
  std::string names = option.letter.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff(option.letter));
  names += fmt::format("\\fB{}\\fR", roff(option.name));
  if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n{}\n{}.\n", names, roff(full_help(option)));
}

std::string command_section(const Command& command) {
  std::string text = fmt::format(".SS acuity {} [OPTION]...{}{}\n", command.name, command.arguments.empty() ? "" : " ",
                                 roff(command.arguments));
  for (const std::string& paragraph : command.description) text += fmt::format("{}\n.PP\n", roff(paragraph));
  // The common ones are told once for all commands.
  for (size_t i = 0; i + common_options().size() < command.options.size(); ++i)
    text += option_entry(command.options[i]);
  return text;
}

std::string manual_page() {
  std::string text = fmt::format(".TH ACUITY 1 \"\" \"acuity {}\" \"User Commands\"\n", acuity_version());
  text += ".SH NAME\nacuity \\- how visible the difference between two pictures or videos is\n";
  text += ".SH SYNOPSIS\n";
  for (const Command& command : commands()) {
    text += fmt::format(".B acuity {}\n[\\fIOPTION\\fR]... {}\n.br\n", command.name, roff(command.arguments));
  }
  text += ".B acuity \\-\\-help\n|\n.B \\-\\-version\n";
  text +=
      ".SH DESCRIPTION\nAcuity computes perceptual metrics of picture and video quality and shows what the values "
      "mean.\n";
  text += ".SH COMMANDS\n";
  for (const Command& command : commands()) text += command_section(command);
  text += ".SS Options of every command\n";
  for (const Option& option : common_options()) text += option_entry(option);
  text += ".SS Instead of a command\n";
  for (const Option& option : general_options()) text += option_entry(option);
  text += ".SH EXIT STATUS\n";
  for (const Meaning& code : exit_codes()) text += entry(code.name, code.says);
  text += ".SH ENVIRONMENT\n";
  for (const Meaning& variable : environment()) text += entry(variable.name, variable.says);
  text += ".SH EXAMPLES\n";
  for (const Command& command : commands()) {
    for (const Example& example : command.examples) text += entry(example.command, example.says);
  }
  return text;
}

}  // namespace

int run_man(const Request&, Console& console) {
  console.print(manual_page());
  return kExitOk;
}

}  // namespace acuity::cli
