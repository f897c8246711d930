// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/kernels_check.h"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/rows.h"
#include "colour/yuv.h"
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

// In two pieces, as bands are. `samples` are null where kernels cannot make the pixels.
Result<std::vector<float>> pixels_there(const std::shared_ptr<DevicePool>& pool, const Rows& rows, Resident* samples) {
  const Threads threads(2);
  TaskThreads tasks;
  const int cut = 16;
  const size_t bytes = size_t{3} * kWidth * kHeight * sizeof(float);
  const DevicePicture picture{rows, samples};
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
                          workspace.array<float>(planes), sent.format, sent.table_last, sent.plane_stride,
                          y - sent.y_first, kWidth, height));
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

// `there` may fail, `rows` may not.
void count(const Rows& rows, const Result<std::vector<float>>& there, const std::string& what, Tally& tally) {
  ++tally.comparisons;
  if (!there.ok()) {
    fmt::print("FAILED pixels of {}: {}\n", what, there.status().message());
    ++tally.failures;
    return;
  }
  const std::vector<float> here = pixels_here(rows);
  for (size_t i = 0; i < here.size(); ++i) {
    if (here[i] == (*there)[i]) continue;
    constexpr size_t kPlane = size_t{kWidth} * kHeight;
    fmt::print("FAILED pixels of {}: channel {} at x={}, y={} is {:.9g}, on the CPU {:.9g}\n", what, i / kPlane,
               i % kPlane % kWidth, i % kPlane / kWidth, (*there)[i], here[i]);
    ++tally.failures;
    return;
  }
}

void compare(const std::shared_ptr<DevicePool>& pool, const Sheet& sheet, const WorkingSpace& space,
             const std::string& what, Tally& tally) {
  const Rows rows = *Rows::create(sheet.view, space, 0.3f);
  Result<std::shared_ptr<Resident>> samples = std::shared_ptr<Resident>();
  if (DevicePicture::needs_samples(rows)) samples = Resident::create(pool, sheet.view);
  count(rows, samples.ok() ? pixels_there(pool, rows, samples->get()) : samples.status(), what, tally);
}

// A frame of noise, in which the extremes are frequent, with so many samples between the rows.
struct NoisyFrame {
  FrameView view;
  std::vector<uint16_t> words;

  NoisyFrame(const FrameFormat& format, int gap, bool upside_down) : view{format} {
    size_t offset = 0;
    std::array<size_t, 3> offsets{};
    for (int p = 0; p < view.planes_count(); ++p) {
      const auto at = static_cast<size_t>(p);
      offsets[at] = offset;
      view.row_strides[at] = (view.plane_width(p) + gap) * view.sample_bytes();
      offset += static_cast<size_t>(view.row_strides[at] * view.plane_height(p));
      offset += offset % 2;
    }
    words.resize((offset + 1) / 2);
    uint32_t state = static_cast<uint32_t>(format.depth * 31 + gap);
    const auto most = static_cast<uint32_t>((1 << format.depth) - 1);
    for (uint16_t& word : words) {
      state = state * 1664525u + 1013904223u;
      const uint32_t kind = state >> 29, any = (state >> 8) & 0xffff;
      word = static_cast<uint16_t>(kind == 0 ? 0 : kind == 1 ? (format.depth == 8 ? 0xffff : most) : any);
      if (format.depth > 8) word = static_cast<uint16_t>(word & most);
    }
    for (int p = 0; p < view.planes_count(); ++p) {
      const auto at = static_cast<size_t>(p);
      view.planes[at] = reinterpret_cast<const std::byte*>(words.data()) + offsets[at];
      if (!upside_down) continue;
      view.planes[at] += (view.plane_height(p) - 1) * view.row_strides[at];
      view.row_strides[at] = -view.row_strides[at];
    }
  }
};

void compare_frame(const std::shared_ptr<DevicePool>& pool, const FrameFormat& format, const WorkingSpace& space,
                   int gap, bool upside_down, Tally& tally) {
  const NoisyFrame frame(format, gap, upside_down);
  std::vector<float> planes(converted_floats(format));
  convert_frame(format, frame.view, Threads(1), planes.data());
  const Rows rows = *Rows::create(converted_view(format, planes.data()), space, std::nullopt);
  const Result<std::shared_ptr<Resident>> samples = Resident::create(pool, frame.view, format);
  count(rows, samples.ok() ? pixels_there(pool, rows, samples->get()) : samples.status(),
        fmt::format("a frame, subsampling {}, siting {}, matrix {}, {} bits, {} range, transfer {}, {} between rows",
                    static_cast<int>(format.subsampling), static_cast<int>(format.siting),
                    static_cast<int>(format.matrix), format.depth, format.full_range ? "full" : "limited",
                    static_cast<int>(format.colour.transfer), gap),
        tally);
}

}  // namespace

Tally check_frame_pixels(const std::shared_ptr<Device>& device) {
  const std::shared_ptr<DevicePool> pool = DevicePool::of(device);
  constexpr WorkingSpace kSpaces[] = {{},
                                      {.srgb_curve = WorkingSpace::SrgbCurve::libjxl, .nits_of_one = 255},
                                      {.encoding = WorkingSpace::Encoding::srgb_codes}};
  constexpr Transfer kTransfers[] = {Transfer::bt1886, Transfer::srgb, Transfer::pq, Transfer::hlg, Transfer::gamma};
  Tally tally;
  size_t number = 0;
  for (const Subsampling subsampling :
       {Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444, Subsampling::grey}) {
    for (const Siting siting : {Siting::left, Siting::centre, Siting::top_left}) {
      for (int depth = 8; depth <= 16; ++depth) {
        for (int matrix = 0; matrix < 5; ++matrix, ++number) {
          FrameFormat format{{kWidth, kHeight, depth, subsampling}};
          format.siting = siting;
          format.matrix = static_cast<Matrix>(matrix);
          format.full_range = number % 2 == 1;  // five is odd: each matrix has both
          format.colour.transfer = kTransfers[number / 2 % 5];
          format.colour.primaries = number % 7 == 0 ? Primaries::bt2020 : Primaries::bt709;
          compare_frame(pool, format, kSpaces[number % 3], number % 4 == 0 ? 0 : static_cast<int>(number % 11),
                        number % 13 == 0, tally);
        }
      }
    }
  }
  return tally;
}

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
