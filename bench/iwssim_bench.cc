// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM, with and without weights, and MS-SSIM.
#include "metric_bench.h"

namespace acuity::bench {

static const bool weighted = bench_metric("iwssim", {.metrics = {"iwssim"}});
static const bool plain = bench_metric("iwssim/weights=none", {.metrics = {{"iwssim", {{"weights", "none"}}}}});
static const bool classic = bench_metric("msssim", {.metrics = {"msssim"}});

}  // namespace acuity::bench
