// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/table_reader.h"

#include <array>

#include <fmt/format.h>

#include "base/try.h"

namespace acuity::cli {

Status TableReader::wrong(const std::string& what) const {
  return Status(StatusCode::input, fmt::format("{}, line {}: {}", bytes_.name(), line_, what));
}

Status TableReader::zero_byte() {
  found_zero_ = true;
  return wrong("found a zero byte; expected text in UTF-8");
}

// Behind the opening quote, to behind the closing one.
Status TableReader::read_quoted(std::string& field) {
  for (;;) {
    const int byte = bytes_.get();
    if (byte < 0) {
      ACUITY_TRY(bytes_.status());
      return wrong("a field in quotes does not end; close it with \", and write \"\" for a quote inside it");
    }
    if (++row_bytes_ > most_row_bytes_) {
      return wrong(fmt::format("a field in quotes does not end within {} bytes; is a \" missing?", most_row_bytes_));
    }
    if (byte == '\0') return zero_byte();
    if (byte != '"') {
      field += static_cast<char>(byte);
    } else if (bytes_.peek() == '"') {
      field += static_cast<char>(bytes_.get());
    } else {
      return {};
    }
  }
}

Result<bool> TableReader::next(std::vector<std::string>& fields) {
  ended_ = false;
  while (bytes_.peek() == '\n' || bytes_.look(2) == "\r\n") bytes_.get();
  line_ = bytes_.line();
  row_bytes_ = 0;
  fields.clear();
  if (bytes_.peek() < 0) {
    ACUITY_TRY(bytes_.status());
    return false;
  }
  fields.emplace_back();
  bool quoted = false;  // the field was in quotes, and they are closed
  for (;;) {
    const int byte = bytes_.get();
    if (byte < 0) {
      ACUITY_TRY(bytes_.status());
      return true;
    }
    if (byte == '\n' || (byte == '\r' && bytes_.peek() == '\n')) {
      if (byte == '\r') bytes_.get();
      ended_ = true;
      return true;
    }
    if (++row_bytes_ > most_row_bytes_) return wrong(fmt::format("the row has more than {} bytes", most_row_bytes_));
    if (byte == '\0') return zero_byte();
    if (byte == separator_) {
      fields.emplace_back();
      quoted = false;
    } else if (quoted) {
      return wrong(fmt::format("found text behind the closing quote of field {}; write \"\" for a quote inside it",
                               fields.size()));
    } else if (byte == '"' && fields.back().empty()) {
      ACUITY_TRY(read_quoted(fields.back()));
      quoted = true;
    } else {
      fields.back() += static_cast<char>(byte);
    }
  }
}

std::string table_field(std::string_view text, char separator) {
  const std::array<char, 4> special{separator, '"', '\r', '\n'};
  if (text.find_first_of(std::string_view(special.data(), special.size())) == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace acuity::cli
