// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pairs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace acuity::cli {
namespace {

void list_facts(const FileFacts& facts, const std::string& side, std::vector<std::string>& list) {
  std::string found = facts.format;
  for (const std::string& fact : facts.found) found += ", " + fact;
  list.push_back(fmt::format("{}: {}", side, found));
  for (const std::string& fact : facts.assumed) list.push_back(fmt::format("{}: assumed {}", side, fact));
}

}  // namespace

std::vector<std::string> assumptions(const PairResult& pair) {
  std::vector<std::string> list;
  list_facts(pair.reference_facts, "reference", list);
  list_facts(pair.distorted_facts, "distorted", list);
  for (const MetricScore& entry : pair.scores) {
    for (const std::string& fact : entry.score.provenance.assumptions) {
      list.push_back(fmt::format("{}: {}", entry.label, fact));
    }
  }
  return list;
}

std::vector<Span> timeline(const PairResult& pair) {
  std::vector<Span> spans = pair.spans;
  for (const FileFacts* facts : {&pair.reference_facts, &pair.distorted_facts}) {
    if (!facts->read.what.empty()) spans.push_back(facts->read);
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ms < b.begin_ms; });
  return spans;
}

std::vector<NamedValue> timings(const PairResult& pair) {
  std::vector<NamedValue> list{{"decode_reference", pair.reference_facts.decode_ms},
                               {"decode_distorted", pair.distorted_facts.decode_ms},
                               {"prepare_reference", pair.prepare_ms}};
  if (pair.video) list.push_back({"convert", pair.video->convert_ms});
  for (const MetricScore& entry : pair.scores) {
    for (const NamedValue& stage : entry.score.provenance.timing_ms) {
      list.push_back({stage.name == "metric" ? entry.label : entry.label + "." + stage.name, stage.value});
    }
  }
  return list;
}

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

Status naming_files(const Status& status, const std::string& files) {
  return Status(status.code(), fmt::format("{}: {}", files, status.message()));
}

bool finite(const Score& score) {
  bool all = std::isfinite(score.value);
  for (const NamedValue& output : score.outputs) all = all && std::isfinite(output.value);
  return all;
}

ScorerOptions scorer_options(const ScoreJob& job, int64_t pairs) {
  return {.device = job.device,
          .expected_pairs = pairs,
          .memory = job.memory,
          .vram_cap_bytes = job.vram_cap_bytes,
          .threads = job.threads,
          .want_map = job.want_map};
}

}  // namespace acuity::cli
