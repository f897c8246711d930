// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores one picture against another by the shortest way: both are read while a GPU is opened.
#ifndef ACUITY_CLI_PICTURE_PAIR_H
#define ACUITY_CLI_PICTURE_PAIR_H

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "acuity/picture.h"
#include "cli/pairs.h"

namespace acuity::cli {

/// A picture, or why it could not be read.
struct ReadPicture {
  Result<Picture> picture = Status();
  FileFacts facts;
};

/// Pictures that are read while other things are done.
struct ReadAhead {
  std::future<ReadPicture> reference;
  std::future<ReadPicture> distorted;
};

/// Begins to read both pictures of a job that has one pair. Null unless both are files: what comes through a pipe is
/// read when it is needed.
std::shared_ptr<ReadAhead> read_ahead(const ScoreJob& job);

/// `job` has one distorted picture. `progress` is called with what comes next, in words.
PairResult score_pictures(const ScoreJob& job, const std::function<void(const std::string&)>& progress);

}  // namespace acuity::cli

#endif
