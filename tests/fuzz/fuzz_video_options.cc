// SPDX-License-Identifier: BSD-2-Clause-Patent
// The words after 'acuity vmaf' and 'acuity score', one a line: what raw YUV is, which frames, models and features.
#include <string>
#include <vector>

#include "cli/video_plan.h"
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
  for (const char* name : {"vmaf", "score"}) {
    const auto request = acuity::cli::Request::parse(*acuity::cli::find_command(name), words);
    if (!request.ok()) continue;
    const acuity::Status status =
        name[0] == 'v' ? acuity::cli::plan_vmaf(*request).status() : acuity::cli::plan_video(*request).status();
    if (!status.ok() && status.message().empty()) __builtin_trap();
  }
  return 0;
}
