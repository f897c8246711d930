// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/picture_size.h"

#include <utility>
#include <vector>

#include "base/try.h"
#include "media/decoder.h"
#include "media/file.h"

namespace acuity {
namespace {

// A decoder that may use no memory at all is refused, and has stated the size then.
Result<Picture> try_decode(Bytes bytes, std::string_view name, const PictureLimits& limits,
                           std::optional<int64_t> frame, DecodedSize& asked) {
  PictureLimits nothing = limits;
  nothing.maximum_decoded_bytes = 0;
  return decode_encoded({bytes, name, nothing, nullptr, &asked}, frame);
}

}  // namespace

Result<PictureSize> picture_size(const std::string& path, const PictureLimits& limits, std::optional<int64_t> frame) {
  const std::string name = name_of_file(path);
  File file;
  ACUITY_TRY_ASSIGN(file, open_file(path));
  // Most formats state it at their beginning.
  DecodedSize asked;
  const std::vector<uint8_t> beginning = peek(file.get());
  std::string format(picture_format(beginning));
  if (!format.empty()) (void)try_decode(beginning, name, limits, frame, asked);
  if (asked.bytes == 0) {
    FileBytes all;
    ACUITY_TRY_ASSIGN(all, read_picture_file(file.get(), name, limits));
    const Result<Picture> picture = try_decode(all.bytes, name, limits, frame, asked);
    if (picture.ok()) return PictureSize{picture->view.width, picture->view.height, std::move(format)};
    if (asked.bytes == 0) return picture.status();
  }
  return PictureSize{static_cast<int>(asked.width), static_cast<int>(asked.height), std::move(format)};
}

std::string format_of_file(const std::string& path) {
  const Result<File> file = open_file(path);
  return file.ok() ? std::string(picture_format(peek(file->get()))) : "";
}

}  // namespace acuity
