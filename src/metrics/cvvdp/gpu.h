// SPDX-License-Identifier: BSD-2-Clause-Patent
// Still pictures on a GPU, whichever: from samples to what is seen in each subband.
#ifndef ACUITY_METRICS_CVVDP_GPU_H
#define ACUITY_METRICS_CVVDP_GPU_H

#include <array>
#include <memory>
#include <vector>

#include "engine/metric.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"

namespace acuity::cvvdp {

/// A picture on a display.
struct ShownPicture {
  Input input;
  Rows rows;  // samples as they are, from 0 to 1 unless they are floats
  Photometry photometry;
  std::array<float, 9> matrix;                      // from light to channels
  std::shared_ptr<const std::vector<float>> table;  // the light of all codes of a depth
  bool all_in_table;                                // there are no other samples
};

/// Pictures on a device, and where kernels find and leave things there. Arrays are those of metrics/cvvdp/kernels.h.
struct StillWork {
  struct Samples {
    uint64_t address = 0;
    int format = 0;
    int table = 0;  // in the constants
    int table_last = 0;
    int ring = 0;  // rows
    bool operator==(const Samples&) const = default;
  };
  int width = 0, height = 0;
  int subbands = 0;      // without the base
  int samples_step = 0;  // from row to row
  int eotf = 0;
  std::array<Samples, 2> samples{};
  uint64_t constants = 0, sensitivities = 0, planes = 0, sums = 0;
  uint64_t squares = 0;  // of small pictures, which are compared by more groups than can add up what they see; or 0
};

/// Loads the kernels that the two below need for so many subbands.
Status prepare_still_kernels(Device& device, int subbands);
/// What rows y .. y_end - 1 of both pictures complete of all scales, and then of all subbands. The planes end with the
/// base.
Status build_band(Queue& queue, const StillWork& work, int y, int y_end);
Status compare_band(Queue& queue, const StillWork& work, int y, int y_end);
/// For kernels that make the second scale.
int rows_of_group(int width, int height);
/// For pictures that are light already, in planes of channels: StillWork::Samples::format, and the constants.
int format_of_channels();
std::vector<float> constants_of_channels();

class GpuRunner {
 public:
  static Result<std::unique_ptr<GpuRunner>> create(const Metric::Setup& setup, const std::vector<Scale>& scales);
  virtual ~GpuRunner() = default;

  virtual size_t bytes() const = 0;
  /// The samples of a reference, on the device. Making light of them again costs less than the memory to keep it would.
  virtual Result<Input> keep(const ShownPicture& reference) = 0;
  virtual Result<Differences> run(const ShownPicture& reference, const ShownPicture& distorted) = 0;
};

}  // namespace acuity::cvvdp

#endif
