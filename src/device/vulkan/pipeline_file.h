// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compiled kernels kept between processes, in the user's folder for caches. Nothing depends on it: what cannot be read
// or written is as if it were not there.
#ifndef ACUITY_DEVICE_VULKAN_PIPELINE_FILE_H
#define ACUITY_DEVICE_VULKAN_PIPELINE_FILE_H

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace acuity {

/// A file for one device and one version of its driver: "vulkan-KEY.pipelines".
class PipelineFile {
 public:
  /// In acuity/ of XDG_CACHE_HOME or, where that is not an absolute path, of ~/.cache. Without either nothing is kept.
  explicit PipelineFile(const std::string& key);

  const std::filesystem::path& path() const { return path_; }
  /// Exactly what was saved last, or nothing.
  std::vector<std::byte> load() const;
  /// Replaces the file at once: whoever loads finds the old or the new one. More than 64 MiB remove it, so that the
  /// next process begins anew with the kernels it uses.
  void save(std::span<const std::byte> data) const;

 private:
  std::filesystem::path path_;
};

}  // namespace acuity

#endif
