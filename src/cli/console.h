// SPDX-License-Identifier: BSD-2-Clause-Patent
// The two streams: results on standard output, everything else on standard error.
#ifndef ACUITY_CLI_CONSOLE_H
#define ACUITY_CLI_CONSOLE_H

#include <string>
#include <string_view>

#include "acuity/status.h"

namespace acuity::cli {

class Console {
 public:
  /// `colour` is "auto", "always" or "never".
  explicit Console(std::string_view colour);

  /// Results. They leave at once, so that a reader of a long run sees them as they come, unless they are collected.
  void print(std::string_view text);
  /// From now on print() only collects, for a file.
  void collect();
  const std::string& collected() const { return collected_; }
  /// Whether standard output has stopped taking anything: no use in going on.
  bool lost() const { return output_error_ != 0; }

  /// Prints results that could not be written to their file, so that the work is not lost. Returns the failure, with
  /// this said in it.
  Status rescue(std::string_view results, const Status& failure);

  /// One line on standard error.
  void complain(std::string_view message);
  void warn(std::string_view message);
  /// A warning that the results hold as well: not said twice where both are seen on one terminal.
  void warn_beside_results(std::string_view message);
  void note(std::string_view message);

  /// Whether progress() shows anything: standard error is a terminal.
  bool shows_progress() const { return show_progress_; }
  /// Shows how far a long run has come, on a terminal only.
  void progress(std::string_view text);

  /// For text that is printed.
  std::string bold(std::string_view text) const;
  std::string faint(std::string_view text) const;

  /// Flushes standard output. Returns `exit_code`, or that of a failure to write; an interrupt that was put off ends
  /// the process here.
  int finish(int exit_code);

 private:
  void line(std::string_view before, std::string_view message);
  void clear_progress();

  bool collects_ = false;
  std::string collected_;
  bool colour_output_;
  bool colour_messages_;
  bool show_progress_;
  int output_error_ = 0;
};

/// Takes the places of standard streams that are closed: a file that is opened there would get our messages.
void hold_closed_streams();
/// Makes an interrupt leave the terminal clean, and a closed pipe an error of print() instead of the end of the
/// process.
void handle_signals();

/// From now on the first interrupt or request to end does not end the process: interrupted() tells, so that what was
/// done until then can be written. The second one does.
void put_off_interrupts();
bool interrupted();

}  // namespace acuity::cli

#endif
