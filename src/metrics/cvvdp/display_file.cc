// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads display models in ColorVideoVDP's JSON. Nothing in a file is taken on trust.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/names.h"
#include "base/try.h"
#include "metrics/cvvdp/display.h"

namespace acuity::cvvdp {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = 1 << 20, kMostDisplays = 1000;
constexpr double kInch = 0.0254;

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<std::vector<Display>> read(const json& root) const {
    if (!root.is_object()) return bad("it is not an object");
    std::vector<Display> displays;
    // A model by itself, without a name around it, is accepted as well.
    if (root.contains("max_luminance")) {
      displays.emplace_back();
      ACUITY_TRY_ASSIGN(displays.back(), display(file_, root));
      return displays;
    }
    if (root.empty() || root.size() > kMostDisplays) {
      return bad(fmt::format("it has {} displays; expected 1 to {}", root.size(), kMostDisplays));
    }
    for (const auto& [name, fields] : root.items()) {
      displays.emplace_back();
      ACUITY_TRY_ASSIGN(displays.back(), display(name, fields));
    }
    return displays;
  }

 private:
  Status bad(const std::string& why) const {
    return Status(StatusCode::input, fmt::format("'{}' is not a usable file of display models: {}; use JSON in the "
                                                 "format of ColorVideoVDP's display_models.json",
                                                 file_, why));
  }

  Result<std::optional<double>> number(const std::string& name, const json& fields, const char* key) const {
    const auto found = fields.find(key);
    if (found == fields.end() || found->is_null()) return std::optional<double>();
    const double value = found->is_number() ? found->get<double>() : NAN;
    if (!std::isfinite(value)) return bad(fmt::format("{} of '{}' is not a number", key, name));
    return std::optional<double>(value);
  }

  Status set(std::optional<double>& to, const std::string& name, const json& fields, const char* key,
             double unit = 1) const {
    std::optional<double> value;
    ACUITY_TRY_ASSIGN(value, number(name, fields, key));
    if (value) to = *value * unit;
    return {};
  }

  Status set(double& to, const std::string& name, const json& fields, const char* key) const {
    std::optional<double> value;
    ACUITY_TRY_ASSIGN(value, number(name, fields, key));
    if (value) to = *value;
    return {};
  }

  Result<Display> display(const std::string& name, const json& fields) const {
    if (!fields.is_object()) return bad(fmt::format("'{}' is not an object", name));
    Display read{.name = name};
    const auto space = fields.find("colorspace");
    if (space != fields.end()) {
      if (!space->is_string()) return bad(fmt::format("colorspace of '{}' is not text", name));
      read.colour_space = space->get<std::string>();
    }
    const auto resolution = fields.find("resolution");
    if (resolution != fields.end()) {
      const auto is_side = [](const json& side) {
        return side.is_number() && side.get<double>() >= 1 && side.get<double>() <= 1e6;
      };
      if (!resolution->is_array() || resolution->size() != 2 || !is_side((*resolution)[0]) ||
          !is_side((*resolution)[1])) {
        return bad(fmt::format("resolution of '{}' is not two numbers of pixels from 1 to 1000000", name));
      }
      read.width = static_cast<int>((*resolution)[0].get<double>());
      read.height = static_cast<int>((*resolution)[1].get<double>());
    }
    ACUITY_TRY(set(read.diagonal_inches, name, fields, "diagonal_size_meters", 1 / kInch));
    ACUITY_TRY(set(read.diagonal_inches, name, fields, "diagonal_size_inches"));
    ACUITY_TRY(set(read.field_of_view, name, fields, "fov_diagonal"));
    ACUITY_TRY(set(read.distance, name, fields, "viewing_distance_inches", kInch));
    ACUITY_TRY(set(read.distance, name, fields, "viewing_distance_meters"));
    ACUITY_TRY(set(read.pixels_per_degree, name, fields, "pixels_per_degree"));
    if (!fields.contains("max_luminance")) return bad(fmt::format("'{}' has no max_luminance", name));
    ACUITY_TRY(set(read.peak, name, fields, "max_luminance"));
    ACUITY_TRY(set(read.contrast, name, fields, "contrast"));
    ACUITY_TRY(set(read.black, name, fields, "min_luminance"));
    ACUITY_TRY(set(read.ambient, name, fields, "E_ambient"));
    ACUITY_TRY(set(read.reflectivity, name, fields, "k_refl"));
    ACUITY_TRY(set(read.exposure, name, fields, "exposure"));
    const Status checked = check_display(read);
    if (!checked.ok()) return bad(checked.message());
    return read;
  }

  const std::string& file_;
};

Result<std::string> text_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text(kMostBytes + 1, '\0');
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (!file || std::ferror(file.get()) != 0) {
    std::vector<std::string> names;
    for (const Display& display : built_in_displays()) names.push_back(display.name);
    return Status(
        StatusCode::usage,
        fmt::format("there is no display '{0}' and no file of that name can be read{1}; the displays are: {2}", path,
                    did_you_mean(path, names), fmt::join(names, ", ")));
  }
  if (text.size() > kMostBytes) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' is larger than 1 MiB, the limit for a file of display models", path));
  }
  return text;
}

}  // namespace

Result<std::vector<Display>> parse_displays(std::string_view text, const std::string& name) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    return Status(StatusCode::input, fmt::format("'{}' is not a file of display models: it is not JSON; use a file in "
                                                 "the format of ColorVideoVDP's display_models.json",
                                                 name));
  }
  return Reader(name).read(root);
}

Result<Display> load_display(const std::string& name) {
  for (const Display& display : built_in_displays()) {
    if (display.name == name) return display;
  }
  const size_t hash = name.rfind('#');
  const std::string path = name.substr(0, hash);
  Result<std::string> text = text_of(path);
  if (!text.ok()) return text.status();
  Result<std::vector<Display>> displays = parse_displays(*text, path);
  if (!displays.ok()) return displays.status();
  if (hash == std::string::npos) {
    if (displays->size() == 1) return displays->front();
    return Status(StatusCode::usage, fmt::format("'{0}' has {1} displays; choose one by display={0}#{2}", path,
                                                 displays->size(), displays->front().name));
  }
  const std::string wanted = name.substr(hash + 1);
  for (const Display& display : *displays) {
    if (display.name == wanted) return display;
  }
  std::vector<std::string> names;
  for (const Display& display : *displays) names.push_back(display.name);
  return Status(StatusCode::usage, fmt::format("'{}' has no display '{}'{}; it has: {}", path, wanted,
                                               did_you_mean(wanted, names), fmt::join(names, ", ")));
}

}  // namespace acuity::cvvdp
