// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_samples.h"

#include <algorithm>

#include "base/try.h"

namespace acuity::ssimulacra2 {

Samples::Samples(const Metric::Setup& setup)
    : setup_(setup), readers_{PixelReader(setup.pool, setup.senders()), PixelReader(setup.pool, setup.senders())} {}

Status Samples::create() {
  ACUITY_TRY_ASSIGN(queue_, setup_.pool->device().create_queue());
  return {};
}

Status Samples::begin(const Pictures& pictures, int rows_held, int rows_at_once) {
  std::vector<PixelReader*> begun;
  for (size_t i = 0; i < 2; ++i) {
    in_use_[i] = pictures[i] != nullptr;
    places_[i] = {};
    if (!in_use_[i]) continue;
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(pictures[i]->input, pictures[i]->rows, setup_.pool));
    ACUITY_TRY(readers_[i].begin(*queue_, picture, rows_held, 1));
    places_[i] = {readers_[i].pixels(0, 0), readers_[i].reads_samples() ? setup_.height : rows_held};
    begun.push_back(&readers_[i]);
  }
  const std::array queues{queue_.get(), queue_.get()};
  return PixelReader::send(begun, {queues.data(), begun.size()}, SendOrder::together, rows_at_once);
}

Status Samples::make(Queue& pixels, int y, int y_end, bool recorded) {
  for (size_t i = 0; i < 2; ++i) {
    if (!in_use_[i]) continue;
    if (readers_[i].reads_samples()) {
      ACUITY_TRY(recorded ? readers_[i].record_wait_for_rows(pixels, y_end) : readers_[i].wait_for_rows(pixels, y_end));
    } else {
      ACUITY_TRY(readers_[i].make(*queue_, y, y_end, 0, y % places_[i].ring, recorded));
    }
  }
  return {};
}

bool Samples::are_made() const {
  return (in_use_[0] && !readers_[0].reads_samples()) || (in_use_[1] && !readers_[1].reads_samples());
}

Status Samples::wait() {
  ACUITY_TRY(queue_->wait());
  for (size_t i = 0; i < 2; ++i) {
    if (in_use_[i]) readers_[i].note_wait();
  }
  return {};
}

bool Samples::may_be_recorded() const {
  return (!in_use_[0] || readers_[0].may_be_recorded()) && (!in_use_[1] || readers_[1].may_be_recorded());
}

Samples::Key Samples::key() const {
  Key key;
  for (size_t i = 0; i < 2; ++i) {
    if (in_use_[i]) key[i] = readers_[i].key();
  }
  return key;
}

}  // namespace acuity::ssimulacra2
