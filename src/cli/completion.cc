// SPDX-License-Identifier: BSD-2-Clause-Patent
// Completion scripts, from the table of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/request.h"
#include "metrics/vmaf/metric.h"

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

// What may follow "NAME:" in a list of metrics.
struct MetricWords {
  std::string name;
  std::vector<std::string> variants;
  std::vector<std::string> options;  // "small="
  std::vector<std::string> values;   // "small=reject"

  std::vector<std::string> others() const {
    std::vector<std::string> list = variants;
    list.insert(list.end(), options.begin(), options.end());
    return list;
  }
};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string metric_names() {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) names.push_back(metric.name);
  return joined(names);
}

std::vector<MetricWords> metric_words() {
  std::vector<MetricWords> list;
  for (const MetricInfo& metric : metrics()) {
    MetricWords words{metric.name, {}, {}, {}};
    for (const MetricOption& option : metric.options) {
      words.options.push_back(option.name + "=");
      for (const std::string& word : option.words) words.values.push_back(fmt::format("{}={}", option.name, word));
    }
    if (metric.name == "vmaf") {
      for (const vmaf::ModelSet& set : vmaf::built_in_models()) words.variants.push_back(set.name);
      for (const vmaf::ShortName& known : vmaf::short_names()) words.variants.emplace_back(known.name);
    }
    if (!words.options.empty()) list.push_back(std::move(words));
  }
  return list;
}

// ---- bash ----

// Leaving COMPREPLY empty makes readline complete file names.
std::string bash_value(const Option& option) {
  const std::string pattern = option.letter.empty() ? option.name : option.letter + "|" + option.name;
  if (option.suggest == Suggest::metrics) return fmt::format("        {}) _acuity_metrics; return ;;\n", pattern);
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

// A name, behind its colon variants and options, behind an equals sign values.
std::string bash_metrics() {
  std::string values, others;
  for (const MetricWords& words : metric_words()) {
    values += fmt::format("      {}) words='{}' ;;\n", words.name, joined(words.values));
    others += fmt::format("      {}) words='{}' ;;\n", words.name, joined(words.others()));
  }
  return fmt::format(
      "_acuity_metrics() {{\n"
      "  local item=${{current##*,}} words=\n"
      "  local part=${{item##*:}} kept=${{current%\"${{current##*[:=]}}\"}}\n"
      "  if [[ $item != *:* ]]; then\n"
      "    words='{}'\n"
      "  elif [[ $part == *=* ]]; then\n"
      "    case ${{item%%:*}} in\n{}    esac\n"
      "  else\n"
      "    case ${{item%%:*}} in\n{}    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -P \"${{current%\"$part\"}}\" -W \"$words\" -- \"$part\"))\n"
      "  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2> /dev/null\n"
      "  # readline replaces only what comes after the last colon or equals sign\n"
      "  COMPREPLY=(\"${{COMPREPLY[@]#\"$kept\"}}\")\n"
      "}}\n",
      metric_names(), values, others);
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
      "{}"
      "_acuity() {{\n"
      "  # Not COMP_WORDS: bash breaks words at colons and equals signs, which are part of ours.\n"
      "  local line=${{COMP_LINE:0:COMP_POINT}} words= current previous typed\n"
      "  current=${{line##*[[:blank:]]}}\n"
      "  read -ra typed <<< \"${{line%\"$current\"}}\"\n"
      "  COMPREPLY=()\n"
      "  if (( ${{#typed[@]}} == 1 )); then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  previous=${{typed[-1]}}\n"
      "  if [[ $current == --*=* ]]; then\n"
      "    previous=${{current%%=*}} current=${{current#*=}}\n"
      "  fi\n"
      "  case ${{typed[1]}} in\n"
      "{}"
      "  esac\n"
      "  if [[ $current == -* || $words != -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o default -F _acuity acuity\n",
      bash_metrics(), joined(first), cases);
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
  if (option.suggest == Suggest::metrics) action = "_acuity_metrics";
  const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), action);
  const std::string help = quoted(fmt::format("[{}]{}", zsh_text(option.help), value));
  const std::string again = option.repeats ? "*" : "";
  if (option.letter.empty()) return fmt::format("      '{}{}'{} \\\n", again, option.name, help);
  const std::string exclusion = option.repeats ? "" : fmt::format("({} {})", option.letter, option.name);
  return fmt::format("      '{}{}'{{{},{}}}{} \\\n", exclusion, again, option.letter, option.name, help);
}

