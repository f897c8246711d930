// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <cstddef>
#include <cstdint>

#include "colour/rows.h"

// A damaged profile must be refused or survived, for grey and for RGB samples.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::array<uint8_t, 6> samples{0, 128, 255, 3, 200, 90};
  std::array<std::array<float, 2>, 3> planes;
  for (acuity::Channels channels : {acuity::Channels::grey, acuity::Channels::rgb}) {
    acuity::ImageView view = acuity::interleaved_view(samples.data(), 2, 1, channels, acuity::SampleType::u8);
    view.colour.icc = std::make_shared<const std::vector<uint8_t>>(data, data + size);
    const acuity::Result<acuity::Rows> rows = acuity::Rows::create(view, {}, {});
    if (rows.ok()) rows->read(0, 0, 2, planes[0].data(), planes[1].data(), planes[2].data());
  }
  return 0;
}
