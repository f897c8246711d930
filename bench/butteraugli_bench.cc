// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metric_bench.h"

static const bool registered = acuity::bench::bench_metric("butteraugli", {.metrics = {"butteraugli"}});
