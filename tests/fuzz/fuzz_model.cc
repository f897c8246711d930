// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's model files: whatever the bytes, a model that can be used or a message, and a prediction.
#include <string_view>
#include <vector>

#include "metrics/vmaf/model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const acuity::Result<acuity::vmaf::ModelSet> set =
      acuity::vmaf::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!set.ok()) {
    if (set.status().message().empty()) __builtin_trap();
    return 0;
  }
  const std::vector<double> values(set->whole.inputs.size(), 0.5);
  (void)acuity::vmaf::predict(set->whole, values);
  if (!set->parts.empty()) (void)acuity::vmaf::predict_spread(set->parts, values);
  return 0;
}
