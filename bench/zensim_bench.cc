// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim: the score alone, which needs 228 features, and all 372.
#include "metric_bench.h"

namespace acuity::bench {

static const bool basic = bench_metric("zensim", {.metrics = {"zensim"}});
static const bool all = bench_metric("zensim/features=all", {.metrics = {{"zensim", {{"features", "all"}}}}});

}  // namespace acuity::bench
