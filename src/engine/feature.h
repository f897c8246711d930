// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric of video frames must offer: one that works on the Y'CbCr samples of a stream and may look at the frames
// before. Most names, options and outputs are those of libvmaf, whose features these are.
//
// The work is in two parts. measure() finds the numbers of one frame from that frame and history() frames before it; it
// keeps nothing from call to call, so that frames can be measured in any order and several at once. conclude() then
// makes the values of a frame from its numbers and those of the frames around it. Both see only so many frames, so that
// values are final soon, and a part of a video gives what the whole gives.
#ifndef ACUITY_ENGINE_FEATURE_H
#define ACUITY_ENGINE_FEATURE_H

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/frame.h"
#include "acuity/frame_scorer.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "engine/options.h"

namespace acuity {

class Device;
class DeviceFeatureWorker;

/// Which video of the two; the value is an index.
enum class Role : uint8_t { reference, distorted };

/// What a feature makes of one frame for all windows that contain it.
class DerivedFrame {
 public:
  virtual ~DerivedFrame() = default;
  virtual size_t bytes() const = 0;
};

/// A frame and those before it: Feature::history() + 1 of them, null where the sequence has none.
struct FrameWindow {
  int64_t index = 0;                            // from the first frame of the sequence
  std::span<const FrameView* const> reference;  // [0] is the frame itself, [1] the one before ...
  std::span<const FrameView* const> distorted;
  std::array<std::span<const DerivedFrame* const>, 2> derived{};  // by Role; null unless the feature derives it
  /// By Role: the frames after it, Feature::lookahead() of them; null after the end of the sequence.
  std::array<std::span<const FrameView* const>, 2> following{};
};

/// Measures one frame at a time with scratch memory of its own; each thread has one.
class FeatureWorker {
 public:
  virtual ~FeatureWorker() = default;
  virtual size_t bytes() const = 0;
  /// Called once for each frame of a video for which Feature::derives() is true, before any window that contains it.
  virtual Result<std::shared_ptr<const DerivedFrame>> derive(Role, const FrameView&) {
    return Status(StatusCode::internal, "this feature derives nothing");
  }
  /// Fills all of `numbers`, of which there are Feature::value_count().
  virtual Status measure(const FrameWindow& window, std::span<double> numbers) = 0;
  /// The same for several frames in order, at most Feature::together() from the first to the last.
  virtual Status measure_several(std::span<const FrameWindow> windows, std::span<const std::span<double>> numbers) {
    for (size_t i = 0; i < windows.size(); ++i) {
      if (Status measured = measure(windows[i], numbers[i]); !measured.ok()) return measured;
    }
    return {};
  }
};

struct FeatureOutput {
  std::string name;         // as libvmaf prints it, the options in force included
  bool debug_only = false;  // libvmaf prints it only where the option `debug` is set
};

/// The numbers of a frame and of those around it.
struct MeasuredWindow {
  int64_t index = 0;  // of the frame, from the first of the sequence
  int before = 0;     // Feature::numbers_before()
  std::span<const std::span<const double>> frames;

  /// Those of the frame itself for 0, of the one before it for -1, ...; empty where the sequence has none.
  std::span<const double> operator[](int offset) const { return frames[static_cast<size_t>(before + offset)]; }
  bool has(int offset) const { return !(*this)[offset].empty(); }
};

/// For each value of a feature, that of each frame.
using FeatureSeries = std::vector<std::vector<double>>;

class Feature {
 public:
  struct Setup {
    // The depth is that of the samples measure() gets, which may have been widened.
    FrameFormat format;  // of the reference
    FrameFormat distorted;
    OptionValues options{};
    bool want_map = false;  // map() shall return one, where the feature has any
  };

  virtual ~Feature() = default;
  virtual const std::vector<FeatureOutput>& outputs() const = 0;
  /// Which output a person asks for first.
  virtual size_t headline() const { return 0; }
  /// How many frames before it measure() looks at.
  virtual int history() const { return 0; }
  /// How many frames after the one of that index measure() looks at: at most history() - index.
  virtual int lookahead(int64_t /*index*/) const { return 0; }
  /// How many frames are worth measuring at once, because their windows have frames in common. Not on a device.
  virtual int together() const { return 1; }
  virtual bool derives(Role) const { return false; }
  /// How many there are of numbers of a frame, and of values. Those past outputs() are for aggregates() only.
  virtual size_t value_count() const { return outputs().size(); }
  virtual Result<std::unique_ptr<FeatureWorker>> create_worker() const = 0;

  /// The numbers of how many frames before and after it conclude() looks at.
  virtual int numbers_before() const { return 0; }
  virtual int numbers_after() const { return 0; }
  virtual void conclude(const MeasuredWindow& window, std::span<double> values) const {
    std::copy(window[0].begin(), window[0].end(), values.begin());
  }
  /// The map of the last frame that was measured, where Setup::want_map asked for one. Not on a device.
  virtual std::optional<FrameMap> map() const { return {}; }
  /// What there is one of for the whole sequence, from the frames that are scored.
  virtual std::vector<NamedValue> aggregates(const FeatureSeries&) const { return {}; }

  /// Whether measure() looks at a plane, in the frame or in those before it. Others are not sent to a device.
  virtual bool reads(Role, int /*plane*/) const { return true; }
  /// For features whose entry says that they run on a device (engine/device_feature.h). The device outlives the worker.
  virtual Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const;
};

/// A row of the list of features.
struct FeatureEntry {
  MetricInfo info;  // its name is the one libvmaf's --feature takes
  Result<std::unique_ptr<Feature>> (*create)(const Feature::Setup& setup);
  bool on_gpu = false;  // it has a device worker
  double cpu_ns = 20;   // what a pixel of a pair takes one thread, roughly; "auto" weighs it
};

/// Every feature, in the order lists show them; engine/features.cc names them.
const std::vector<FeatureEntry>& features();
const FeatureEntry* find_feature(std::string_view name);

/// An option that is on or off.
MetricOption switch_option(std::string name, std::string alias, std::string help, bool on);
bool is_on(const OptionValues& options, std::string_view name);

/// The name libvmaf prints for an output: its short form where there is one, and the options that are not at their
/// defaults and count for the name (MetricOption::in_names), in alphabetical order.
std::string output_name(std::string_view name, const MetricInfo& info, const OptionValues& options);

}  // namespace acuity

#endif
