// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/compare_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/version.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

using Values = std::vector<std::optional<double>>;

// Which of these are best: all of them where they are equal, none where the metric has no direction.
std::vector<bool> best_of(const Values& values, Better better) {
  std::vector<bool> best(values.size(), false);
  if (better == Better::neither) return best;
  std::optional<double> top;
  for (const auto& value : values) {
    if (value && (!top || (better == Better::higher ? *value > *top : *value < *top))) top = value;
  }
  for (size_t i = 0; i < values.size(); ++i) best[i] = values[i] && values[i] == top;
  return best;
}

Values values_of(const Comparison& comparison, size_t reference, size_t metric) {
  Values values;
  for (size_t v = 0; v < comparison.variants.size(); ++v) values.push_back(comparison.value(reference, v, metric));
  return values;
}

bool is_complete(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
}

Better direction_of(const MetricChoice& metric) { return find_metric(metric.name)->better; }

std::string title_of(const MetricChoice& metric) {
  const Better better = direction_of(metric);
  return better == Better::neither ? metric.label : fmt::format("{}, {} is better", metric.label, name_of(better));
}

// File names without what all of them begin with, up to a folder.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::string common =
      paths.size() > 1 ? paths.front() : std::filesystem::path(paths.front()).parent_path().string() + "/";
  for (const std::string& path : paths) {
    const auto [a, b] = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
    common.resize(static_cast<size_t>(a - common.begin()));
  }
  const size_t cut = common.rfind('/') == std::string::npos ? 0 : common.rfind('/') + 1;
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(printable(cut < path.size() ? path.substr(cut) : path));
  return names;
}

// Characters, so that names which are not ASCII line up.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return left ? text + blanks : blanks + text;
}

// A table with a name before each row. Cells that are marked are the best.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back({std::move(header), {}}); }
  void add(std::vector<std::string> cells, std::vector<bool> marked = {}) {
    rows_.push_back({std::move(cells), std::move(marked)});
  }
  void rule() { rule_before_.push_back(rows_.size()); }

  std::string text(const Console& console) const {
    std::vector<size_t> widths;
    for (const Row& row : rows_) {
      widths.resize(std::max(widths.size(), row.cells.size()));
      for (size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], width_of(row.cells[i]));
    }
    std::string text;
    for (size_t r = 0; r < rows_.size(); ++r) {
      if (std::find(rule_before_.begin(), rule_before_.end(), r) != rule_before_.end()) text += '\n';
      for (size_t i = 0; i < rows_[r].cells.size(); ++i) {
        const bool marked = i < rows_[r].marked.size() && rows_[r].marked[i];
        const std::string cell = padded(rows_[r].cells[i], widths[i], i == 0);
        text += i == 0 ? cell : fmt::format("  {}", marked ? console.bold(cell + "*") : cell + " ");
      }
      while (text.ends_with(' ')) text.pop_back();
      text += '\n';
    }
    return text;
  }

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<bool> marked;
  };
  std::vector<Row> rows_;
  std::vector<size_t> rule_before_;
};

std::string shown(const std::optional<double>& value) { return value ? short_number(*value) : "-"; }

// One reference: a row for each variant, a column for each metric.
std::string one_reference(const Comparison& comparison, const Console& console) {
  std::vector<std::string> header{"variant"};
  std::vector<std::vector<bool>> best;
  for (size_t m = 0; m < comparison.metrics.size(); ++m) {
    header.push_back(comparison.metrics[m].label);
    best.push_back(best_of(values_of(comparison, 0, m), direction_of(comparison.metrics[m])));
  }
  Table table(std::move(header));
  const std::vector<std::string> names = short_names(comparison.variants);
  for (size_t v = 0; v < names.size(); ++v) {
    std::vector<std::string> cells{names[v]};
    std::vector<bool> marked{false};
    for (size_t m = 0; m < comparison.metrics.size(); ++m) {
      cells.push_back(shown(comparison.value(0, v, m)));
      marked.push_back(best[m][v]);
    }
    table.add(std::move(cells), std::move(marked));
  }
  std::string text =
      fmt::format("reference  {}\n\n{}\n", printable(comparison.references.front()), table.text(console));
  for (const MetricChoice& metric : comparison.metrics) text += title_of(metric) + "\n";
  return text;
}

