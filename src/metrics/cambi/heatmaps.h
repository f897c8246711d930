// SPDX-License-Identifier: BSD-2-Clause-Patent
// Maps of where contrasts are, one file per scale: 16-bit samples without a header, frame after frame.
#ifndef ACUITY_METRICS_CAMBI_HEATMAPS_H
#define ACUITY_METRICS_CAMBI_HEATMAPS_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "acuity/status.h"

namespace acuity::cambi {

inline constexpr int kScales = 5;

class Heatmaps {
 public:
  /// Makes the folder and the files, which are named after that size and its halves. Files that exist keep their
  /// contents until something is written, so that a run that is refused costs no maps.
  static Result<std::unique_ptr<Heatmaps>> create(const std::string& folder, int width, int height);

  /// Consecutive samples of a frame; those below 0 do not count and become 0. `scale_to_16_bits` takes the largest
  /// contrast there can be to 65535. Any thread may call it.
  Status write(int scale, int64_t first_sample, std::span<const float> contrasts, double scale_to_16_bits);
  /// So that readers find what was written.
  Status flush(int scale);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Map {
    std::string path;
    std::unique_ptr<std::FILE, Close> file;
    std::mutex mutex;
    bool is_begun = false;  // what was in the file before is gone
  };
  std::array<Map, kScales> maps_;
};

}  // namespace acuity::cambi

#endif
