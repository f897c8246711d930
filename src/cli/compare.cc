// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/capabilities.h"
#include "cli/commands.h"
#include "cli/compare_table.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/leave.h"
#include "cli/pair_folders.h"
#include "cli/request.h"
#include "cli/result_rows.h"
#include "cli/row_scheduler.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

namespace fs = std::filesystem;

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

struct ComparePlan {
  RowPlan rows;
  Comparison comparison;
  std::string form;                  // "--csv", "--json" or empty
  std::optional<OutputFile> output;  // none: standard output
};

// A reference and the name that files of variants have.
struct Original {
  std::string path;
  std::string name;
};

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<std::vector<Original>> find_originals(const std::vector<std::string>& given) {
  std::vector<Original> originals;
  std::set<std::string> seen;
  for (const std::string& path : given) {
    std::vector<std::string> files{fs::path(path).filename().string()};
    if (is_folder(path)) ACUITY_TRY_ASSIGN(files, files_under(path));
    if (files.empty()) return Status(StatusCode::input, fmt::format("{}: the folder has no files", path));
    for (const std::string& file : files) {
      originals.push_back({is_folder(path) ? (fs::path(path) / file).string() : path, without_extension(file)});
      if (seen.insert(originals.back().name).second) continue;
      return usage(
          fmt::format("two references are named '{}' without extension, so their variants cannot be distinguished; "
                      "compare them one by one",
                      originals.back().name));
    }
  }
  return originals;
}

// The file of a variant for each reference; empty where it has none.
Result<std::vector<std::string>> find_files(const std::string& variant, const std::vector<Original>& originals) {
  if (!is_folder(variant)) {
    if (originals.size() == 1) return std::vector<std::string>{variant};
    return usage(
        fmt::format("--variant {} is not a folder; with several references, a variant is a folder that has a "
                    "file of the same name for each",
                    variant));
  }
  std::vector<std::string> files;
  ACUITY_TRY_ASSIGN(files, files_under(variant));
  std::vector<std::string> found;
  for (const Original& original : originals) {
    std::string match;
    for (const std::string& file : files) {
      if (without_extension(file) != original.name) continue;
      if (!match.empty()) {
        return usage(fmt::format("--variant {} has two files for {}: {} and {}; leave one of them there", variant,
                                 original.path, match, file));
      }
      match = file;
    }
    found.push_back(match.empty() ? "" : (fs::path(variant) / match).string());
  }
  if (std::any_of(found.begin(), found.end(), [](const std::string& file) { return !file.empty(); })) return found;
  return Status(StatusCode::input,
                fmt::format("--variant {} has no file with the name, without extension, of a reference, such as {}",
                            variant, originals.front().name));
}

Result<ComparePlan> make_plan(const Request& request) {
  ComparePlan plan;
  if (!request.has("--reference")) return usage("--reference is missing: name the originals, or a folder of them");
  if (!request.has("--variant")) return usage("--variant is missing: name the folders or files to compare");
  std::vector<Original> originals;
  ACUITY_TRY_ASSIGN(originals, find_originals(request.values("--reference")));
  Comparison& comparison = plan.comparison;
  comparison.variants = request.values("--variant");
  comparison.cells.resize(originals.size());
  for (const Original& original : originals) comparison.references.push_back(original.path);
  std::set<std::string> seen;
  for (const std::string& variant : comparison.variants) {
    if (!seen.insert(variant).second) return usage(fmt::format("--variant {} is given twice; leave out one", variant));
    std::vector<std::string> files;
    ACUITY_TRY_ASSIGN(files, find_files(variant, originals));
    for (size_t r = 0; r < files.size(); ++r) comparison.cells[r].push_back({.distorted = files[r]});
  }
  const std::string path = request.value("--output");
  if (request.has("--csv") && request.has("--json")) return usage("give only one of --csv, --json");
  plan.form = request.has("--csv") || (!request.has("--json") && path.ends_with(".csv"))    ? "--csv"
              : request.has("--json") || (!request.has("--csv") && path.ends_with(".json")) ? "--json"
                                                                                            : "";
  ACUITY_TRY_ASSIGN(plan.rows, plan_rows(request));
  ACUITY_TRY(check_strips(request, {.memory = plan.rows.job.memory}, plan.rows.job.metrics));
  comparison.metrics = plan.rows.job.metrics;
  if (!request.has("--output")) return plan;
  std::vector<std::string> inputs = files_of_options(comparison.metrics);
  inputs.insert(inputs.end(), comparison.references.begin(), comparison.references.end());
  for (const auto& row : comparison.cells) {
    for (const CompareCell& cell : row) inputs.push_back(cell.distorted);
  }
  ACUITY_TRY_ASSIGN(plan.output, OutputFile::check(path, "-o", inputs));
  return plan;
}

