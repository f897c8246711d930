// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool psnr = bench_feature("psnr", "psnr");
[[maybe_unused]] const bool float_psnr = bench_feature("float_psnr", "float_psnr");
[[maybe_unused]] const bool float_ansnr = bench_feature("float_ansnr", "float_ansnr");
[[maybe_unused]] const bool float_moment = bench_feature("float_moment", "float_moment");

}  // namespace
}  // namespace acuity::bench
