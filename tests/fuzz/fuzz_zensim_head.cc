// SPDX-License-Identifier: BSD-2-Clause-Patent
// Trained heads of zensim: a file is refused, or makes a score of any features.
#include <cstdint>

#include "metrics/zensim/head.h"
#include "metrics/zensim/pooling.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const acuity::Result<acuity::zensim::Head> head = acuity::zensim::Head::parse("fuzzed", {bytes, size});
  if (!head.ok()) return 0;
  std::vector<double> features(acuity::zensim::kAllFeatures);
  head->evaluate(features, 64, 64);
  for (size_t i = 0; i < features.size(); ++i) features[i] = 1e-3 * static_cast<double>(i);
  head->evaluate(features, 4096, 17);
  return 0;
}
