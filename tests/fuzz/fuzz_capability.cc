// SPDX-License-Identifier: BSD-2-Clause-Patent
// The capability file: whatever the bytes, measurements that can be used and are written as they were read, or a
// message.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "engine/capability_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const acuity::Machine machine{"0.1.0", "Some CPU, 8 threads"};
  const auto read = acuity::parse_capabilities({reinterpret_cast<const char*>(data), size}, machine);
  if (!read.ok()) {
    if (read.status().message().empty()) std::abort();
    return 0;
  }
  for (const auto& [key, figure] : read->figures()) {
    const auto& [device, metric, mode, size_class] = key;
    for (const double pixels : {1.0, 1e6, 1e12}) {
      const auto ns = read->row_ns(device, metric, mode, pixels);
      if (!ns || !std::isfinite(*ns) || *ns <= 0) std::abort();
    }
  }
  const auto again = acuity::parse_capabilities(acuity::capability_text(*read, machine), machine);
  if (!again.ok() || again->figures() != read->figures() || again->devices() != read->devices()) std::abort();
  return 0;
}
