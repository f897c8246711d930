// SPDX-License-Identifier: BSD-2-Clause-Patent
// CSV by RFC 4180, and the same with tabs: fields may be in quotes, lines may end in LF or CRLF.
#ifndef ACUITY_CLI_TABLE_READER_H
#define ACUITY_CLI_TABLE_READER_H

#include <cstdint>
#include <string>
#include <vector>

#include "acuity/status.h"
#include "cli/byte_reader.h"

namespace acuity::cli {

/// The most bytes that one row of a list may have: what a file of something else can cost before it is refused.
inline constexpr size_t kMostRowBytes = size_t{1} << 20;
/// A row of results has all of a row of the list, which quotes and escapes make longer, and more.
inline constexpr size_t kMostResultBytes = 16 * kMostRowBytes;

class TableReader {
 public:
  TableReader(ByteReader& bytes, char separator, size_t most_row_bytes = kMostRowBytes)
      : bytes_(bytes), separator_(separator), most_row_bytes_(most_row_bytes) {}

  /// Reads the next row that is not blank. False at the end.
  Result<bool> next(std::vector<std::string>& fields);
  /// The line where the last row began.
  int64_t line() const { return line_; }
  /// Whether the last row ended with a line end: a row that a process was killed in does not.
  bool ended() const { return ended_; }
  /// Whether a zero byte was the reason of a failure.
  bool found_zero() const { return found_zero_; }

 private:
  Status read_quoted(std::string& field);
  Status wrong(const std::string& what) const;
  Status zero_byte();

  ByteReader& bytes_;
  char separator_;
  size_t most_row_bytes_;
  int64_t line_ = 0;
  size_t row_bytes_ = 0;
  bool ended_ = false;
  bool found_zero_ = false;
};

/// A field as it is written: in quotes where it needs them.
std::string table_field(std::string_view text, char separator);

}  // namespace acuity::cli

#endif
