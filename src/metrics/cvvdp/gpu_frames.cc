// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/gpu_frames.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "colour/yuv.h"
#include "device/table.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/cvvdp/gpu.h"
#include "metrics/cvvdp/gpu_results.h"
#include "metrics/cvvdp/reading.h"
#include "metrics/cvvdp/resize.h"
#include "metrics/cvvdp/screen.h"

namespace acuity {

extern const KernelFile cvvdp_frame_kernels;

namespace cvvdp {
namespace frame_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &cvvdp_frame_kernels;
#include "metrics/cvvdp/frame_kernels.h"

}  // namespace frame_kernels

namespace {

namespace kernels = frame_kernels;

// What show_frame is told of the frames of a video and of the display.
std::vector<float> frame_constants(const FrameFormat& format, bool clips, const Photometry& light,
                                   const std::vector<float>& table) {
  const YuvEquations yuv = reading_of(format, clips);
  std::vector<float> constants{
      yuv.luma_black,  yuv.luma_scale,     yuv.chroma_zero, yuv.chroma_scale, yuv.red_cr,          yuv.green_cb,
      yuv.green_cr,    yuv.blue_cb,        yuv.luma_share,  yuv.luma_least,   yuv.luma_most,       yuv.chroma_least,
      yuv.chroma_most, yuv.least,          yuv.most,        light.gamma(),    light.exposure(),    light.range(),
      light.black(),   light.reflection(), light.least(),   light.peak(),     light.hlg_exponent()};
  constants.insert(constants.end(), light.matrix().begin(), light.matrix().end());
  constants.insert(constants.end(), table.begin(), table.end());
  return constants;
}

// As show_resized wants it. Floats hold the numbers of samples exactly, which are below 2^24.
std::vector<float> axis_constants(std::string_view mode, int from, int to) {
  const ResizedAxis axis(mode, from, to);
  std::vector<float> constants;
  for (const size_t begin : axis.begins) constants.push_back(static_cast<float>(begin));
  for (const int index : axis.indices) constants.push_back(static_cast<float>(index));
  constants.insert(constants.end(), axis.weights.begin(), axis.weights.end());
  return constants;
}

class Worker final : public DeviceFeatureWorker {
 public:
  Worker(const FrameSetup& setup, FillNumbers fill)
      : setup_(setup), fill_(fill), results_(setup.scales, kChannels), still_results_(setup.scales, kStillChannels) {}

  Status prepare(Device& device) {
    ACUITY_TRY(check_size());
    for (const KernelInfo& kernel : {resizes() ? KernelInfo(kernels::show_resized) : KernelInfo(kernels::show_frame),
                                     KernelInfo(kernels::filter_frames), KernelInfo(kernels::reduce_frames),
                                     KernelInfo(kernels::reduce_frame_scale), KernelInfo(kernels::compare_frames),
                                     KernelInfo(kernels::keep_base)}) {
      ACUITY_TRY(device.prepare(kernel));
    }
    ACUITY_TRY(prepare_still_kernels(device, subbands()));
    std::vector<float> constants;
    const auto place = [&](const std::vector<float>& more) {
      const size_t offset = constants.size() * sizeof(float);
      constants.insert(constants.end(), more.begin(), more.end());
      constants.resize(round_up(constants.size(), 64));
      return offset;
    };
    for (size_t role = 0; role < 2; ++role) {
      const FrameFormat& format = setup_.formats[role];
      frame_constants_[role] =
          place(frame_constants(format, !resizes() || setup_.clips_first, setup_.photometry, setup_.tables[role]));
      if (!resizes()) continue;
      columns_[role] = place(axis_constants(setup_.resizing, format.width, width()));
      rows_[role] = place(axis_constants(setup_.resizing, format.height, height()));
    }
    std::vector<float> weights;
    for (const std::vector<float>& filter : setup_.filters) {
      weights.insert(weights.end(), filter.begin(), filter.end());
    }
    weights_ = place(weights);
    sensitivities_ = place(sensitivity_fours(setup_.scales, kChannels));
    still_sensitivities_ = place(sensitivity_fours(setup_.scales, kStillChannels));
    still_constants_ = place(constants_of_channels());
    ACUITY_TRY_ASSIGN(tables_, send_table(device, std::as_bytes(std::span(constants))));
    return {};
  }

