// SPDX-License-Identifier: BSD-2-Clause-Patent
// libav prints what goes wrong and goes on. Here nothing is printed, and what a decoder or a container says is kept.
#ifndef ACUITY_MEDIA_LIBAV_COMPLAINTS_H
#define ACUITY_MEDIA_LIBAV_COMPLAINTS_H

#include <cstdarg>
#include <mutex>
#include <string>

#include "media/libav_library.h"

namespace acuity {

/// What a decoder complained of; several threads of it may. It hangs on the decoder's `opaque`, or that of a container.
class Complaints {
 public:
  void hear(std::string text);
  /// From now on this is no complaint.
  void ignore(std::string text);
  /// The first one; empty where there was none.
  std::string first();
  /// Whether the first one is that memory ran out.
  bool is_of_memory();

 private:
  std::mutex mutex_;
  std::string first_;
  std::string ignored_;
};

/// What libav() has libav call in place of printing.
void hear_complaint(void* speaker, int level, const char* format, va_list arguments);

/// What an error number of libav means.
std::string libav_error(const Libav& libav, int error);

}  // namespace acuity

#endif
