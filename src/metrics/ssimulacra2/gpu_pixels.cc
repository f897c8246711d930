// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_pixels.h"

#include <algorithm>

#include "base/try.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile ssimulacra2_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_kernels;
#include "metrics/ssimulacra2/kernels.h"

}  // namespace kernels

namespace {

constexpr int kRowsACopy = 256;  // fewer and larger copies than bands

}  // namespace

PixelBands::PixelBands(const Metric::Setup& setup)
    : setup_(setup), uploads_{Upload(*setup.device, *setup.threads), Upload(*setup.device, *setup.threads)} {}

Status PixelBands::create() {
  ACUITY_TRY_ASSIGN(copy_, setup_.device->create_queue());
  for (std::unique_ptr<Event>& event : arrived_) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
  for (std::unique_ptr<Event>& event : released_) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
  return setup_.device->prepare(kernels::make_pixels);
}

Status PixelBands::begin(const std::array<const Rows*, 2>& pictures, int band_rows) {
  pictures_ = pictures;
  band_rows_ = band_rows;
  slot_rows_ = std::max(kRowsACopy / band_rows, 1) * band_rows;
  for (size_t i = 0; i < pictures_.size(); ++i) {
    if (pictures_[i] == nullptr) continue;
    ACUITY_TRY(uploads_[i].begin(*copy_, *pictures_[i], std::min(slot_rows_, setup_.height), kSlots));
  }
  return {};
}

Status PixelBands::await(Queue& queue, int band) {
  const int number = band / bands_a_slot();  // of the slots, as they are filled
  const auto slot = static_cast<size_t>(number % kSlots);
  if (band % bands_a_slot() == 0) {
    if (number >= kSlots) ACUITY_TRY(copy_->wait_for(*released_[slot]));
    const int y = band * band_rows_;
    for (size_t i = 0; i < pictures_.size(); ++i) {
      if (pictures_[i] == nullptr) continue;
      ACUITY_TRY_ASSIGN(sent_[i], uploads_[i].send(*copy_, *pictures_[i], y, std::min(y + slot_rows_, setup_.height),
                                                   static_cast<int>(slot)));
    }
    ACUITY_TRY(copy_->signal(*arrived_[slot]));
  }
  return queue.wait_for(*arrived_[slot]);
}

Status PixelBands::release(Queue& queue, int band) {
  if ((band + 1) % bands_a_slot() != 0) return {};
  return queue.signal(*released_[static_cast<size_t>(band / bands_a_slot() % kSlots)]);
}

Status make_pixels(Queue& queue, const SentPixels& from, const PixelTarget& to, Size size, int pictures, int y,
                   int y_end) {
  return queue.run(kernels::make_pixels, groups(size.width, 64), pictures * groups(y_end - y, 16), from.samples,
                   from.table, to.xyb, to.next, from.form, from.extent, from.y_first, size.width, size.height, y, y_end,
                   to.ring, to.stride, to.next_first, to.next_plane);
}

SentPixels light_at(uint64_t address, int plane_floats, int y) {
  return {.samples = {address}, .table = {}, .form = FORM_PLANES, .extent = plane_floats, .y_first = y};
}

}  // namespace ssimulacra2
}  // namespace acuity
