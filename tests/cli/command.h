// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs a command and keeps what it said.
#ifndef ACUITY_TESTS_CLI_COMMAND_H
#define ACUITY_TESTS_CLI_COMMAND_H

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace acuity::test {

struct Outcome {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

struct Surroundings {
  std::vector<std::string> environment = {};  // NAME=VALUE, on top of our own
  std::string input = {};                     // standard input
  bool output_terminal = false;               // standard output is a terminal
  bool error_terminal = false;                // standard error is a terminal
  bool input_terminal = false;                // standard input is a terminal
  bool interrupt = false;                     // send SIGINT once it has read its input and waits for more
};

/// Any program; words[0] is found on the PATH.
Outcome run(const std::vector<std::string>& words, const Surroundings& surroundings = {});

/// The acuity that was built.
Outcome acuity(std::vector<std::string> words, const Surroundings& surroundings = {});

/// The acuity that was built, in the background, with its output thrown away.
pid_t start_acuity(std::vector<std::string> words);
/// Until it has ended. Seconds that took, and the status of waitpid().
struct Ending {
  double seconds = 0;
  int status = 0;
};
Ending wait_for_end(pid_t child);
/// Whether it comes true before a test must be called stuck.
bool comes_true(const std::function<bool()>& condition);

/// Whether a program is installed.
bool installed(const std::string& program);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);

/// A path in a folder of this test's own, which is empty at first.
std::string scratch(const std::string& name);

}  // namespace acuity::test

#endif
