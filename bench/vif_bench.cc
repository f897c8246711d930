// SPDX-License-Identifier: BSD-2-Clause-Patent
// Visual information fidelity, in whole numbers and in floats.
#include "feature_bench.h"

namespace acuity::bench {
namespace {

[[maybe_unused]] const bool vif = bench_feature("vif", "vif");
[[maybe_unused]] const bool float_vif = bench_feature("float_vif", "float_vif");

}  // namespace
}  // namespace acuity::bench
