// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool adm = bench_feature("adm", "adm");
[[maybe_unused]] const bool without_aim = bench_feature("adm without aim", "adm", {{"adm_skip_aim", "true"}});
// As the v1 models of VMAF have it.
[[maybe_unused]] const bool of_v1 = bench_feature(
    "adm of v1", "adm", {{"adm_csf_mode", "2"}, {"adm_enhn_gain_limit", "1"}, {"adm_noise_weight", "0.02"}});
[[maybe_unused]] const bool float_adm = bench_feature("float_adm", "float_adm");

}  // namespace
}  // namespace acuity::bench
