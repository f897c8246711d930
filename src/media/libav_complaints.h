// SPDX-License-Identifier: BSD-2-Clause-Patent
// libav prints what goes wrong and goes on. Here nothing is printed, and what a decoder says is kept.
#ifndef ACUITY_MEDIA_LIBAV_COMPLAINTS_H
#define ACUITY_MEDIA_LIBAV_COMPLAINTS_H

#include <mutex>
#include <string>

#include "media/libav_library.h"

namespace acuity {

/// What a decoder complained of; several threads of it may. It hangs on the decoder's `opaque`.
class Complaints {
 public:
  void hear(std::string text);
  /// The first one; empty where there was none.
  std::string first();

 private:
  std::mutex mutex_;
  std::string first_;
};

/// libav(), which from then on prints nothing.
Result<const Libav*> quiet_libav();

/// What an error number of libav means.
std::string libav_error(const Libav& libav, int error);

}  // namespace acuity

#endif
