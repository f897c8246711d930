// SPDX-License-Identifier: BSD-2-Clause-Patent
// For metrics that prepare opaque references only.
#ifndef ACUITY_ENGINE_OPAQUE_REFERENCE_H
#define ACUITY_ENGINE_OPAQUE_REFERENCE_H

#include <memory>
#include <string>
#include <utility>

#include "base/try.h"
#include "engine/metric.h"

namespace acuity {

/// A transparent reference is scored over two backgrounds. Preparing both would use more memory than it is worth, so
/// only its samples stay.
class OpaqueReference final : public PreparedReference {
 public:
  std::shared_ptr<const PreparedReference> opaque;  // what the metric computed, or null
  Input transparent;                                // if `opaque` is null
  std::string description;                          // of the opaque one

  size_t bytes() const override { return opaque ? opaque->bytes() : bytes_of(transparent); }
};

/// `prepare` fills in the opaque one and its description.
template <typename Prepare>
Result<std::shared_ptr<const PreparedReference>> prepare_opaque(const Input& input, const Prepare& prepare) {
  auto reference = std::make_shared<OpaqueReference>();
  if (input.view().has_alpha()) {
    ACUITY_TRY_ASSIGN(reference->transparent, keep_input(input));
  } else {
    ACUITY_TRY(prepare(*reference));
  }
  return std::shared_ptr<const PreparedReference>(std::move(reference));
}

}  // namespace acuity

#endif
