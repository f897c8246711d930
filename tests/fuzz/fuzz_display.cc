// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files of display models: whatever the bytes, displays that can be used or a message.
#include <cmath>
#include <string_view>

#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acuity::cvvdp;
  const acuity::Result<std::vector<Display>> displays =
      parse_displays({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!displays.ok()) {
    if (displays.status().message().empty()) __builtin_trap();
    return 0;
  }
  for (const Display& display : *displays) {
    if (scales_of({640, 480}, pixels_per_degree(display)).empty()) __builtin_trap();
    const acuity::Result<Photometry> photometry = Photometry::create(display);
    if (!photometry.ok()) continue;
    for (const float sample : {-1.0f, 0.0f, 0.5f, 1.0f, 1e30f}) {
      if (!std::isfinite(photometry->light_of(sample))) __builtin_trap();
    }
  }
  return 0;
}
