// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM, with and without weights, and MS-SSIM.
#include "metric_bench.h"

namespace acuity::bench {

static const bool weighted = bench_metric("iwssim", {.metric = "iwssim"});
static const bool plain =
    bench_metric("iwssim/weights=none", {.metric = "iwssim", .metric_options = {{"weights", "none"}}});
static const bool classic = bench_metric("msssim", {.metric = "msssim"});

}  // namespace acuity::bench
