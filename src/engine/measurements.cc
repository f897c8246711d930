// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/measurements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace acuity {
namespace {

constexpr std::array<std::pair<RowMode::Kind, std::string_view>, 4> kKinds{{
    {RowMode::Kind::pair, "pair"},
    {RowMode::Kind::prepared, "prepared"},
    {RowMode::Kind::prepare, "prepare"},
    {RowMode::Kind::decode, "decode"},
}};
constexpr std::string_view kStrip = " strip", kMany = " many";
constexpr double kLeastWeight = 0.1, kMostChange = 2;
constexpr double kMaterialChange = 1.25;

bool is_material(double before, double now) { return now > before * kMaterialChange || now < before / kMaterialChange; }

}  // namespace

std::string mode_text(const RowMode& mode) {
  const auto* kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& one) { return one.first == mode.kind; });
  return std::string(kind->second) + std::string(mode.strip ? kStrip : "") + std::string(mode.many ? kMany : "");
}

std::optional<RowMode> parse_mode(std::string_view text) {
  RowMode mode;
  const auto cut = [&text](std::string_view end) {
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
  };
  mode.many = cut(kMany);
  mode.strip = cut(kStrip);
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& one) { return one.second == text; });
  if (kind == kKinds.end()) return std::nullopt;
  mode.kind = kind->first;
  return mode;
}

int size_class(double pixels) {
  if (!(pixels > 1)) return kSmallestClass;
  return std::clamp(static_cast<int>(std::lround(std::log2(pixels) / 2)), kSmallestClass, kLargestClass);
}

double class_pixels(int size_class) { return std::ldexp(1.0, 2 * size_class); }

void Measurements::note(const std::string& device, const std::string& metric, const RowMode& mode, double pixels,
                        double ns) {
  if (!std::isfinite(ns) || ns <= 0) return;
  Figure& figure = figures_[{device, metric, mode, size_class(pixels)}];
  if (figure.rows == 0) {
    figure = {ns, 1};
    return;
  }
  const double bounded = std::clamp(ns, figure.ns / kMostChange, figure.ns * kMostChange);
  ++figure.rows;
  figure.ns += (bounded - figure.ns) * std::max(1 / static_cast<double>(figure.rows), kLeastWeight);
}

void Measurements::note_device(const std::string& key, const MeasuredDevice& device) {
  const auto backend = [](const std::string& id) { return id.substr(0, id.find(':')); };
  for (auto other = devices_.begin(); other != devices_.end();) {
    const bool is_gone = other->first != key && !device.uuid.empty() && other->second.uuid == device.uuid &&
                         backend(other->second.id) == backend(device.id);
    if (!is_gone) {
      ++other;
      continue;
    }
    std::erase_if(figures_, [&](const auto& figure) { return std::get<0>(figure.first) == other->first; });
    other = devices_.erase(other);
  }
  MeasuredDevice& known = devices_[key];
  const double cold_ms = known.cold_ms > 0 && device.cold_ms > 0 && known.id == device.id
                             ? (known.cold_ms + device.cold_ms) / 2
                             : std::max(known.cold_ms, device.cold_ms);
  known = device;
  known.cold_ms = cold_ms;
}

std::optional<double> Measurements::row_ns(const std::string& device, const std::string& metric, const RowMode& mode,
                                           double pixels) const {
  const auto first = figures_.lower_bound({device, metric, mode, kSmallestClass});
  const auto last = figures_.upper_bound({device, metric, mode, kLargestClass});
  if (first == last) return std::nullopt;
  const auto size = [](const auto& figure) { return class_pixels(std::get<3>(figure->first)); };
  auto above = first;
  while (above != last && size(above) < pixels) ++above;
  if (above == last) return std::prev(above)->second.ns * pixels;
  if (above == first) {
    return first->second.ns * (device.starts_with("cpu") ? pixels : size(first));
  }
  const auto below = std::prev(above);
  const double place = std::log(pixels / size(below)) / std::log(size(above) / size(below));
  return pixels * below->second.ns * std::pow(above->second.ns / below->second.ns, place);
}

const MeasuredDevice* Measurements::device(const std::string& key) const {
  const auto found = devices_.find(key);
  return found == devices_.end() ? nullptr : &found->second;
}

void Measurements::put(const Measurements& other) {
  for (const auto& [key, device] : other.devices_) {
    note_device(key, device);
    devices_[key] = device;
  }
  for (const auto& [key, figure] : other.figures_) figures_[key] = figure;
}

Measurements Measurements::changed_since(const Measurements& before) const {
  Measurements changed;
  for (const auto& [key, device] : devices_) {
    const MeasuredDevice* known = before.device(key);
    MeasuredDevice compared = device;
    if (known != nullptr && !is_material(known->cold_ms, device.cold_ms)) compared.cold_ms = known->cold_ms;
    if (known == nullptr || compared != *known) changed.devices_[key] = device;
  }
  for (const auto& [key, figure] : figures_) {
    const auto known = before.figures_.find(key);
    if (known == before.figures_.end() || is_material(known->second.ns, figure.ns)) changed.figures_[key] = figure;
  }
  return changed;
}

Measurements SharedMeasurements::now() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

void SharedMeasurements::note(const std::string& device, const std::string& metric, const RowMode& mode, double pixels,
                              double ns) {
  const std::lock_guard lock(mutex_);
  measured_.note(device, metric, mode, pixels, ns);
}

void SharedMeasurements::note_device(const std::string& key, const MeasuredDevice& device) {
  const std::lock_guard lock(mutex_);
  measured_.note_device(key, device);
}

void SharedMeasurements::put(const Measurements& other) {
  const std::lock_guard lock(mutex_);
  measured_.put(other);
}

void SharedMeasurements::put_saved(const Measurements& saved) {
  const std::lock_guard lock(mutex_);
  measured_.put(saved);
  saved_.put(saved);
}

Measurements SharedMeasurements::unsaved() const {
  const std::lock_guard lock(mutex_);
  return measured_.changed_since(saved_);
}

void SharedMeasurements::mark_saved(const Measurements& saved) {
  const std::lock_guard lock(mutex_);
  saved_.put(saved);
}

SharedMeasurements& process_measurements() {
  // Never destroyed: a thread may still note something while the process ends.
  static auto& measurements = *new SharedMeasurements;
  return measurements;
}

}  // namespace acuity