  size_t bytes() const override { return tables_->size(); }
  size_t scratch_bytes() const override {
    return (planes_before_base(setup_.scales, kChannels) + results_.base_floats()) * sizeof(float);
  }
  size_t derived_bytes() const override { return round_up(2 * side_bytes(), 256); }
  size_t result_bytes() const override {
    return round_up(std::max(results_.floats(), still_results_.floats()) * sizeof(float), 8);
  }

  Status derive(Queue& queue, const std::array<const DeviceFrame*, 2>& frames, int depth, uint64_t to) override {
    for (size_t role = 0; role < 2; ++role) {
      const FrameFormat& format = setup_.formats[role];
      const DeviceFrame& frame = *frames[role];
      const bool grey = format.subsampling == Subsampling::grey;
      const int sample_bytes = depth == 8 ? 1 : 2;
      const DeviceArray<const unsigned char> luma{frame[0].address}, cb{frame[grey ? 0 : 1].address},
          cr{frame[grey ? 0 : 2].address};
      const DeviceArray<float> channels{to + role * side_bytes()};
      const int bits = depth == 8 ? 8 : 16, shift = format.depth - depth;
      const int luma_step = frame[0].row_bytes / sample_bytes;
      const int chroma_step = frame[grey ? 0 : 1].row_bytes / sample_bytes;
      const int chroma_width = grey ? 0 : format.plane_width(1), chroma_height = grey ? 0 : format.plane_height(1);
      const int across = grey ? PLACED_NONE : static_cast<int>(placement_across(format));
      const int down = static_cast<int>(placement_down(format)), eotf = static_cast<int>(setup_.photometry.eotf());
      const int groups_across = groups(width(), 32), groups_down = groups(height(), 8);
      const auto constants = table<const float>(frame_constants_[role]);
      const int table_last = std::max(static_cast<int>(setup_.tables[role].size()) - 1, 0);
      ACUITY_TRY(resizes() ? queue.run(kernels::show_resized, groups_across, groups_down, luma, cb, cr, constants,
                                       table<const float>(columns_[role]), table<const float>(rows_[role]), channels,
                                       bits, shift, luma_step, chroma_step, chroma_width, chroma_height, across, down,
                                       eotf, width(), height())
                           : queue.run(kernels::show_frame, groups_across, groups_down, luma, cb, cr, constants,
                                       channels, bits, shift, luma_step, chroma_step, chroma_width, chroma_height,
                                       across, down, eotf, table_last, width(), height()));
    }
    return {};
  }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    const DerivedRing& ring = window.derived;
    if (static_cast<uint64_t>(ring.slots) * derived_bytes() / sizeof(kernels::real4) >
        static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return Status(
          StatusCode::too_big,
          fmt::format("{} frames of {}x{}, which cvvdp looks at together, have more samples than kernels on a "
                      "device can number; use the device cpu",
                      ring.slots, width(), height()));
    }
    const auto shown = std::count_if(window.reference.begin(), window.reference.end(),
                                     [](const DeviceFrame* frame) { return frame != nullptr; });
    const int before = static_cast<int>(shown) - 1;
    const int turn = setup_.symmetric && before < taps() - 1 ? before + window.following : 0;
    is_still_ = window.index == 0 && window.following == 0;
    if (is_still_) return submit_still(queue, window, results);
    const uint64_t planes = window.scratch, sums = results + results_.base_floats() * sizeof(float);
    ACUITY_TRY(queue.run(kernels::filter_frames, groups(kernels::row_floats(width(), 0) / 4, 32),
                         2 * groups(height(), 8), DeviceArray<const kernels::real4>{ring.address},
                         table<const float>(weights_), DeviceArray<kernels::real4>{planes}, taps(), ring.slots,
                         static_cast<int>(derived_bytes() / sizeof(kernels::real4)), ring.newest, before, turn, width(),
                         height()));
    if (subbands() > 0) {
      const int rows_each = rows_of_group(width(), height());
      ACUITY_TRY(queue.run(kernels::reduce_frames, groups(kernels::scale_side(width(), 1), REDUCED_COLUMNS),
                           kernels::reduce_groups(0, height(), height(), rows_each), DeviceArray<float>{planes},
                           width(), height(), 0, height(), rows_each));
    }
    for (int s = 1; s < subbands(); ++s) {
      ACUITY_TRY(queue.run(kernels::reduce_frame_scale, groups(kernels::scale_side(width(), s + 1), 32),
                           kernels::reduce_kept_groups(0, height(), height(), s), DeviceArray<float>{planes}, width(),
                           height(), 0, height(), s));
    }
    int compared = 0;
    for (int s = 0; s < subbands(); ++s) compared += kernels::compare_groups(0, height(), height(), s);
    if (compared > 0) {
      ACUITY_TRY(queue.run(kernels::compare_frames, groups(width(), COMPARED_COLUMNS), compared,
                           table<const kernels::real4>(sensitivities_), DeviceArray<const float>{planes},
                           DeviceArray<float>{sums}, width(), height(), 0, height()));
    }
    return keep_base(queue, planes, planes_before_base(setup_.scales, kChannels), results_, results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    const auto* found = reinterpret_cast<const float*>(results.data());
    fill_((is_still_ ? still_results_ : results_).differences(found), numbers);
    return {};
  }

