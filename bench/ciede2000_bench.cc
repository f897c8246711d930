// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool ciede = bench_feature("ciede", "ciede");

}  // namespace
}  // namespace acuity::bench