// A table for each metric: a row for each reference, a column for each variant.
std::string one_metric(const Comparison& comparison, size_t metric, const Console& console) {
  const Better better = direction_of(comparison.metrics[metric]);
  std::vector<std::string> header{"reference"};
  for (const std::string& name : short_names(comparison.variants)) header.push_back(name);
  Table table(std::move(header));
  const std::vector<std::string> names = short_names(comparison.references);
  for (size_t r = 0; r < names.size(); ++r) {
    const Values values = values_of(comparison, r, metric);
    std::vector<bool> marked{false};
    for (const bool best : best_of(values, better)) marked.push_back(best);
    std::vector<std::string> cells{names[r]};
    for (const auto& value : values) cells.push_back(shown(value));
    table.add(std::move(cells), std::move(marked));
  }
  table.rule();
  Values means, medians;
  std::vector<std::string> wins{"wins"};
  for (const VariantSummary& summary : summaries(comparison, metric)) {
    means.push_back(summary.mean);
    medians.push_back(summary.median);
    wins.push_back(fmt::format("{}", summary.wins));
  }
  for (const auto& [name, values] : {std::pair("mean", &means), std::pair("median", &medians)}) {
    std::vector<std::string> cells{name};
    std::vector<bool> marked{false};
    for (const bool best : best_of(*values, better)) marked.push_back(best);
    for (const auto& value : *values) cells.push_back(shown(value));
    table.add(std::move(cells), std::move(marked));
  }
  if (better != Better::neither) table.add(std::move(wins));
  const size_t complete = complete_references(comparison, metric);
  const std::string note = complete == names.size()
                               ? ""
                               : fmt::format(
                                     "mean, median and wins: over the {} of {} references that all variants "
                                     "have a score for\n",
                                     complete, names.size());
  return fmt::format("{}\n{}{}", console.bold(title_of(comparison.metrics[metric])), table.text(console), note);
}

}  // namespace

std::optional<double> Comparison::value(size_t reference, size_t variant, size_t metric) const {
  const TaskResult& result = cells[reference][variant].result;
  if (cells[reference][variant].distorted.empty() || !result.status.ok()) return {};
  return result.scores[metric].value;
}

size_t complete_references(const Comparison& comparison, size_t metric) {
  size_t count = 0;
  for (size_t r = 0; r < comparison.references.size(); ++r) {
    if (is_complete(values_of(comparison, r, metric))) ++count;
  }
  return count;
}

