// SPDX-License-Identifier: BSD-2-Clause-Patent
// The one table of commands and options. The parser, --help, the man page and the shell completions are all made from
// it, so that they cannot disagree.
#ifndef ACUITY_CLI_OPTIONS_H
#define ACUITY_CLI_OPTIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace acuity::cli {

class Console;
class Request;

/// What a shell offers for a value.
enum class Suggest { nothing, files, words, metrics };

struct Option {
  std::string name;                     // "--metric"
  std::string letter = {};              // "-m"; empty: none
  std::string value = {};               // what help calls the value; empty: a flag
  std::string help = {};                // a sentence without its full stop
  std::string default_value = {};       // what holds without the option; empty: nothing
  std::vector<std::string> words = {};  // the values there are, where they are few
  Suggest suggest = Suggest::nothing;
  bool repeats = false;  // may be given several times
  bool is_list = false;  // several values may follow it
};

struct Example {
  std::string command;
  std::string says;
};

struct Command {
  std::string name;
  std::string arguments;                 // "REF DIST..."
  std::string summary;                   // one line for lists
  std::vector<std::string> description;  // paragraphs
  std::vector<Example> examples;
  std::vector<Option> options;
  std::vector<std::string> words;  // what the arguments may be, where they are few; empty: files
  int minimum_arguments = 0;
  int maximum_arguments = 0;
  int (*run)(const Request& request, Console& console) = nullptr;
};

struct Meaning {
  std::string name;
  std::string says;
};

const std::vector<Command>& commands();
const Command* find_command(std::string_view name);

/// --help and --version, which stand in place of a command.
const std::vector<Option>& general_options();
/// The last options of every command.
const std::vector<Option>& common_options();
const std::vector<Meaning>& exit_codes();
const std::vector<Meaning>& environment();

/// "-m, --metric NAME,...".
std::string spelling(const Option& option);
/// The help of an option with its values and its default: "...; one of auto, cpu (default: auto)".
std::string full_help(const Option& option);
/// What a shell may offer for the value of an option.
std::vector<std::string> suggestions(const Option& option);

}  // namespace acuity::cli

#endif
