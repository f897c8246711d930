// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/srgb_codes.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "colour/srgb_codes.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::colour {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "colour/math.h"

void Encode(float* samples, int count) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) store_unaligned(srgb_code(load_unaligned(samples + i)), samples + i);
  if (i == count) return;
  float rest[kLanes] = {};
  std::copy(samples + i, samples + count, rest);
  store_unaligned(srgb_code(load_unaligned(rest)), rest);
  std::copy(rest, rest + (count - i), samples + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::colour
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace colour {
HWY_EXPORT(Encode);
}

void encode_srgb_codes(float* samples, int count) { HWY_DYNAMIC_DISPATCH(colour::Encode)(samples, count); }

}  // namespace acuity
#endif