 private:
  int width() const { return setup_.scales[0].size.width; }
  int height() const { return setup_.scales[0].size.height; }
  int taps() const { return static_cast<int>(setup_.filters[0].size()); }
  bool resizes() const { return setup_.resizing != kNoResizing; }
  int subbands() const { return static_cast<int>(setup_.scales.size()) - 1; }
  // Of the channels of one frame.
  size_t side_bytes() const {
    return kStillChannels * round_up(static_cast<size_t>(width()), 4) * static_cast<size_t>(height()) * sizeof(float);
  }
  template <typename T>
  DeviceArray<T> table(size_t offset) const {
    return {tables_->address() + offset};
  }

  // Of the display that frames are scaled to; that of the frames themselves was checked.
  Status check_size() const {
    constexpr int64_t kMostPixels = int64_t{1} << 27;
    if (int64_t{width()} * height() < kMostPixels) return {};
    return Status(StatusCode::too_big, fmt::format("the display has {}x{} pixels, more than kernels on a device can "
                                                   "number; use the device cpu",
                                                   width(), height()));
  }

  static Status keep_base(Queue& queue, uint64_t planes, size_t before, const DeviceResults& results, uint64_t to) {
    const int count = static_cast<int>(results.base_floats());
    return queue.run(kernels::keep_base, groups(count, KEPT_BY_GROUP), 1, DeviceArray<const float>{planes},
                     DeviceArray<float>{to}, static_cast<int>(before), count);
  }

  // The video's only frame.
  Status submit_still(Queue& queue, const DeviceWindow& window, uint64_t results) {
    StillWork work;
    work.width = width();
    work.height = height();
    work.subbands = subbands();
    work.samples_step = kernels::row_floats(width(), 0);
    work.constants = tables_->address() + still_constants_;
    work.sensitivities = tables_->address() + still_sensitivities_;
    work.planes = window.scratch;
    work.sums = results + still_results_.base_floats() * sizeof(float);
    for (size_t role = 0; role < 2; ++role) {
      work.samples[role].address =
          window.derived.address + static_cast<uint64_t>(window.derived.newest) * derived_bytes() + role * side_bytes();
      work.samples[role].format = format_of_channels();
      work.samples[role].ring = height();
    }
    ACUITY_TRY(build_band(queue, work, 0, height()));
    ACUITY_TRY(compare_band(queue, work, 0, height()));
    return keep_base(queue, work.planes, planes_before_base(setup_.scales, kStillChannels), still_results_, results);
  }

  const FrameSetup setup_;
  const FillNumbers fill_;
  const DeviceResults results_, still_results_;
  std::unique_ptr<DeviceMemory> tables_;
  std::array<size_t, 2> frame_constants_{}, columns_{}, rows_{};  // offsets, by Role
  size_t weights_ = 0, sensitivities_ = 0, still_sensitivities_ = 0, still_constants_ = 0;
  bool is_still_ = false;  // the frame in flight
};

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const FrameSetup& setup,
                                                                  FillNumbers fill) {
  auto worker = std::make_unique<Worker>(setup, std::move(fill));
  ACUITY_TRY(worker->prepare(device));
  return std::unique_ptr<DeviceFeatureWorker>(std::move(worker));
}

}  // namespace cvvdp
}  // namespace acuity
