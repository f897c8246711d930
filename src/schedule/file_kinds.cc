// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/file_kinds.h"

#include <optional>
#include <utility>

#include "media/video.h"

namespace acuity {
namespace {

constexpr size_t kMostReferences = 4096;

}  // namespace

bool FileKinds::is(Kind kind, const std::string& file) const {
  return kind == Kind::video ? is_video(file) : holds_several_pictures(file, limits_);
}

bool FileKinds::reference_is(Kind kind, Row& row) {
  const std::string& file = row.task.reference.name;
  const std::pair key(kind, file);
  row.is_at_reference = true;
  const std::optional<FileStamp> stamp = stamp_of(file);
  row.is_at_reference = false;
  if (stamp) {
    const std::lock_guard lock(mutex_);
    const auto found = references_.find(key);
    if (found != references_.end() && found->second.first == *stamp) return found->second.second;
  }
  row.is_at_reference = true;
  const bool it_is = is(kind, file);
  row.is_at_reference = false;
  if (!stamp) return it_is;
  const std::lock_guard lock(mutex_);
  if (references_.size() >= kMostReferences) references_.clear();
  references_[key] = {*stamp, it_is};
  return it_is;
}

bool FileKinds::are_videos(Row& row) {
  const std::string& distorted = row.task.distorted.name;
  if (reference_is(Kind::video, row) || is(Kind::video, distorted)) return true;
  if (row.task.reference.frame || row.task.distorted.frame) return false;
  return reference_is(Kind::several_pictures, row) && is(Kind::several_pictures, distorted);
}

}  // namespace acuity