std::string zsh_metrics() {
  std::string values, others;
  for (const MetricWords& words : metric_words()) {
    values += fmt::format("      {}) compadd -- {} ;;\n", words.name, joined(words.values));
    others += fmt::format("      {}) compadd -- {}; compadd -S '' -- {} ;;\n", words.name, joined(words.variants),
                          joined(words.options));
  }
  return fmt::format(
      "_acuity_metrics() {{\n"
      "  compset -P '*,'\n"
      "  if ! compset -P '*:'; then\n"
      "    compadd -S '' -- {}\n"
      "  elif [[ $PREFIX == *=* ]]; then\n"
      "    case ${{${{IPREFIX##*,}}%%:*}} in\n{}    esac\n"
      "  else\n"
      "    case ${{${{IPREFIX##*,}}%%:*}} in\n{}    esac\n"
      "  fi\n"
      "}}\n",
      metric_names(), values, others);
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
                                            : fmt::format("      '*:word:({})' ;;\n", fmt::join(command.words, " "));
  }
  return fmt::format(
      "#compdef acuity\n"
      "{}"
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
      zsh_metrics(), names, fmt::join(spellings(general_options()), " "), cases);
}

// ---- fish ----

std::string fish_quoted(std::string_view text) { return quoted(text, "\\'"); }

std::string fish_option(const Option& option, const std::string& condition) {
  std::string text = fmt::format("complete -c acuity -n '{}' -l {}", condition, option.name.substr(2));
  if (!option.letter.empty()) text += fmt::format(" -s {}", option.letter.substr(1));
  if (!option.value.empty()) text += option.suggest == Suggest::files ? " -r -F" : " -x";
  const std::string values = fmt::format("{}", fmt::join(suggestions(option), " "));
  if (option.suggest == Suggest::words) text += " -a " + fish_quoted(values);
  if (option.suggest == Suggest::metrics) text += " -a '(__acuity_metrics)'";
  return fmt::format("{} -d {}\n", text, fish_quoted(option.help));
}

std::string fish_metrics() {
  std::string values, others;
  for (const MetricWords& words : metric_words()) {
    values += fmt::format("      case {}\n        set words {}\n", words.name, joined(words.values));
    others += fmt::format("      case {}\n        set words {}\n", words.name, joined(words.others()));
  }
  return fmt::format(
      "function __acuity_metrics\n"
      "  set -l typed (string replace -r '^--metric=' '' -- (commandline -ct))\n"
      "  set -l item (string replace -r '^.*,' '' -- $typed)\n"
      "  set -l name (string replace -r ':.*' '' -- $item)\n"
      "  set -l words {}\n"
      "  set -l before (string replace -r '[^,]*$' '' -- $typed)\n"
      "  if string match -q '*:*' -- $item\n"
      "    set before (string replace -r '[^:]*$' '' -- $typed)\n"
      "    set words\n"
      "    if string match -rq '=[^:]*$' -- $item\n"
      "      switch $name\n{}      end\n"
      "    else\n"
      "      switch $name\n{}      end\n"
      "    end\n"
      "  end\n"
      "  for word in $words\n"
      "    echo $before$word\n"
      "  end\n"
      "end\n",
      metric_names(), values, others);
}

std::string fish_script() {
  std::string text = "# fish completion for acuity\n" + fish_metrics() + "complete -c acuity -f\n";
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
