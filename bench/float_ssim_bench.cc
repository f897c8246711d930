// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool float_ssim = bench_feature("float_ssim", "float_ssim");
[[maybe_unused]] const bool float_ms_ssim = bench_feature("float_ms_ssim", "float_ms_ssim");

}  // namespace
}  // namespace acuity::bench
