// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/exr_header.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace acuity {
namespace {

constexpr size_t kStart = 8;             // behind the magic number and the version
constexpr uint8_t kSeveralParts = 0x10;  // in the second byte of the version
constexpr int kMostAttributes = 4096;    // pictures have a few dozen

constexpr size_t kAnySize = 0;
struct Known {
  std::string_view name;
  std::string_view type;
  size_t size;
};
constexpr Known kKnown[] = {
    {"channels", "chlist", kAnySize}, {"compression", "compression", 1},
    {"dataWindow", "box2i", 16},      {"displayWindow", "box2i", 16},
    {"lineOrder", "lineOrder", 1},    {"pixelAspectRatio", "float", 4},
    {"screenWindowCenter", "v2f", 8}, {"screenWindowWidth", "float", 4},
    {"tiles", "tiledesc", 9},         {"chromaticities", "chromaticities", 32},
    {"type", "string", kAnySize},     {"name", "string", kAnySize},
    {"chunkCount", "int", 4},
};

// Names, each with a terminating zero and 16 bytes behind it, and a zero at the end: nothing before and nothing after.
bool is_channel_list(Bytes bytes) {
  constexpr size_t kChannelBytes = 16;
  size_t place = 0;
  while (place < bytes.size() && bytes[place] != 0) {
    while (place < bytes.size() && bytes[place] != 0) ++place;
    place += 1 + kChannelBytes;
  }
  return place + 1 == bytes.size();
}

class Headers {
 public:
  explicit Headers(const EncodedFile& encoded) : encoded_(encoded), bytes_(encoded.bytes) {}

  Result<std::vector<uint8_t>> check() {
    const bool several_parts = (bytes_[5] & kSeveralParts) != 0;
    do {
      while (!ends()) {
        if (const Status status = check_attribute(); !status.ok()) return status;
      }
      ++place_;  // an empty name ends a header
    } while (several_parts && !ends());
    std::vector<uint8_t> headers(bytes_.begin(),
                                 bytes_.begin() + static_cast<ptrdiff_t>(std::min(place_, bytes_.size())));
    for (const auto& [begin, size] : hidden_) std::fill_n(headers.begin() + begin, size, uint8_t{'x'});
    return headers;
  }

 private:
  bool ends() const { return place_ >= bytes_.size() || bytes_[place_] == 0; }

  std::string_view text() {
    const size_t begin = place_;
    while (!ends()) ++place_;
    const std::string_view found(reinterpret_cast<const char*>(bytes_.data()) + begin, place_ - begin);
    ++place_;
    return found;
  }

  Status check_attribute() {
    const std::string_view name = text();
    const auto type_begin = static_cast<ptrdiff_t>(place_);
    const std::string_view type = text();
    if (place_ + 4 > bytes_.size()) return damaged(encoded_, "OpenEXR", "it ends too early");
    uint32_t size = 0;
    for (size_t i = 0; i < 4; ++i) size |= uint32_t{bytes_[place_ + i]} << (8 * i);
    place_ += 4;
    if (size > bytes_.size() - place_) {
      return damaged(encoded_, "OpenEXR",
                     fmt::format("an attribute of its header has {} bytes, and the file ends after {}", size,
                                 bytes_.size() - place_));
    }
    if (++attributes_ > kMostAttributes) {
      return damaged(encoded_, "OpenEXR", fmt::format("its header has more than {} attributes", kMostAttributes));
    }
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const Known& one) { return one.name == name && one.type == type; });
    if (known == std::end(kKnown)) {
      hidden_.emplace_back(type_begin, type.size());
    } else if ((known->size != kAnySize && size != known->size) ||
               (known->type == "chlist" && !is_channel_list(bytes_.subspan(place_, size)))) {
      return damaged(encoded_, "OpenEXR", fmt::format("its attribute {} has an invalid size of {} bytes", name, size));
    }
    place_ += size;
    return {};
  }

  const EncodedFile& encoded_;
  Bytes bytes_;
  std::vector<std::pair<ptrdiff_t, size_t>> hidden_;  // types, where they begin and how long they are
  size_t place_ = kStart;
  int attributes_ = 0;
};

}  // namespace

Result<std::vector<uint8_t>> checked_exr_headers(const EncodedFile& encoded) {
  if (encoded.bytes.size() <= kStart) return damaged(encoded, "OpenEXR", "it ends too early");
  return Headers(encoded).check();
}

}  // namespace acuity
