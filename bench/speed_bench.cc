// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool chroma = bench_feature("speed_chroma", "speed_chroma");
[[maybe_unused]] const bool chroma_scaled =
    bench_feature("speed_chroma_scaled", "speed_chroma", {{"ps", "0.6"}, {"psm", "bilinear"}});
[[maybe_unused]] const bool temporal = bench_feature("speed_temporal", "speed_temporal");

}  // namespace
}  // namespace acuity::bench
