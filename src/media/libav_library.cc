// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/libav_library.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "media/libav_complaints.h"

namespace acuity {
namespace {

// The versions whose headers this was compiled with: others lay out their structures differently.
std::string file_name(const std::string& library) {
  const std::map<std::string, int> versions = {{"avformat", LIBAVFORMAT_VERSION_MAJOR},
                                               {"avcodec", LIBAVCODEC_VERSION_MAJOR},
                                               {"avutil", LIBAVUTIL_VERSION_MAJOR},
                                               {"swscale", LIBSWSCALE_VERSION_MAJOR}};
  return fmt::format("lib{}.so.{}", library, versions.at(library));
}

Status load(Libav& functions) {
  std::map<std::string, void*> libraries;
  const auto find = [&](const std::string& library, const char* function, void** target) {
    void*& handle = libraries[library];
    if (handle == nullptr) handle = dlopen(file_name(library).c_str(), RTLD_NOW | RTLD_LOCAL);
    *target = handle == nullptr ? nullptr : dlsym(handle, function);
    if (*target != nullptr) return Status();
    const char* reason = dlerror();
    return Status(StatusCode::input,
                  fmt::format("this file needs {}, which cannot be loaded ({}); install the packages of FFmpeg, or "
                              "convert the file to YUV4MPEG2",
                              file_name(library), reason == nullptr ? function : reason));
  };
#define ACUITY_FIND(library, function)                                                                      \
  if (Status found = find(#library, #function, reinterpret_cast<void**>(&functions.function)); !found.ok()) \
    return found;
  ACUITY_LIBAV_FUNCTIONS(ACUITY_FIND)
#undef ACUITY_FIND
  return {};
}

}  // namespace

Result<const Libav*> libav() {
  static Libav functions;
  static const Status status = load(functions);  // once, and never unloaded
  static std::once_flag quiet;
  if (status.ok()) std::call_once(quiet, [] { functions.av_log_set_callback(hear_complaint); });
  if (!status.ok()) return status;
  return &functions;
}

}  // namespace acuity