std::vector<VariantSummary> summaries(const Comparison& comparison, size_t metric) {
  const Better better = direction_of(comparison.metrics[metric]);
  std::vector<std::vector<double>> columns(comparison.variants.size());
  std::vector<VariantSummary> list(comparison.variants.size());
  for (size_t r = 0; r < comparison.references.size(); ++r) {
    const Values values = values_of(comparison, r, metric);
    if (!is_complete(values)) continue;
    const std::vector<bool> best = best_of(values, better);
    for (size_t v = 0; v < values.size(); ++v) {
      columns[v].push_back(*values[v]);
      if (best[v]) ++list[v].wins;
    }
  }
  for (size_t v = 0; v < list.size(); ++v) {
    std::vector<double>& values = columns[v];
    if (values.empty()) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    list[v].mean = sum / static_cast<double>(values.size());
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    list[v].median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
  return list;
}

std::string compare_plain(const Comparison& comparison, const Console& console) {
  if (comparison.references.size() == 1) return one_reference(comparison, console);
  std::string text;
  for (size_t m = 0; m < comparison.metrics.size(); ++m) {
    text += fmt::format("{}{}", m == 0 ? "" : "\n", one_metric(comparison, m, console));
  }
  return text + "\n* best of the row\n";
}

std::string compare_csv(const Comparison& comparison) {
  std::string text = "reference,variant,distorted";
  for (const MetricChoice& metric : comparison.metrics) text += fmt::format(",{}", csv_field(metric.label));
  text += ",device,warnings,error\n";
  for (size_t r = 0; r < comparison.references.size(); ++r) {
    for (size_t v = 0; v < comparison.variants.size(); ++v) {
      const CompareCell& cell = comparison.cells[r][v];
      text += fmt::format("{},{},{}", csv_field(comparison.references[r]), csv_field(comparison.variants[v]),
                          csv_field(cell.distorted));
      for (size_t m = 0; m < comparison.metrics.size(); ++m) {
        const std::optional<double> value = comparison.value(r, v, m);
        text += fmt::format(",{}", value ? exact_number(*value) : "");
      }
      text += fmt::format(",{},{},{}\n", csv_field(cell.result.status.ok() ? cell.result.device : ""),
                          csv_field(fmt::format("{}", fmt::join(cell.result.warnings, "; "))),
                          csv_field(cell.result.status.message()));
    }
  }
  return text;
}

std::string compare_json(const Comparison& comparison) {
  const auto number = [](const std::optional<double>& value) { return value ? exact_number(*value) : "null"; };
  std::string results;
  for (size_t r = 0; r < comparison.references.size(); ++r) {
    for (size_t v = 0; v < comparison.variants.size(); ++v) {
      const CompareCell& cell = comparison.cells[r][v];
      std::string scores;
      for (size_t m = 0; m < comparison.metrics.size(); ++m) {
        scores += fmt::format("{}{}:{}", m == 0 ? "" : ",", json_string(comparison.metrics[m].label),
                              number(comparison.value(r, v, m)));
      }
      std::string warnings;
      for (const std::string& warning : cell.result.warnings) {
        warnings += fmt::format("{}{}", warnings.empty() ? "" : ",", json_string(warning));
      }
      results += fmt::format(
          "{}\n{{\"reference\":{},\"variant\":{},\"distorted\":{},\"scores\":{{{}}},\"device\":{},\"warnings\":[{}],"
          "\"error\":{}}}",
          results.empty() ? "" : ",", json_string(comparison.references[r]), json_string(comparison.variants[v]),
          cell.distorted.empty() ? "null" : json_string(cell.distorted), scores,
          cell.result.status.ok() ? json_string(cell.result.device) : "null", warnings,
          cell.result.status.ok() ? "null" : json_string(cell.result.status.message()));
    }
  }
  std::string metrics;
  for (size_t m = 0; m < comparison.metrics.size(); ++m) {
    const MetricInfo* info = find_metric(comparison.metrics[m].name);
    std::string variants;
    const std::vector<VariantSummary> list = summaries(comparison, m);
    for (size_t v = 0; v < list.size(); ++v) {
      variants +=
          fmt::format("{}{}:{{\"mean\":{},\"median\":{},\"wins\":{}}}", v == 0 ? "" : ",",
                      json_string(comparison.variants[v]), number(list[v].mean), number(list[v].median), list[v].wins);
    }
    metrics += fmt::format("{}\n{}:{{\"better\":\"{}\",\"version\":{},\"references\":{},\"variants\":{{{}}}}}",
                           m == 0 ? "" : ",", json_string(comparison.metrics[m].label), name_of(info->better),
                           json_string(info->version), complete_references(comparison, m), variants);
  }
  return fmt::format("{{\"schema\":\"acuity-compare/1\",\"acuity\":{},\"metrics\":{{{}\n}},\"results\":[{}\n]}}\n",
                     json_string(acuity_version()), metrics, results);
}

}  // namespace acuity::cli
