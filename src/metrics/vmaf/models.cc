// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads the table of built-in models, models.txt, which says itself how it is laid out.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/names.h"
#include "metrics/vmaf/model.h"

__asm__(
    ".pushsection .rodata\n.hidden acuity_vmaf_models_begin\n.globl acuity_vmaf_models_begin\n"
    "acuity_vmaf_models_begin:\n.incbin \"" ACUITY_VMAF_MODELS
    "\"\n.hidden acuity_vmaf_models_end\n.globl acuity_vmaf_models_end\nacuity_vmaf_models_end:\n.byte 0\n.popsection");
extern "C" const char acuity_vmaf_models_begin[];
extern "C" const char acuity_vmaf_models_end[];

namespace acuity::vmaf {
namespace {

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
}

std::pair<std::string_view, std::string_view> halves(std::string_view word, char separator) {
  const size_t place = word.find(separator);
  if (place == std::string_view::npos) return {word, {}};
  return {word.substr(0, place), word.substr(place + 1)};
}

class TableReader {
 public:
  std::vector<ModelSet> read(std::string_view table) {
    while (!table.empty()) {
      const auto [line, rest] = halves(table, '\n');
      table = rest;
      if (!line.empty() && line.front() != '#') read_line(line, words_of(line));
    }
    return std::move(models_);
  }

 private:
  using Words = std::span<const std::string_view>;

  void read_line(std::string_view line, const std::vector<std::string_view>& words) {
    const Words rest = std::span(words).subspan(1);
    const std::string_view first = words.front();
    if (first == "points") {
      points_ = &points_of_size_[static_cast<size_t>(number(rest[0]))];
      machine_ = nullptr;
    } else if (first == "machine") {
      machine_ = &machines_[std::string(rest[0])];
      points_ = &points_of_size_[static_cast<size_t>(number(rest[1]))];
      size_ = static_cast<size_t>(number(rest[1]));
      machine_->gamma = number(rest[2]);
      machine_->rho = number(rest[3]);
    } else if (first == "model") {
      models_.push_back({.name = std::string(rest[0])});
      points_ = nullptr;
    } else if (points_ == nullptr) {
      read_model(line, first, rest);
    } else if (machine_ != nullptr) {
      for (const std::string_view word : words) add_vector(word);
    } else {
      for (const std::string_view word : words) points_->push_back(number(word));
    }
  }

  void add_vector(std::string_view word) {
    const bool usual = word.front() == '+' || word.front() == '-';
    const auto [place, weight] = halves(usual ? word.substr(1) : word, ':');
    machine_->weights.push_back(!usual ? number(weight) : word.front() == '+' ? 4 : -4);
    const auto begin = points_->begin() + static_cast<ptrdiff_t>(number(place)) * static_cast<ptrdiff_t>(size_);
    machine_->vectors.insert(machine_->vectors.end(), begin, begin + static_cast<ptrdiff_t>(size_));
  }

  void read_model(std::string_view line, std::string_view first, Words rest) {
    ModelSet& set = models_.back();
    Model& model = set.whole;
    if (first == "seen") set.seen = line.substr(first.size() + 1);
    if (first == "bits") set.bits = static_cast<int>(number(rest[0]));
    if (first == "machines") names_.assign(rest.begin(), rest.end());
    if (first == "scale") model.slope = number(rest[0]), model.intercept = number(rest[1]);
    if (first == "clip") model.clip = {number(rest[0]), number(rest[1])};
    if (first == "chroma") model.chroma_correction = number(rest[0]);
    if (first == "feature") read_input(rest, model);
    if (first == "transform") read_transform(rest, model.transform);
    // The lines of a model are in any order, so that its parts are made anew from what is known so far.
    set.parts.clear();
    for (size_t i = 0; i < names_.size(); ++i) {
      model.machine = machines_[names_[i]];
      if (i > 0) set.parts.push_back(model);
    }
    if (!names_.empty()) model.machine = machines_[names_[0]];
  }

  static void read_input(Words rest, Model& model) {
    Input input{.output = std::string(rest[0]), .slope = number(rest[1]), .intercept = number(rest[2])};
    for (const std::string_view word : rest.subspan(3)) {
      const auto [name, value] = halves(word, '=');
      input.options.push_back({std::string(name), std::string(value)});
    }
    model.inputs.push_back(std::move(input));
  }

  static void read_transform(Words rest, Transform& transform) {
    transform.enabled = rest[0] == "on";
    for (const std::string_view word : rest.subspan(1)) {
      const auto [name, value] = halves(word, '=');
      if (name == "p0") transform.p0 = number(value);
      if (name == "p1") transform.p1 = number(value);
      if (name == "p2") transform.p2 = number(value);
      if (name == "out_gte_in") transform.not_below = true;
      if (name == "out_lte_in") transform.not_above = true;
    }
  }

  std::map<size_t, std::vector<double>> points_of_size_;
  std::vector<double>* points_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, Machine> machines_;
  Machine* machine_ = nullptr;
  std::vector<std::string> names_;
  std::vector<ModelSet> models_;
};

constexpr std::array<ShortName, 10> kShortNames{{{"neg", "v0.6.1neg"},
                                                 {"4k", "4k_v0.6.1"},
                                                 {"4k_neg", "4k_v0.6.1neg"},
                                                 {"b", "b_v0.6.3"},
                                                 {"float", "float_v0.6.1"},
                                                 {"v1", "v1.0.16_3d0h"},
                                                 {"v1_phone", "v1.0.16_5d0h"},
                                                 {"v1_4k", "v1.0.16_1d5h_2160"},
                                                 {"v1_hfr", "v1.0.16_hfr_3d0h"},
                                                 {"v1_4k_hfr", "v1.0.16_hfr_1d5h_2160"}}};

}  // namespace

const std::vector<ModelSet>& built_in_models() {
  static const std::vector<ModelSet> models = TableReader().read(
      {acuity_vmaf_models_begin, static_cast<size_t>(acuity_vmaf_models_end - acuity_vmaf_models_begin)});
  return models;
}

std::span<const ShortName> short_names() { return kShortNames; }

const ModelSet* find_model(std::string_view name) {
  if (name.starts_with("vmaf_")) name.remove_prefix(5);
  for (const ShortName& known : kShortNames) {
    if (same_name(known.name, name)) name = known.stands_for;
  }
  const std::vector<ModelSet>& models = built_in_models();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const ModelSet& set) { return same_name(set.name, name); });
  return found == models.end() ? nullptr : &*found;
}

Result<ModelSet> load_model(const std::string& name_or_path) {
  if (const ModelSet* known = find_model(name_or_path)) return *known;
  std::error_code error;
  if (name_or_path.find('/') == std::string::npos && !std::filesystem::exists(name_or_path, error)) {
    std::vector<std::string> names;
    for (const ModelSet& set : built_in_models()) names.push_back(set.name);
    for (const ShortName& known : kShortNames) names.emplace_back(known.name);
    return Status(StatusCode::usage,
                  fmt::format("there is no model '{}' and no file of that name{}; 'acuity models' lists "
                              "the models that are built in",
                              name_or_path, did_you_mean(name_or_path, names)));
  }
  return read_model(name_or_path);
}

}  // namespace acuity::vmaf
