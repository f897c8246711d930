// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool ssim = bench_feature("ssim", "ssim");

}  // namespace
}  // namespace acuity::bench
