// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads and decodes the pictures of rows, within the memory that is counted for them.
#ifndef ACUITY_SCHEDULE_LOADER_H
#define ACUITY_SCHEDULE_LOADER_H

#include <atomic>
#include <cstdint>
#include <string>

#include "base/threads.h"
#include "media/decoder.h"
#include "media/file.h"
#include "schedule/ledger.h"
#include "schedule/plans.h"
#include "schedule/reference_cache.h"
#include "schedule/results.h"
#include "schedule/row.h"

namespace acuity {

class Loader {
 public:
  struct Parts {
    const SchedulerOptions& options;
    const PairRules& rules;
    const std::vector<Place>& places;
    Ledger& ledger;
    Plans& plans;
    ReferenceCache& references;
    Counts& counts;
  };
  explicit Loader(const Parts& parts) : parts_(parts) {}

  /// Fails if another row is stuck at the same reference.
  Status check_reference(Row& row) const;
  /// Gives the row its pictures, or fails. What it holds of the memory afterwards is enough to score it.
  Status load(Row& row);

 private:
  // A picture that is in its file.
  struct Encoded {
    std::string name;
    FileBytes file;  // read
    std::span<const uint8_t> bytes{};
    DecodedSize asked{};  // for decoding; the size of pixels that were given
    int64_t kept = 0;     // of the memory, once decoded
  };
  enum class Loaded { yes, needs_more };  // of the memory than is held: row.needs_bytes

  Result<Loaded> load_within(Row& row);
  Status read(const TaskPicture& picture, std::FILE* file, Encoded& encoded) const;
  Result<ReferenceKey> find_reference(Row& row, Encoded& encoded) const;
  Status look_at(const TaskPicture& picture, Encoded& encoded) const;
  Result<Picture> decode(const TaskPicture& picture, Encoded& encoded, bool is_reference, PictureFacts& facts) const;
  Status load_reference(Row& row, Encoded& encoded, CachedReference& reference) const;
  Result<int64_t> scoring_bytes(const Row& row, int64_t width, int64_t height, int64_t pictures) const;
  Status fit(Row& row, Picture distorted);
  Status scale(Row& row, Picture& distorted);
  Status settle(Row& row, Picture& distorted) const;

  const Parts parts_;
  const Threads one_thread_{1};
  std::atomic<int64_t> usual_bytes_ = 0;  // of a row besides its files
};

}  // namespace acuity

#endif
