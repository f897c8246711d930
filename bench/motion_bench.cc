// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool motion = bench_feature("motion", "motion");
[[maybe_unused]] const bool float_motion = bench_feature("float_motion", "float_motion");

}  // namespace
}  // namespace acuity::bench
