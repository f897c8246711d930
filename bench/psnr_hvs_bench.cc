// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool psnr_hvs = bench_feature("psnr_hvs", "psnr_hvs");

}  // namespace
}  // namespace acuity::bench
