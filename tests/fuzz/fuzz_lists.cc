// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options and whole command lines.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/lists.h"
#include "cli/options.h"
#include "cli/request.h"
#include "cli/text.h"

namespace {

using namespace acuity::cli;

// Accepting a name that is not allowed, or one twice, would be a defect that no sanitizer sees.
void check_names(const std::string& text) {
  const auto known = acuity::metrics();
  const auto list = parse_metrics(std::vector<std::string>{text}, known);
  if (list.ok() && list->metrics.empty()) std::abort();
  for (size_t i = 0; list.ok() && i < list->metrics.size(); ++i) {
    if (acuity::find_metric(list->metrics[i].name) == nullptr) std::abort();
    for (size_t k = 0; k < i; ++k) {
      if (list->metrics[i].label == list->metrics[k].label) std::abort();
    }
  }
  if (!list.ok() && list.status().message().empty()) std::abort();
}

void check_values(const std::string& text) {
  const auto whole = parse_whole(text, "--threads", 1, 1024);
  if (whole.ok() && (*whole < 1 || *whole > 1024)) std::abort();
  const auto memory = parse_memory(text);
  if (memory.ok() && memory->kind == acuity::MemoryMode::Kind::strip && memory->rows < 1) std::abort();
  const auto number = parse_number(text, "--fail-under");
  if (number.ok() && std::strtod(exact_number(*number).c_str(), nullptr) != *number) std::abort();
  (void)json_string(text);
  (void)csv_field(text);
  (void)wrapped(printable(text), 20);
}

void check_command_line(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '\n') {
      words.emplace_back();
    } else if (c != '\0') {
      words.back() += c;
    }
  }
  for (const Command& command : commands()) {
    const auto request = Request::parse(command, words);
    if (!request.ok() && request.status().message().empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_names(text);
  check_values(text);
  check_command_line(text);
  return 0;
}
