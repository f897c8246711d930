// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric of video frames must offer: one that works on the Y'CbCr samples of a stream and may look at the frames
// before. The names, options and outputs are those of libvmaf, whose features these are.
//
// The work is in two parts. measure() finds the numbers of one frame from that frame and at most kMostHistory before
// it; it keeps nothing from call to call, so that frames can be measured in any order and several at once. conclude()
// then makes of the numbers of all frames, in order, what depends on more than one of them.
#ifndef ACUITY_ENGINE_FEATURE_H
#define ACUITY_ENGINE_FEATURE_H

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/frame.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "engine/options.h"

namespace acuity {

constexpr int kMostHistory = 2;

/// A frame and those before it; null where the sequence has none.
struct FrameWindow {
  int64_t index = 0;                                           // from the first frame of the sequence
  std::array<const FrameView*, kMostHistory + 1> reference{};  // [0] is the frame itself, [1] the one before ...
  std::array<const FrameView*, kMostHistory + 1> distorted{};
};

/// Measures one frame at a time with scratch memory of its own; each thread has one.
class FeatureWorker {
 public:
  virtual ~FeatureWorker() = default;
  virtual size_t bytes() const = 0;
  /// Fills all of `values`, of which there are Feature::value_count().
  virtual Status measure(const FrameWindow& window, std::span<double> values) = 0;
};

struct FeatureOutput {
  std::string name;         // as libvmaf prints it, the options in force included
  bool debug_only = false;  // libvmaf prints it only where the option `debug` is set
};

/// For each value of a feature, that of each frame.
using FeatureSeries = std::vector<std::vector<double>>;

class Feature {
 public:
  struct Setup {
    int width = 0;
    int height = 0;
    int depth = 8;
    Subsampling subsampling = Subsampling::yuv420;
    OptionValues options{};
  };

  virtual ~Feature() = default;
  virtual const std::vector<FeatureOutput>& outputs() const = 0;
  /// Which output a person asks for first.
  virtual size_t headline() const { return 0; }
  /// How many frames before it measure() looks at.
  virtual int history() const { return 0; }
  /// Values past those of outputs() are for conclude() and aggregates() alone.
  virtual size_t value_count() const { return outputs().size(); }
  virtual Result<std::unique_ptr<FeatureWorker>> create_worker() const = 0;
  virtual void conclude(FeatureSeries&) const {}
  /// What there is one of for the whole sequence; after conclude().
  virtual std::vector<NamedValue> aggregates(const FeatureSeries&) const { return {}; }
};

/// A row of the list of features.
struct FeatureEntry {
  MetricInfo info;  // its name is the one libvmaf's --feature takes
  Result<std::unique_ptr<Feature>> (*create)(const Feature::Setup& setup);
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
