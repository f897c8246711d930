// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/heatmaps.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace acuity::cambi {
namespace {

Status cannot(const char* what, const std::string& path, const std::string& why) {
  return Status(StatusCode::input, fmt::format("cannot {} {}: {}; give another heatmaps_path", what, path, why));
}

}  // namespace

Result<std::unique_ptr<Heatmaps>> Heatmaps::create(const std::string& folder, int width, int height) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return cannot("make the folder", folder, error.message());
  auto heatmaps = std::make_unique<Heatmaps>();
  for (int scale = 0; scale < kScales; ++scale) {
    Map& map = heatmaps->maps_[static_cast<size_t>(scale)];
    map.path = fmt::format("{}/cambi_heatmap_scale_{}_{}x{}_16b.gray", folder, scale, width, height);
    const int descriptor = ::open(map.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return cannot("write", map.path, std::strerror(errno));
    map.file.reset(fdopen(descriptor, "wb"));
    if (!map.file) {
      ::close(descriptor);
      return cannot("write", map.path, std::strerror(ENOMEM));
    }
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  return heatmaps;
}

Status Heatmaps::write(int scale, int64_t first_sample, std::span<const float> contrasts, double scale_to_16_bits) {
  std::vector<uint16_t> samples(contrasts.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const double contrast = std::max(contrasts[i], 0.0f);
    samples[i] = static_cast<uint16_t>(std::min(scale_to_16_bits * contrast, 65535.0));
  }
  Map& map = maps_[static_cast<size_t>(scale)];
  const std::lock_guard<std::mutex> lock(map.mutex);
  if (!map.is_begun && ftruncate(fileno(map.file.get()), 0) != 0) {
    return cannot("write", map.path, std::strerror(errno));
  }
  map.is_begun = true;
  const bool written = fseeko(map.file.get(), first_sample * 2, SEEK_SET) == 0 &&
                       std::fwrite(samples.data(), 2, samples.size(), map.file.get()) == samples.size();
  return written ? Status() : cannot("write", map.path, std::strerror(errno));
}

Status Heatmaps::flush(int scale) {
  Map& map = maps_[static_cast<size_t>(scale)];
  const std::lock_guard<std::mutex> lock(map.mutex);
  return std::fflush(map.file.get()) == 0 ? Status() : cannot("write", map.path, std::strerror(errno));
}

}  // namespace acuity::cambi