// Scores every cell that has a file. Returns how many have none or failed.
Result<int64_t> score_all(ComparePlan& plan, Console& console) {
  Comparison& comparison = plan.comparison;
  std::unique_ptr<RowScheduler> created;
  ACUITY_TRY_ASSIGN(created, RowScheduler::create(plan.rows, /*ordered=*/true));
  const std::shared_ptr<RowScheduler> scheduler = std::move(created);
  const auto metrics = std::make_shared<const std::vector<MetricChoice>>(comparison.metrics);
  std::vector<std::pair<CompareCell*, std::string>> submitted;  // with their reference
  size_t taken = 0;
  int64_t failed = 0;
  const auto take = [&](TaskResult result) {
    CompareCell& cell = *submitted[taken].first;
    PairRow row;
    row.reference = submitted[taken++].second;
    row.distorted = cell.distorted;
    check_scores(row, *metrics, result);
    for (std::string& warning : left_devices(result)) result.warnings.push_back(std::move(warning));
    if (!result.status.ok()) {
      console.complain(result.status.message());
      ++failed;
    }
    for (const std::string& warning : result.warnings) console.warn(warning);
    cell.result = std::move(result);
    console.progress(fmt::format("{} of {} pairs", taken, comparison.references.size() * comparison.variants.size()));
  };
  for (size_t r = 0; r < comparison.references.size(); ++r) {
    for (size_t v = 0; v < comparison.variants.size(); ++v) {
      CompareCell& cell = comparison.cells[r][v];
      if (cell.distorted.empty()) {
        cell.result.status = Status(StatusCode::input, fmt::format("--variant {} has no file for {}",
                                                                   comparison.variants[v], comparison.references[r]));
        console.warn(cell.result.status.message());
        ++failed;
        continue;
      }
      submitted.emplace_back(&cell, comparison.references[r]);
      ACUITY_TRY(scheduler->submit(comparison.references[r], cell.distorted, metrics));
      while (auto result = scheduler->poll()) take(std::move(*result));
    }
  }
  while (auto result = scheduler->wait_any()) take(std::move(*result));
  keep_until_exit(scheduler);
  return failed;
}

}  // namespace

int run_compare(const Request& request, Console& console) {
  const auto complain = [&](const Status& status) {
    console.complain(status.message());
    return exit_code(status.code());
  };
  Result<ComparePlan> plan = make_plan(request);
  if (!plan.ok()) return complain(plan.status());
  for (const std::string& warning : plan->rows.warnings) console.warn(warning);
  if (plan->output) console.collect();
  const Capabilities capabilities(console);
  const Result<int64_t> failed = score_all(*plan, console);
  if (!failed.ok()) return complain(failed.status());
  console.print(plan->form == "--csv"    ? compare_csv(plan->comparison)
                : plan->form == "--json" ? compare_json(plan->comparison)
                                         : compare_plain(plan->comparison, console));
  if (plan->output) {
    const Status written = plan->output->write(console.collected());
    if (!written.ok()) return complain(console.rescue(console.collected(), written));
  }
  return *failed > 0 ? kExitRowsFailed : kExitOk;
}

}  // namespace acuity::cli
