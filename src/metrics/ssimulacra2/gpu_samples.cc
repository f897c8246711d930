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

Status Samples::begin(const InputRows& reference, const InputRows& distorted, int rows_held, int rows_at_once) {
  const std::array<const InputRows*, 2> pictures{&reference, &distorted};
  for (size_t i = 0; i < 2; ++i) {
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(pictures[i]->input, pictures[i]->rows, setup_.pool));
    ACUITY_TRY(readers_[i].begin(*queue_, picture, rows_held, 1));
    const bool direct = readers_[i].reads_samples();
    places_[i] = {readers_[i].pixels(0, 0), direct ? setup_.height : rows_held, readers_[i].place(),
                  readers_[i].making()};
  }
  const std::array<PixelReader*, 2> both{&readers_[0], &readers_[1]};
  return PixelReader::send(both, std::array{queue_.get(), queue_.get()}, SendOrder::together, rows_at_once);
}

Status Samples::make(Queue& pixels, int y, int y_end, bool recorded) {
  for (size_t i = 0; i < 2; ++i) {
    if (readers_[i].reads_samples()) {
      ACUITY_TRY(recorded ? readers_[i].record_wait_for_rows(pixels, y_end) : readers_[i].wait_for_rows(pixels, y_end));
    } else {
      ACUITY_TRY(readers_[i].make(*queue_, y, y_end, 0, y % places_[i].ring, recorded));
    }
  }
  return {};
}

bool Samples::may_be_recorded() {
  for (size_t i = 0; i < 2; ++i) {
    if (!readers_[i].may_be_recorded()) return false;
    places_[i].band_rows = readers_[i].band_rows();
  }
  return true;
}

}  // namespace acuity::ssimulacra2
