// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/libav_complaints.h"

#include <cstdio>

namespace acuity {
namespace {

std::string line_of(const char* format, va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string text(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

void Complaints::hear(std::string text) {
  const std::lock_guard lock(mutex_);
  if (first_.empty() && text != ignored_) first_ = std::move(text);
}

void Complaints::ignore(std::string text) {
  const std::lock_guard lock(mutex_);
  ignored_ = std::move(text);
}

std::string Complaints::first() {
  const std::lock_guard lock(mutex_);
  return first_;
}

bool Complaints::is_of_memory() {
  const std::string text = first();
  return text.ends_with("get_buffer() failed") || text.find("alloc") != std::string::npos;
}

void hear_complaint(void* speaker, int level, const char* format, va_list arguments) {
  const Result<const Libav*> functions = libav();
  if (speaker == nullptr || level > AV_LOG_ERROR || !functions.ok()) return;
  const AVClass* kind = *static_cast<const AVClass**>(speaker);
  const bool is_container = kind == (*functions)->avformat_get_class();
  if (!is_container && kind != (*functions)->avcodec_get_class()) return;
  auto* complaints = static_cast<Complaints*>(is_container ? static_cast<AVFormatContext*>(speaker)->opaque
                                                           : static_cast<AVCodecContext*>(speaker)->opaque);
  if (complaints == nullptr) return;
  std::string line = line_of(format, arguments);
  // Of what containers say much is harmless, and most else they return as an error.
  if (!is_container || line.find("ended prematurely") != std::string::npos) complaints->hear(std::move(line));
}

std::string libav_error(const Libav& libav, int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  libav.av_strerror(error, text, sizeof text);
  return text;
}

}  // namespace acuity
