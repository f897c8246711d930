// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/console.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

// Threads look at them as well as the handler of signals.
std::atomic<int> progress_shown = 0;
std::atomic<int> put_off = 0;         // whether the next interrupt is
std::atomic<int> interrupted_by = 0;  // the signal that was put off
static_assert(std::atomic<int>::is_always_lock_free);

bool is_dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") == 0;
}

bool wants_colour(std::string_view colour, int stream) {
  if (colour != "auto") return colour == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(stream) == 1 && !is_dumb_terminal() && (no_color == nullptr || *no_color == '\0');
}

void put_message(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Dying of the signal itself is what lets a shell stop the loop the command runs in.
void end_by(int number) {
  std::signal(number, SIG_DFL);
  std::raise(number);
}

extern "C" void on_interrupt(int number) {
  if (progress_shown != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kClearLine.data(), kClearLine.size());
  }
  if (put_off != 0) {
    put_off = 0;
    interrupted_by = number;
    constexpr std::string_view kNote =
        "acuity: interrupted; writing what was scored so far (interrupt again to stop at once)\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kNote.data(), kNote.size());
    return;
  }
  end_by(number);
}

// A command started in the background with interrupts ignored must go on ignoring them.
void handle(int number) {
  if (std::signal(number, on_interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
}

}  // namespace

void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free is this one. It can be read or written no more than what was closed.
    [[maybe_unused]] const int held = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void handle_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is then an error of writing
  handle(SIGINT);
}

void put_off_interrupts() {
  handle(SIGTERM);
  put_off = 1;
}

bool interrupted() { return interrupted_by != 0; }

Console::Console(std::string_view colour)
    : colour_output_(wants_colour(colour, STDOUT_FILENO)),
      colour_messages_(wants_colour(colour, STDERR_FILENO)),
      show_progress_(isatty(STDERR_FILENO) == 1 && !is_dumb_terminal()) {}

void Console::collect() {
  collects_ = true;
  colour_output_ = false;
}

void Console::print(std::string_view text) {
  if (collects_) {
    collected_ += text;
    return;
  }
  if (lost()) return;
  clear_progress();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    output_error_ = errno;
}

Status Console::rescue(std::string_view results, const Status& failure) {
  collects_ = false;
  print(results);
  return Status(failure.code(), failure.message() + "; the results are on standard output instead");
}

void Console::line(std::string_view before, std::string_view message) {
  clear_progress();
  put_message(fmt::format("{}{}\n", before, printable(message)));
}

void Console::complain(std::string_view message) {
  line(colour_messages_ ? "acuity: \x1b[31merror:\x1b[0m " : "acuity: error: ", message);
}

void Console::warn(std::string_view message) {
  line(colour_messages_ ? "acuity: \x1b[33mwarning:\x1b[0m " : "acuity: warning: ", message);
}

void Console::warn_beside_results(std::string_view message) {
  if (collects_ || isatty(STDOUT_FILENO) != 1 || isatty(STDERR_FILENO) != 1) warn(message);
}

void Console::note(std::string_view message) { line("", message); }

void Console::progress(std::string_view text) {
  if (!show_progress_) return;
  progress_shown = 1;
  put_message(fmt::format("{}{}", kClearLine, printable(text)));
}

void Console::clear_progress() {
  if (progress_shown == 0) return;
  put_message(kClearLine);
  progress_shown = 0;
}

std::string Console::bold(std::string_view text) const {
  return colour_output_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string Console::faint(std::string_view text) const {
  return colour_output_ ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

int Console::finish(int exit_code) {
  clear_progress();
  if (!lost() && std::fclose(stdout) != 0) output_error_ = errno;
  if (interrupted()) end_by(interrupted_by);
  if (!lost()) return exit_code;
  // Whoever closed the pipe has seen enough, and wants no message.
  if (output_error_ != EPIPE) {
    complain(fmt::format("writing to standard output failed: {}", std::strerror(output_error_)));
  }
  return kExitFailed;
}

}  // namespace acuity::cli
