// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whatever the table of options holds must be parsed, and told everywhere it is told from.
#include "cli/options.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/request.h"

namespace acuity::cli {
namespace {

using test::acuity;
using test::Outcome;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// As a word of its own: "--map" is not found in "--mapping".
bool mentions(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char after = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '-') return true;
  }
  return false;
}

TEST(Options, NamesAreUniqueWithinACommand) {
  for (const Command& command : commands()) {
    std::set<std::string> seen;
    for (const Option& option : command.options) {
      EXPECT_TRUE(seen.insert(option.name).second) << command.name << " " << option.name;
      if (!option.letter.empty()) {
        EXPECT_TRUE(seen.insert(option.letter).second) << option.letter;
      }
    }
  }
}

TEST(Options, TheParserTakesEveryOption) {
  for (const Command& command : commands()) {
    for (const Option& option : command.options) {
      for (const std::string& name : {option.name, option.letter}) {
        if (name.empty()) continue;
        std::vector<std::string> words =
            command.words.empty() ? std::vector<std::string>() : std::vector{command.words[0]};
        words.push_back(name);
        if (!option.value.empty()) words.push_back(option.words.empty() ? "1" : option.words.back());
        const Result<Request> request = Request::parse(command, words);
        ASSERT_TRUE(request.ok()) << command.name << " " << name << ": " << request.status().message();
        EXPECT_TRUE(request->has(option.name)) << command.name << " " << name;
        if (!option.value.empty()) {
          EXPECT_EQ(request->value(option.name), words.back());
        }
      }
    }
  }
}

TEST(Options, HelpTellsEveryOption) {
  for (const Command& command : commands()) {
    const Outcome help = acuity({command.name, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.err, "");
    for (const Option& option : command.options) {
      EXPECT_TRUE(mentions(help.out, option.name)) << command.name << " " << option.name;
      EXPECT_TRUE(contains(help.out, spelling(option))) << spelling(option);
      for (const std::string& word : option.words) EXPECT_TRUE(mentions(help.out, word)) << option.name << " " << word;
    }
    // Examples come first.
    EXPECT_TRUE(help.out.starts_with("Examples:\n")) << command.name;
    for (const Meaning& code : exit_codes()) EXPECT_TRUE(contains(help.out, code.says)) << code.name;
  }
}

TEST(Options, GeneralHelpTellsEveryCommand) {
  const Outcome help = acuity({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const Command& command : commands()) EXPECT_TRUE(contains(help.out, command.summary)) << command.name;
  for (const Option& option : general_options()) EXPECT_TRUE(mentions(help.out, option.name)) << option.name;
  EXPECT_EQ(acuity({"-h"}).out, help.out);
}

TEST(Options, HelpDoesNotOfferOneWordAsAChoice) {
  const std::string help = acuity({"score", "--help"}).out;
  EXPECT_TRUE(contains(help, "--distogram-max JOD")) << help;
  EXPECT_FALSE(contains(help, "one of auto (default: 10)")) << help;
  EXPECT_EQ(full_help({.name = "--a", .help = "a number, or auto", .default_value = "10", .words = {"auto"}}),
            "a number, or auto (default: 10)");
  EXPECT_EQ(full_help({.name = "--b", .help = "which", .words = {"one", "two"}}), "which; one of one, two");
}

TEST(Options, ManPageTellsEverything) {
  const std::string page = acuity({"man"}).out;
  const auto told = [&](const std::string& text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '-') escaped += '\\';
      escaped += c;
    }
    return mentions(page, escaped);
  };
  for (const Command& command : commands()) {
    EXPECT_TRUE(contains(page, ".SS acuity " + command.name)) << command.name;
    for (const Option& option : command.options) EXPECT_TRUE(told(option.name)) << option.name;
  }
  for (const Meaning& code : exit_codes()) EXPECT_TRUE(contains(page, fmt::format(".B {}\n", code.name))) << code.name;
  for (const Meaning& variable : environment()) EXPECT_TRUE(contains(page, variable.name)) << variable.name;
}

