// SPDX-License-Identifier: BSD-2-Clause-Patent
// What was measured on this machine: how long a pixel of a row takes each metric on each device, and how long decoding
// it takes. Only the choice of device and mode depends on it, never a score. capability_file.h keeps it from one
// process to the next.
#ifndef ACUITY_ENGINE_MEASUREMENTS_H
#define ACUITY_ENGINE_MEASUREMENTS_H

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace acuity {

/// How rows are scored, as far as it changes how long they take.
struct RowMode {
  enum class Kind {
    pair,      // reference and distorted together
    prepared,  // a distorted picture against a prepared reference
    prepare,   // what is computed of a reference in advance
    decode     // decoding a picture; the metric is the format of its file then
  };
  Kind kind = Kind::pair;
  bool strip = false;  // in strips instead of as much at once as is fastest
  bool many = false;   // several rows in flight: the time is that of all, divided by how many they are

  auto operator<=>(const RowMode&) const = default;
};

/// "pair", "prepared strip many"; none if the text is none of these.
std::string mode_text(const RowMode& mode);
std::optional<RowMode> parse_mode(std::string_view text);

/// Pictures of about the same number of pixels share a figure: the exponent of the nearest power of 4.
int size_class(double pixels);
double class_pixels(int size_class);
inline constexpr int kSmallestClass = 4, kLargestClass = 15;  // 16 x 16 and 32768 x 32768 pixels

/// A device as it was when it was measured.
struct MeasuredDevice {
  std::string id{};      // "cpu", "cuda:0"
  std::string name{};    // "NVIDIA H200"
  std::string driver{};  // another driver may be faster or slower, so it makes another device; of the CPU: its target
  std::string uuid{};    // of the card; empty if the driver does not report it, and for the CPU
  bool is_software = false;  // "auto" does not use it
  int64_t memory_bytes = 0;  // of a GPU
  double cold_ms = 0;        // to load the driver, open the device and load the first kernels; 0: not measured

  bool operator==(const MeasuredDevice&) const = default;
};

struct Figure {
  double ns = 0;     // per pixel; on the CPU of one thread's time
  int64_t rows = 0;  // how many rows it is made of

  bool operator==(const Figure&) const = default;
};

/// What was measured.
class Measurements {
 public:
  using Key = std::tuple<std::string, std::string, RowMode, int>;  // device, metric, mode, size class

  /// Adds a row that took so many nanoseconds per pixel. One that was slow because the machine was busy has little
  /// weight: a row changes the figure by a factor of 2 at most, and later rows change it less.
  void note(const std::string& device, const std::string& metric, const RowMode& mode, double pixels, double ns);
  /// The same card behind an earlier driver is gone, with its figures.
  void note_device(const std::string& key, const MeasuredDevice& device);
  /// Replaces what was there.
  void set(const Key& key, const Figure& figure) { figures_[key] = figure; }

  /// Nanoseconds for a row of so many pixels, between the figures of the two nearest size classes. On a GPU, pictures
  /// smaller than any that was measured take as long as those.
  std::optional<double> row_ns(const std::string& device, const std::string& metric, const RowMode& mode,
                               double pixels) const;
  const MeasuredDevice* device(const std::string& key) const;

  /// Replaces or adds everything that `other` has.
  void put(const Measurements& other);
  /// What differs from `before`: devices, figures that it lacks, and figures that differ by more than a quarter.
  Measurements changed_since(const Measurements& before) const;

  const std::map<Key, Figure>& figures() const { return figures_; }
  const std::map<std::string, MeasuredDevice>& devices() const { return devices_; }
  bool empty() const { return figures_.empty() && devices_.empty(); }

 private:
  std::map<Key, Figure> figures_;
  std::map<std::string, MeasuredDevice> devices_;  // by key
};

/// Those of this process: every Scorer adds to them, and "auto" asks them. They begin empty; nothing is read or written
/// unless acuity/capability.h is used. For several threads at once.
class SharedMeasurements {
 public:
  Measurements now() const;
  void note(const std::string& device, const std::string& metric, const RowMode& mode, double pixels, double ns);
  void note_device(const std::string& key, const MeasuredDevice& device);
  /// Replaces figures, as a calibration does.
  void put(const Measurements& other);
  /// What was read from a file; and what differs from that, or from what was written since.
  void put_saved(const Measurements& saved);
  Measurements unsaved() const;
  void mark_saved(const Measurements& saved);

 private:
  mutable std::mutex mutex_;
  Measurements measured_;
  Measurements saved_;
};
SharedMeasurements& process_measurements();

}  // namespace acuity

#endif
