// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/vmaf_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "acuity/version.h"
#include "cli/pools.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

std::string xml_attribute(std::string_view text) {
  std::string result;
  for (const char c : printable(as_utf8(text))) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class Writer {
 public:
  Writer(const VmafResults& results, std::optional<int> digits) : results_(results), digits_(digits) {}

  std::string xml() const {
    std::string text = fmt::format("<VMAF version=\"{}\">\n  <params qualityWidth=\"{}\" qualityHeight=\"{}\" />\n",
                                   xml_attribute(vmaf_version()), results_.width, results_.height);
    text += fmt::format("  <fyi fps=\"{:.2f}\" />\n", results_.frames_per_second);
    if (!results_.incomplete.empty()) {
      text += fmt::format("  <incomplete reason=\"{}\" />\n", xml_attribute(results_.incomplete));
    }
    for (const std::string& warning : results_.warnings) {
      text += fmt::format("  <warning reason=\"{}\" />\n", xml_attribute(warning));
    }
    text += "  <frames>\n";
    for (size_t i = 0; i < frames(); ++i) {
      text += fmt::format("    <frame frameNum=\"{}\" ", frame_number(i));
      for (const FrameOutput& column : results_.columns) {
        text += fmt::format("{}=\"{}\" ", column.name, number(column.values[i]));
      }
      text += "/>\n";
    }
    text += "  </frames>\n  <pooled_metrics>\n";
    for (const FrameOutput& column : results_.columns) {
      text += fmt::format("    <metric name=\"{}\" ", xml_attribute(column.name));
      for (const Pool& pool : pools_of(column)) text += fmt::format("{}=\"{}\" ", pool.name, number(*pool.value));
      text += "/>\n";
    }
    text += "  </pooled_metrics>\n  <aggregate_metrics ";
    for (const NamedValue& aggregate : results_.aggregates) {
      text += fmt::format("{}=\"{}\" ", aggregate.name, number(aggregate.value));
    }
    return text + "/>\n</VMAF>\n";
  }

  std::string json() const {
    std::string text = fmt::format("{{\n  \"version\": {},\n  \"fps\": {:.2f},\n", json_string(vmaf_version()),
                                   results_.frames_per_second);
    if (!results_.incomplete.empty()) {
      text += fmt::format("  \"incomplete\": {},\n", json_string(results_.incomplete));
    }
    if (!results_.warnings.empty()) {
      std::string list;
      for (const std::string& warning : results_.warnings) list += (list.empty() ? "" : ", ") + json_string(warning);
      text += fmt::format("  \"warnings\": [{}],\n", list);
    }
    text += "  \"frames\": [";
    for (size_t i = 0; i < frames(); ++i) {
      text += fmt::format("{}\n    {{\n      \"frameNum\": {},\n      \"metrics\": {{\n", i == 0 ? "" : ",",
                          frame_number(i));
      for (const FrameOutput& column : results_.columns) {
        text += fmt::format("        {}: {}{}\n", json_string(column.name), number(column.values[i]),
                            &column == &results_.columns.back() ? "" : ",");
      }
      text += "      }\n    }";
    }
    text += "\n  ],\n  \"pooled_metrics\": {";
    for (const FrameOutput& column : results_.columns) {
      text += fmt::format("{}\n    {}: {{", &column == &results_.columns.front() ? "" : ",", json_string(column.name));
      std::string list;
      for (const Pool& pool : pools_of(column)) {
        list += fmt::format("{}\n      \"{}\": {}", list.empty() ? "" : ",", pool.name, number(*pool.value));
      }
      text += list + "\n    }";
    }
    text += "\n  },\n  \"aggregate_metrics\": {";
    for (const NamedValue& aggregate : results_.aggregates) {
      text += fmt::format("{}\n    {}: {}", &aggregate == &results_.aggregates.front() ? "" : ",",
                          json_string(aggregate.name), number(aggregate.value));
    }
    return text + "\n  }\n}\n";
  }

  std::string csv() const {
    std::string text = "Frame,";
    for (const FrameOutput& column : results_.columns) text += column.name + ",";
    for (size_t i = 0; i < frames(); ++i) {
      text += fmt::format("\n{},", frame_number(i));
      for (const FrameOutput& column : results_.columns) text += number(column.values[i]) + ",";
    }
    if (!results_.incomplete.empty()) text += "\n# incomplete: " + one_line(results_.incomplete);
    return text + "\n";
  }

  std::string sub() const {
    std::string text;
    for (size_t i = 0; i < frames(); ++i) {
      text += fmt::format("{{{}}}{{{}}}frame: {}|", frame_number(i), frame_number(i) + 1, frame_number(i));
      for (const FrameOutput& column : results_.columns) {
        text += fmt::format("{}: {}|", column.name, number(column.values[i]));
      }
      text += "\n";
    }
    if (!results_.incomplete.empty()) {
      text += fmt::format("{{{}}}{{{}}}incomplete: {}\n", frame_number(frames()), frame_number(frames()) + 1,
                          one_line(results_.incomplete));
    }
    return text;
  }

 private:
  size_t frames() const { return results_.columns.front().values.size(); }
  size_t frame_number(size_t i) const { return i * static_cast<size_t>(results_.subsample); }

  // libvmaf prints six places, and sixteen where those would show nothing of what comes after the point.
  std::string number(double value) const {
    if (digits_) return fmt::format("{:.{}g}", value, *digits_);
    const double fraction = std::abs(value) - std::floor(std::abs(value));
    double shifted = fraction;
    int zeros = 0;
    for (; shifted < 1 && shifted != 0; ++zeros) shifted *= 10;
    return fmt::format("{:.{}f}", value, zeros <= 6 ? 6 : 16);
  }

  // Those of libvmaf, in its order, by its formula: unlike ours it does not mind values below -1.
  static std::vector<Pool> pools_of(const FrameOutput& column) {
    const auto [least, most] = std::minmax_element(column.values.begin(), column.values.end());
    double inverses = 0;
    for (const double value : column.values) inverses += 1 / (value + 1);
    return {{"min", *least},
            {"max", *most},
            {"mean", mean(column.values)},
            {"harmonic_mean", static_cast<double>(column.values.size()) / inverses - 1}};
  }

  const VmafResults& results_;
  std::optional<int> digits_;
};

}  // namespace

std::string vmaf_version() { return fmt::format("3.2.0 (acuity {})", acuity_version()); }

std::string format_vmaf(const VmafResults& results, VmafFormat format, std::optional<int> significant_digits) {
  const Writer writer(results, significant_digits);
  switch (format) {
    case VmafFormat::xml:
      return writer.xml();
    case VmafFormat::json:
      return writer.json();
    case VmafFormat::csv:
      return writer.csv();
    case VmafFormat::sub:
      return writer.sub();
  }
  return "";
}

}  // namespace acuity::cli