TEST(Options, CompletionsTellEveryOption) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = acuity({"completion", shell}).out;
    for (const Command& command : commands()) {
      EXPECT_TRUE(mentions(script, command.name)) << shell << " " << command.name;
      for (const Option& option : command.options) {
        EXPECT_TRUE(mentions(script, shell == "fish" ? fmt::format("-l {}", option.name.substr(2)) : option.name))
            << shell << " " << option.name;
      }
    }
  }
}

TEST(Options, TheDocumentTellsEverything) {
  const std::string page = test::read_file(ACUITY_DOCS "/command-line.md");
  for (const Command& command : commands()) {
    EXPECT_TRUE(contains(page, "acuity " + command.name)) << command.name;
    for (const Option& option : command.options)
      EXPECT_TRUE(contains(page, fmt::format("`{}", spelling(option)))) << spelling(option);
  }
  for (const Meaning& code : exit_codes()) EXPECT_TRUE(contains(page, fmt::format("| {} ", code.name))) << code.name;
  for (const Meaning& variable : environment())
    EXPECT_TRUE(contains(page, fmt::format("`{}`", variable.name))) << variable.name;
}

TEST(Options, UnknownOnesGetAGuess) {
  const Outcome outcome = acuity({"score", "--jsn", "a", "b"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.err, "'--jsn' (did you mean '--json'?)")) << outcome.err;
  EXPECT_EQ(acuity({"score", "-5", "b"}).exit_code, 2);
}

TEST(Options, CommandLinesThatMakeNoSense) {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"scroe"},
      {"metrics", "extra"},
      {"completion"},
      {"completion", "tcsh"},
      {"completion", "bash", "zsh"},
      {"score"},
      {"score", "only.png"},
      {"score", "-d", "only.png"},
      {"score", "-", "-"},
      {"score", "a", "b", "-m"},
      {"score", "a", "b", "-m", ""},
      {"score", "a", "b", "-m", "ssimulacra"},
      {"score", "a", "b", "--json", "--csv"},
      {"score", "a", "b", "--json=yes"},
      {"score", "a", "b", "--threads", "0"},
      {"score", "a", "b", "--threads", "many"},
      {"score", "a", "b", "--threads", "1", "--threads", "2"},
      {"score", "a", "b", "--memory", "strip:0"},
      {"score", "a", "b", "--memory", "little"},
      {"score", "a", "b", "--fail-under", "nan"},
      {"score", "a", "b", "--fail-under", "0,5"},
      {"score", "a", "b", "--color", "sometimes"},
      {"score", "a", "b", "--map", "map.jpg"},
      {"score", "a", "b", "c", "--map", "map.png"},
      {"score", "a", "b", "-m", "psnr,mse", "--map", "map.png"},
  };
  for (const auto& line : lines) {
    const Outcome outcome = acuity(line);
    std::string shown;
    for (const std::string& word : line) shown += word + " ";
    EXPECT_EQ(outcome.exit_code, 2) << shown;
    EXPECT_EQ(outcome.out, "") << shown;
    EXPECT_TRUE(outcome.err.starts_with("acuity: error: ")) << shown << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << shown << outcome.err;
  }
}

TEST(Options, ArgumentsArriveAsTheyAre) {
  const Command& score = *find_command("score");
  const auto arguments = [&](const std::vector<std::string>& words) {
    return Request::parse(score, words)->arguments();
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(arguments({"[a].png", "[b]", "-", "{c}"}), (Strings{"[a].png", "[b]", "-", "{c}"}));
  EXPECT_EQ(arguments({"a", "--", "-b", "--json"}), (Strings{"a", "-b", "--json"}));
  EXPECT_EQ(arguments({"a", "--json", "b"}), (Strings{"a", "b"}));
  EXPECT_EQ(Request::parse(score, Strings{"-d", "[b]", "-d", "c,d"})->values("--distorted"), (Strings{"[b]", "c,d"}));
  EXPECT_EQ(Request::parse(score, Strings{"--fail-under", "-5"})->value("--fail-under"), "-5");
  EXPECT_EQ(Request::parse(score, Strings{"--fail-under=-5"})->value("--fail-under"), "-5");
}

}  // namespace
}  // namespace acuity::cli
