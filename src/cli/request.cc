// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/request.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"

namespace acuity::cli {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

CLI::Option* add(CLI::App& app, const Option& option) {
  const std::string names = option.letter.empty() ? option.name : option.letter + "," + option.name;
  if (option.value.empty()) return app.add_flag(names)->disable_flag_override();
  using CLI::MultiOptionPolicy;
  return app.add_option(names)
      ->type_name(option.value)
      ->expected(option.is_list ? -1 : 1)
      ->multi_option_policy(option.repeats ? MultiOptionPolicy::TakeAll : MultiOptionPolicy::Throw);
}

Status unknown_option(const Command& command, const std::string& word) {
  std::vector<std::string> names;
  for (const Option& option : command.options) names.push_back(option.name);
  return usage(fmt::format("there is no option '{}'{}", word, did_you_mean(word.substr(0, word.find('=')), names)));
}

// A known word in the case the table has it, and anything else as it is.
std::string known_word(const std::vector<std::string>& words, const std::string& typed) {
  for (const std::string& word : words) {
    if (same_name(word, typed)) return word;
  }
  return typed;
}

// Some options take a word for each side: "limited,full".
std::string known_words(const std::vector<std::string>& words, const std::string& typed) {
  const size_t comma = typed.find(',');
  if (comma == std::string::npos) return known_word(words, typed);
  return known_word(words, typed.substr(0, comma)) + "," + known_words(words, typed.substr(comma + 1));
}

}  // namespace

Result<Request> Request::parse(const Command& command, std::span<const std::string> words) {
  Request request;
  request.command_ = &command;
  CLI::App app;
  app.set_help_flag("");  // help is ours
  // What CLI11 does not know it hands back in order: the arguments, and options that do not exist. Declaring the
  // arguments to it instead would let it rewrite a file name in square brackets.
  app.allow_extras();
  std::vector<std::pair<const Option*, CLI::Option*>> known;
  for (const Option& option : command.options) known.emplace_back(&option, add(app, option));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  for (const auto& [option, parsed] : known) {
    if (parsed->count() == 0) continue;
    for (const std::string& value : parsed->results()) {
      request.values_[option->name].push_back(known_words(option->words, value));
    }
  }
  bool options_end = false;
  for (const std::string& word : app.remaining()) {
    if (!options_end && word == "--") {
      options_end = true;
    } else if (!options_end && word.size() > 1 && word.front() == '-') {
      return unknown_option(command, word);
    } else {
      request.arguments_.push_back(known_word(command.words, word));
    }
  }
  if (request.has("--help")) return request;
  if (Status checked = request.check(); !checked.ok()) return checked;
  return request;
}

Status Request::check() const {
  const int count = static_cast<int>(arguments_.size());
  if (count < command_->minimum_arguments) {
    return usage(fmt::format("'acuity {}' needs {}", command_->name, command_->arguments));
  }
  if (count > command_->maximum_arguments) {
    return usage(fmt::format("'acuity {}' does not accept '{}'", command_->name,
                             arguments_[static_cast<size_t>(command_->maximum_arguments)]));
  }
  for (const std::string& argument : arguments_) {
    const std::vector<std::string>& words = command_->words;
    if (!words.empty() && std::find(words.begin(), words.end(), argument) == words.end()) {
      return usage(fmt::format("'{1}' is not valid for 'acuity {0}'{2}; use one of: {3}", command_->name, argument,
                               did_you_mean(argument, words), fmt::join(words, ", ")));
    }
  }
  const std::string colour = value("--color");
  if (colour != "auto" && colour != "always" && colour != "never") {
    return usage(fmt::format(
        "invalid value '{}' for --color: expected auto, always or never (for the colours of a picture use --colour)",
        colour));
  }
  return {};
}

const std::vector<std::string>& Request::values(std::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(option);
  return found == values_.end() ? none : found->second;
}

std::string Request::value(std::string_view option) const {
  if (has(option)) return values(option).back();
  for (const Option& known : command_->options) {
    if (known.name == option) return known.default_value;
  }
  return "";
}

}  // namespace acuity::cli
