// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/kernels_check.h"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/rows.h"
#include "device/pixels/feed.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "media/encode.h"
#include "support/layouts.h"

namespace acuity {

extern const KernelFile cross_backend_kernels;

namespace tests {
namespace {

namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &cross_backend_kernels;
#include "cross_backend/kernels.h"
}  // namespace kernels

constexpr int kWidth = 45, kHeight = 23;

// In two pieces, as bands are.
Result<std::vector<float>> pixels_there(const std::shared_ptr<DevicePool>& pool, const Rows& rows) {
  const Threads threads(2);
  TaskThreads tasks;
  const int cut = 16;
  const size_t bytes = size_t{3} * kWidth * kHeight * sizeof(float);
  std::shared_ptr<Resident> samples;
  if (DevicePicture::needs_samples(rows)) ACUITY_TRY_ASSIGN(samples, Resident::create(pool, rows.view()));
  const DevicePicture picture{rows, samples.get()};
  std::optional<Feed> feed;
  MemoryLayout layout;
  const size_t planes = layout.place(bytes / sizeof(float));
  Workspace workspace(pool);
  Queue* queue = nullptr;
  ACUITY_TRY(workspace.allocate(layout, bytes, "test"));
  ACUITY_TRY_ASSIGN(queue, workspace.create_queue());
  ACUITY_TRY_ASSIGN(feed, Feed::create(workspace, *queue, {&threads, &tasks}, cut));
  ACUITY_TRY(feed->begin(picture));
  const std::array<Feed*, 1> one{&*feed};
  ACUITY_TRY(Feed::send(one, std::array{queue}, SendOrder::together));
  std::vector<float> all(size_t{3} * kWidth * kHeight);
  for (int y = 0; y < kHeight; y += cut) {
    const int height = std::min(cut, kHeight - y);
    SentPixels sent;
    ACUITY_TRY_ASSIGN(sent, feed->take(*queue, y, y + height));
    ACUITY_TRY(queue->run(kernels::copy_pixels, (kWidth + 31) / 32, (height + 7) / 8, sent.samples, sent.table,
                          workspace.array<float>(planes), sent.form, sent.extent, y - sent.y_first, kWidth, height));
    ACUITY_TRY(feed->release(*queue));
    ACUITY_TRY(workspace.fetch_results(*queue, planes));
    ACUITY_TRY(queue->wait());
    const size_t floats = static_cast<size_t>(height) * kWidth;
    for (size_t c = 0; c < 3; ++c) {
      std::memcpy(all.data() + c * kWidth * kHeight + static_cast<size_t>(y) * kWidth,
                  workspace.results().data() + c * floats * sizeof(float), floats * sizeof(float));
    }
  }
  return all;
}

std::vector<float> pixels_here(const Rows& rows) {
  constexpr size_t kPlane = size_t{kWidth} * kHeight;
  std::vector<float> all(3 * kPlane);
  for (int y = 0; y < kHeight; ++y) {
    float* to = all.data() + static_cast<size_t>(y) * kWidth;
    rows.read(y, 0, kWidth, to, to + kPlane, to + 2 * kPlane);
  }
  return all;
}

// Samples of all sizes, some below 0 and above 1 where floats can hold them; alpha of all kinds.
Content content(bool floats, bool alpha, int channels) {
  return [=](int c, int x, int y) {
    const int number = (x * 37 + y * 101 + c * 59) % 256;
    if (alpha && c == channels - 1) return number < 60 ? 0.0 : number > 150 ? 1.0 : number / 255.0;
    return floats ? number / 200.0 - 0.1 : number / 255.0;
  };
}

void compare(const std::shared_ptr<DevicePool>& pool, const Sheet& sheet, const WorkingSpace& space,
             const std::string& what, Tally& tally) {
  ++tally.comparisons;
  const Result<Rows> rows = Rows::create(sheet.view, space, 0.3f);
  const Result<std::vector<float>> there = rows.ok() ? pixels_there(pool, *rows) : rows.status();
  if (!there.ok()) {
    fmt::print("FAILED pixels of {}: {}\n", what, there.status().message());
    ++tally.failures;
    return;
  }
  const std::vector<float> here = pixels_here(*rows);
  for (size_t i = 0; i < here.size(); ++i) {
    if (here[i] == (*there)[i]) continue;
    constexpr size_t kPlane = size_t{kWidth} * kHeight;
    fmt::print("FAILED pixels of {}: channel {} at x={}, y={} is {:.9g}, on the CPU {:.9g}\n", what, i / kPlane,
               i % kPlane % kWidth, i % kPlane / kWidth, (*there)[i], here[i]);
    ++tally.failures;
    return;
  }
}

}  // namespace

Tally check_pixels(const std::shared_ptr<Device>& device) {
  const std::shared_ptr<DevicePool> pool = DevicePool::of(device);
  Tally tally;
  const std::vector<std::pair<std::string, WorkingSpace>> spaces{
      {"linear", {}},
      {"linear as libjxl", {.srgb_curve = WorkingSpace::SrgbCurve::libjxl, .nits_of_one = 255}},
      {"codes", {.encoding = WorkingSpace::Encoding::srgb_codes}}};
  std::vector<Colour> colours;
  for (const Transfer transfer :
       {Transfer::srgb, Transfer::linear, Transfer::gamma, Transfer::bt1886, Transfer::pq, Transfer::hlg}) {
    for (const Primaries primaries : {Primaries::bt709, Primaries::bt2020}) {
      colours.push_back({.transfer = transfer, .primaries = primaries});
    }
  }
  colours.push_back({.icc = std::make_shared<const File>(rgb_profile())});
  for (const Layout& type : {Layout{SampleType::u8, 8}, Layout{SampleType::u16, 10}, Layout{SampleType::f32, 8}}) {
    for (const Channels channels : {Channels::grey, Channels::grey_alpha, Channels::rgb, Channels::rgba}) {
      const bool alpha = channels == Channels::grey_alpha || channels == Channels::rgba;
      const Content drawn = content(type.type == SampleType::f32, alpha, static_cast<int>(channels));
      // Every arrangement in one colour, then every colour in one arrangement.
      for (const Layout& layout : arrangements(type.type, type.depth)) {
        const Sheet sheet(layout, kWidth, kHeight, channels, drawn);
        compare(pool, sheet, spaces[0].second, fmt::format("{} x {}", static_cast<int>(channels), layout.name()),
                tally);
      }
      Sheet sheet(type, kWidth, kHeight, channels, drawn);
      for (const Colour& colour : colours) {
        sheet.view.colour = colour;
        for (const auto& [name, space] : spaces) {
          const std::string meaning = colour.icc
                                          ? "profile"
                                          : fmt::format("transfer {}, primaries {}", static_cast<int>(colour.transfer),
                                                        static_cast<int>(colour.primaries));
          compare(pool, sheet, space,
                  fmt::format("{} x {}, {}, as {}", static_cast<int>(channels), type.name(), meaning, name), tally);
        }
      }
    }
  }
  return tally;
}

}  // namespace tests
}  // namespace acuity
