// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether the files of a row are videos, which only their first bytes tell. Threads ask before they load a row.
#ifndef ACUITY_SCHEDULE_FILE_KINDS_H
#define ACUITY_SCHEDULE_FILE_KINDS_H

#include <map>
#include <mutex>
#include <string>

#include "acuity/picture.h"
#include "schedule/reference_cache.h"
#include "schedule/row.h"

namespace acuity {

class FileKinds {
 public:
  explicit FileKinds(const PictureLimits& limits) : limits_(limits) {}

  /// As 'acuity score' decides: one of the two is a video, or both hold several pictures and none was chosen.
  bool are_videos(Row& row);

 private:
  enum class Kind { video, several_pictures };
  bool is(Kind kind, const std::string& file) const;
  bool reference_is(Kind kind, Row& row);

  const PictureLimits limits_;
  std::mutex mutex_;
  // Most rows share theirs with others. A process that stays may see a file change.
  std::map<std::pair<Kind, std::string>, std::pair<FileStamp, bool>> references_;
};

}  // namespace acuity

#endif
