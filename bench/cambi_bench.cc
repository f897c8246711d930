// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool cambi = bench_feature("cambi", "cambi");
[[maybe_unused]] const bool cambi_v1 =
    bench_feature("cambi_v1", "cambi", {{"cambi_high_res_speedup", "1080"}, {"cambi_max_val", "17"}, {"vlt", "0.06"}});

}  // namespace
}  // namespace acuity::bench
