// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bytes of a file, a pipe or memory, in order, a block at a time: lists of any length need no more memory than that.
#ifndef ACUITY_CLI_BYTE_READER_H
#define ACUITY_CLI_BYTE_READER_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "acuity/status.h"

namespace acuity::cli {

class ByteReader {
 public:
  /// Reads a descriptor that stays open as long as this, from where it stands. `name` is for messages.
  ByteReader(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  /// Reads text in memory.
  ByteReader(std::string text, std::string name) : name_(std::move(name)), block_(std::move(text)) {}

  /// The next byte, which stays; -1 at the end, or where reading failed: see status().
  int peek() {
    if (place_ == block_.size() && !fill()) return -1;
    return static_cast<unsigned char>(block_[place_]);
  }
  /// The next byte.
  int get() {
    const int byte = peek();
    if (byte < 0) return byte;
    ++place_;
    ++offset_;
    if (byte == '\n') ++line_;
    return byte;
  }
  /// Up to so many of the next bytes, which stay. Fewer at the end.
  std::string_view look(size_t count);
  /// The next bytes up to a line end, at most so many, which stay.
  std::string_view look_at_line(size_t most);

  /// Called now and then while there is nothing to read yet; reading ends where it returns false.
  void when_waiting(std::function<bool()> call) { waiting_ = std::move(call); }

  /// How many bytes were read.
  int64_t offset() const { return offset_; }
  /// The number of the line that the next byte is in, from 1.
  int64_t line() const { return line_; }
  const std::string& name() const { return name_; }
  /// Why reading stopped, where it was not the end.
  const Status& status() const { return status_; }

 private:
  bool fill();
  bool wait();

  int descriptor_ = -1;  // -1: all is in the block
  std::string name_;
  std::string block_;
  size_t place_ = 0;
  int64_t offset_ = 0;
  int64_t line_ = 1;
  std::function<bool()> waiting_;
  Status status_;
};

}  // namespace acuity::cli

#endif
