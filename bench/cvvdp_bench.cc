// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP of still pictures.
#include "metric_bench.h"

namespace acuity::bench {

static const bool standard = bench_metric("cvvdp", {.metrics = {"cvvdp"}});

}  // namespace acuity::bench
