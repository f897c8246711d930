// SPDX-License-Identifier: BSD-2-Clause-Patent
// Keeping libraries quiet that offer no way to ask for it.
#ifndef ACUITY_MEDIA_QUIET_H
#define ACUITY_MEDIA_QUIET_H

namespace acuity {

/// While one of these exists, what the process prints to the C stream `stderr` is dropped.
///
/// libjxl, as some distributions build it, and dav1d, as libavif sets it up, comment on damaged files there in several
/// lines of their own. The file descriptor is left alone, so children and direct writes are not touched; another
/// thread's message could be lost while such a file is being decoded. Does nothing where `stderr` cannot be assigned.
class QuietStderr {
 public:
  QuietStderr();
  ~QuietStderr();
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;
};

}  // namespace acuity

#endif
