// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_samples.h"

#include "base/try.h"

namespace acuity::ssimulacra2 {

Samples::Samples(const Metric::Setup& setup)
    : setup_(setup), distorted_upload_(*setup.device, *setup.threads), kept_upload_(*setup.device, *setup.threads) {}

Status Samples::create() {
  ACUITY_TRY_ASSIGN(queue_, setup_.device->create_queue());
  return {};
}

Status Samples::keep(const Rows& reference) {
  reference_upload_.reset();
  ACUITY_TRY(kept_upload_.begin(*queue_, reference, setup_.height, 1));
  kept_.ring = setup_.height;
  ACUITY_TRY_ASSIGN(kept_.pixels, kept_upload_.send(*queue_, reference, 0, setup_.height, 0));
  return queue_->wait();
}

Status Samples::begin(const Rows* reference, const Rows& distorted, int rows_held) {
  pictures_ = {reference, &distorted};
  places_[0] = kept_;
  if (reference != nullptr) {
    if (!reference_upload_) reference_upload_.emplace(*setup_.device, *setup_.threads);
    ACUITY_TRY(reference_upload_->begin(*queue_, *reference, rows_held, 1));
    places_[0] = {reference_upload_->sent(*reference, 0, 0), rows_held};
  }
  ACUITY_TRY(distorted_upload_.begin(*queue_, distorted, rows_held, 1));
  places_[1] = {distorted_upload_.sent(distorted, 0, 0), rows_held};
  return {};
}

Status Samples::send(int y, int y_end) {
  const int below = y % places_[1].ring;
  if (pictures_[0] != nullptr) {
    ACUITY_TRY(reference_upload_->send(*queue_, *pictures_[0], y, y_end, 0, below).status());
  }
  return distorted_upload_.send(*queue_, *pictures_[1], y, y_end, 0, below).status();
}

std::optional<std::vector<HostBytes>> Samples::sources() const {
  std::vector<HostBytes> sources{distorted_upload_.source(*pictures_[1])};
  if (pictures_[0] != nullptr) sources.push_back(reference_upload_->source(*pictures_[0]));
  for (const HostBytes& source : sources) {
    if (source.empty()) return std::nullopt;
  }
  return sources;
}

size_t Samples::bytes() const {
  return distorted_upload_.bytes() + kept_upload_.bytes() + (reference_upload_ ? reference_upload_->bytes() : 0);
}

}  // namespace acuity::ssimulacra2
