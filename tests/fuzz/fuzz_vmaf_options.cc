// SPDX-License-Identifier: BSD-2-Clause-Patent
// The words after 'acuity vmaf', one a line: those of raw YUV, models and features among them.
#include <string>
#include <vector>

#include "cli/vmaf_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(data[i]);
    }
  }
  // Files must not be read that the fuzzer makes up.
  for (const std::string& word : words) {
    if (word.find("path") != std::string::npos || word.find('/') != std::string::npos) return 0;
  }
  const auto request = acuity::cli::Request::parse(*acuity::cli::find_command("vmaf"), words);
  if (!request.ok()) return 0;
  const auto plan = acuity::cli::plan_vmaf(*request);
  return !plan.ok() && plan.status().message().empty() ? -1 : 0;
}
