// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/pipeline_file.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

namespace acuity {
namespace {

// Drivers trust what they are given, so damage must be noticed here.
struct Header {
  std::array<char, 8> magic = {'a', 'c', 'u', 'i', 't', 'y', 'v', '1'};
  uint64_t bytes = 0;
  uint64_t sum = 0;
  bool operator==(const Header&) const = default;
};

constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // kernels of versions long gone stay in it

// FNV-1a.
uint64_t sum_of(std::span<const std::byte> data) {
  uint64_t sum = 0xCBF29CE484222325u;
  for (const std::byte value : data) sum = (sum ^ static_cast<uint64_t>(value)) * 0x100000001B3u;
  return sum;
}

Header header_of(std::span<const std::byte> data) { return {.bytes = data.size(), .sum = sum_of(data)}; }

std::filesystem::path folder() {
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && caches[0] == '/') return std::filesystem::path(caches) / "acuity";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::filesystem::path(home) / ".cache" / "acuity";
  return {};
}

}  // namespace

PipelineFile::PipelineFile(const std::string& key) {
  const std::filesystem::path where = folder();
  if (!where.empty()) path_ = where / ("vulkan-" + key + ".pipelines");
}

std::vector<std::byte> PipelineFile::load() const {
  std::ifstream file;
  if (!path_.empty()) file.open(path_, std::ios::binary);
  Header header;
  if (!file.is_open() || !file.read(reinterpret_cast<char*>(&header), sizeof(header))) return {};
  if (header.magic != Header().magic || header.bytes > kMostBytes) return {};
  std::vector<std::byte> data(header.bytes);
  if (!file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()))) return {};
  if (file.peek() != std::ifstream::traits_type::eof() || header != header_of(data)) return {};
  return data;
}

void PipelineFile::save(std::span<const std::byte> data) const {
  if (path_.empty()) return;
  std::error_code error;
  if (data.size() > kMostBytes) {
    std::filesystem::remove(path_, error);
    return;
  }
  std::filesystem::create_directories(path_.parent_path(), error);
  // Another process may write the same at this moment.
  std::string part = path_.string() + ".XXXXXX";
  const int descriptor = mkstemp(part.data());
  if (descriptor < 0) return;
  close(descriptor);
  const Header header = header_of(data);
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.close();
  if (file) std::filesystem::rename(part, path_, error);
  if (!file || error) std::filesystem::remove(part, error);
}

}  // namespace acuity
