// SPDX-License-Identifier: BSD-2-Clause-Patent
// The two streams: results on standard output, everything else on standard error.
#ifndef ACUITY_CLI_CONSOLE_H
#define ACUITY_CLI_CONSOLE_H

#include <cstddef>
#include <string>
#include <string_view>

#include "acuity/status.h"

namespace acuity::cli {

class Console {
 public:
  /// `colour` is "auto", "always" or "never".
  explicit Console(std::string_view colour);

  /// Results. They leave at once, so that a reader of a long run sees them as they come.
  void print(std::string_view text);
  /// Whether standard output has stopped taking anything: no use in going on.
  bool lost() const { return output_error_ != 0; }

  /// Prints results that could not be written to their file, so that the work is not lost. Returns the failure, with
  /// this said in it.
  Status rescue(std::string_view results, const Status& failure);

  /// One line on standard error.
  void complain(std::string_view message);
  void warn(std::string_view message);
  void note(std::string_view message);

  /// Shows how far a long run has come, on a terminal only.
  void progress(size_t done, size_t total);
  void progress(std::string_view text);

  /// For text that is printed.
  std::string bold(std::string_view text) const;
  std::string faint(std::string_view text) const;

  /// Flushes standard output. Returns `exit_code`, or that of a failure to write.
  int finish(int exit_code);

 private:
  void line(std::string_view before, std::string_view message);
  void clear_progress();

  bool colour_output_;
  bool colour_messages_;
  bool show_progress_;
  int output_error_ = 0;
};

/// Makes an interrupt leave the terminal clean, and a closed pipe an error of print() instead of the end of the
/// process.
void handle_signals();

}  // namespace acuity::cli

#endif
