// SPDX-License-Identifier: BSD-2-Clause-Patent
// When the parts of a run begin and end, to show which of them overlap.
#ifndef ACUITY_CLI_TIMELINE_H
#define ACUITY_CLI_TIMELINE_H

#include <string>

namespace acuity::cli {

/// Milliseconds since the program began.
double now_ms();

struct Span {
  std::string what{};  // empty: it did not take place
  double begin_ms = 0;
  double end_ms = 0;
};

/// What work() takes.
template <typename Work>
Span timed(std::string what, const Work& work) {
  Span span{std::move(what), now_ms()};
  work();
  span.end_ms = now_ms();
  return span;
}

}  // namespace acuity::cli

#endif
