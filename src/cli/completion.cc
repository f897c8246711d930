// SPDX-License-Identifier: BSD-2-Clause-Patent
// Completion scripts, from the table of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/request.h"

namespace acuity::cli {
namespace {

std::vector<std::string> spellings(const std::vector<Option>& options) {
  std::vector<std::string> list;
  for (const Option& option : options) {
    if (!option.letter.empty()) list.push_back(option.letter);
    list.push_back(option.name);
  }
  return list;
}

// Between single quotes, in any of the shells but fish, which wants \' inside.
std::string quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += quote;
    } else {
      result += c;
    }
  }
  return result + "'";
}

// ---- bash ----

// Leaving COMPREPLY empty makes readline complete file names.
std::string bash_value(const Option& option) {
  const std::string pattern = option.letter.empty() ? option.name : option.letter + "|" + option.name;
  if (option.suggest == Suggest::metrics) {
    return fmt::format(
        "        {})\n"
        "          [[ $current == *,* ]] && list=${{current%,*}},\n"
        "          COMPREPLY=($(compgen -P \"$list\" -W '{}' -- \"${{current##*,}}\"))\n"
        "          return ;;\n",
        pattern, fmt::join(suggestions(option), " "));
  }
  if (option.suggest == Suggest::words) {
    return fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n", pattern,
                       fmt::join(suggestions(option), " "));
  }
  return fmt::format("        {}) return ;;\n", pattern);
}

std::string bash_command(const Command& command) {
  std::string text = fmt::format("    {})\n      case $previous in\n", command.name);
  for (const Option& option : command.options) {
    if (!option.value.empty()) text += bash_value(option);
  }
  text += fmt::format("      esac\n      words='{}' ;;\n",
                      fmt::join(command.words.empty() ? spellings(command.options) : command.words, " "));
  return text;
}

std::string bash_script() {
  std::vector<std::string> first = spellings(general_options());
  std::string cases;
  for (const Command& command : commands()) {
    first.push_back(command.name);
    cases += bash_command(command);
  }
  return fmt::format(
      "# bash completion for acuity\n"
      "_acuity() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words= list=\n"
      "  COMPREPLY=()\n"
      "  # --option=value arrives as three words\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  fi\n"
      "  if (( COMP_CWORD == 1 )); then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  if [[ $current == -* || $words != -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o default -F _acuity acuity\n",
      fmt::join(first, " "), cases);
}

// ---- zsh ----

// Colons and brackets end the parts of a specification.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const Option& option) {
  std::string action;
  if (option.suggest == Suggest::files) action = "_files";
  if (option.suggest == Suggest::words) action = zsh_text(fmt::format("({})", fmt::join(suggestions(option), " ")));
  if (option.suggest == Suggest::metrics) {
    action = fmt::format("_values -s , metric {}", fmt::join(suggestions(option), " "));
  }
  const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), action);
  const std::string help = quoted(fmt::format("[{}]{}", zsh_text(option.help), value));
  const std::string again = option.repeats ? "*" : "";
  if (option.letter.empty()) return fmt::format("      '{}{}'{} \\\n", again, option.name, help);
  const std::string exclusion = option.repeats ? "" : fmt::format("({} {})", option.letter, option.name);
  return fmt::format("      '{}{}'{{{},{}}}{} \\\n", exclusion, again, option.letter, option.name, help);
}

std::string zsh_script() {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    names += fmt::format("    {}\n", quoted(command.name + ":" + zsh_text(command.summary)));
    cases += fmt::format("    {}) _arguments -s -S \\\n", command.name);
    for (const Option& option : command.options) cases += zsh_option(option);
    cases += command.maximum_arguments == 0 ? "      ;;\n"
             : command.words.empty()        ? "      '*:file:_files' ;;\n"
                                            : fmt::format("      '1:shell:({})' ;;\n", fmt::join(command.words, " "));
  }
  return fmt::format(
      "#compdef acuity\n"
      "_acuity() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    compadd -- {}\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n{}  esac\n"
      "}}\n"
      "# Both ways of loading it: from a folder of $fpath, and by source.\n"
      "if [[ $funcstack[1] == _acuity ]]; then _acuity \"$@\"; else compdef _acuity acuity; fi\n",
      names, fmt::join(spellings(general_options()), " "), cases);
}

// ---- fish ----

std::string fish_quoted(std::string_view text) { return quoted(text, "\\'"); }

std::string fish_option(const Option& option, const std::string& condition) {
  std::string text = fmt::format("complete -c acuity -n '{}' -l {}", condition, option.name.substr(2));
  if (!option.letter.empty()) text += fmt::format(" -s {}", option.letter.substr(1));
  if (!option.value.empty()) text += option.suggest == Suggest::files ? " -r -F" : " -x";
  const std::string values = fmt::format("{}", fmt::join(suggestions(option), " "));
  if (option.suggest == Suggest::words) text += " -a " + fish_quoted(values);
  if (option.suggest == Suggest::metrics) text += " -a " + fish_quoted(fmt::format("(__fish_append , {})", values));
  return fmt::format("{} -d {}\n", text, fish_quoted(option.help));
}

std::string fish_script() {
  std::string text = "# fish completion for acuity\ncomplete -c acuity -f\n";
  for (const Option& option : general_options()) text += fish_option(option, "__fish_use_subcommand");
  for (const Command& command : commands()) {
    text += fmt::format("complete -c acuity -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.summary));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const Option& option : command.options) text += fish_option(option, condition);
    if (!command.words.empty()) {
      text += fmt::format("complete -c acuity -n '{}' -a '{}'\n", condition, fmt::join(command.words, " "));
    } else if (command.maximum_arguments > 0) {
      text += fmt::format("complete -c acuity -n '{}' -F\n", condition);
    }
  }
  return text;
}

}  // namespace

int run_completion(const Request& request, Console& console) {
  const std::string& shell = request.arguments().front();
  console.print(shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script());
  return kExitOk;
}

}  // namespace acuity::cli
