// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/json_row.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/try.h"

namespace acuity::cli {
namespace {

Status wrong(std::string message) { return Status(StatusCode::input, std::move(message)); }

std::string shortened(std::string_view text) {
  constexpr size_t kShown = 60;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

// Walks over JSON that is known to be valid.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at(char c) const { return place_ < text_.size() && text_[place_] == c; }
  void skip_blanks() {
    while (place_ < text_.size() && std::string_view(" \t\r\n").find(text_[place_]) != std::string_view::npos) ++place_;
  }
  void skip(char c) {
    skip_blanks();
    if (at(c)) ++place_;
    skip_blanks();
  }

  std::string_view value() {
    const size_t begin = place_;
    int depth = 0;
    while (place_ < text_.size()) {
      const char c = text_[place_];
      if (c == '"') {
        skip_string();
        if (depth == 0) break;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++place_;
      if (depth == 0 && (c == '}' || c == ']')) break;
    }
    size_t end = place_;
    while (end > begin && std::string_view(" \t\r\n").find(text_[end - 1]) != std::string_view::npos) --end;
    return text_.substr(begin, end - begin);
  }

 private:
  void skip_string() {
    for (++place_; place_ < text_.size() && text_[place_] != '"'; ++place_) {
      if (text_[place_] == '\\') ++place_;
    }
    ++place_;
  }

  std::string_view text_;
  size_t place_ = 0;
};

// The same JSON with numbers of a few digits. The library refuses numbers that no double holds, such as 1e400, which we
// only pass through.
std::string with_short_numbers(std::string_view text) {
  std::string result;
  bool in_string = false;
  size_t digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (c == '"') in_string = !in_string;
    if (in_string || digits <= 2) result += c;
    if (in_string && c == '\\' && i + 1 < text.size()) result += text[++i];
  }
  return result;
}

bool is_json(std::string_view text) {
  return nlohmann::json::accept(text) || nlohmann::json::accept(with_short_numbers(text));
}

std::string text_of(std::string_view json) { return nlohmann::json::parse(json).get<std::string>(); }

bool is_string(const std::string& json) { return json.starts_with('"'); }

}  // namespace

Result<std::vector<JsonField>> parse_json_row(std::string_view line) {
  // The library would read no further than a zero.
  if (line.find('\0') != std::string_view::npos) {
    return wrong("found a zero byte; expected one JSON object, and a line end behind it");
  }
  if (!is_json(line)) {
    return wrong(
        fmt::format("found '{}'; expected one JSON object, such as "
                    "{{\"reference\":\"a.png\",\"distorted\":\"b.avif\"}}",
                    shortened(line)));
  }
  Scanner scanner(line);
  scanner.skip_blanks();
  if (!scanner.at('{')) return wrong(fmt::format("found '{}'; expected a JSON object", shortened(line)));
  scanner.skip('{');
  std::vector<JsonField> fields;
  while (!scanner.at('}')) {
    JsonField field;
    field.name = text_of(scanner.value());
    scanner.skip(':');
    field.value = scanner.value();
    scanner.skip(',');
    const auto same = [&](const JsonField& other) { return other.name == field.name; };
    if (std::any_of(fields.begin(), fields.end(), same)) {
      return wrong(fmt::format("the field '{}' appears twice", shortened(field.name)));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<std::string> json_text(const JsonField& field) {
  if (is_string(field.value)) return text_of(field.value);
  return wrong(fmt::format("'{}' is {}; expected a string", field.name, shortened(field.value)));
}

Result<std::string> json_metrics(const JsonField& field) {
  if (is_string(field.value)) return text_of(field.value);
  if (field.value == "null") return std::string();
  const auto expected = [&] {
    return wrong(fmt::format("'{}' is {}; expected a string such as \"ssimulacra2,psnr\", or an array of such strings",
                             field.name, shortened(field.value)));
  };
  if (!field.value.starts_with('[')) return expected();
  Scanner scanner(field.value);
  scanner.skip('[');
  std::string list;
  while (!scanner.at(']')) {
    const std::string item(scanner.value());
    if (!is_string(item)) return expected();
    list += fmt::format("{}{}", list.empty() ? "" : ",", text_of(item));
    scanner.skip(',');
  }
  return list;
}

std::string json_shown(const std::string& value) {
  if (is_string(value)) return text_of(value);
  return value == "null" ? "" : value;
}

}  // namespace acuity::cli
