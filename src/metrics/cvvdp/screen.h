// SPDX-License-Identifier: BSD-2-Clause-Patent
// The display that the options of the metric describe, and how it reads what files hold.
#ifndef ACUITY_METRICS_CVVDP_SCREEN_H
#define ACUITY_METRICS_CVVDP_SCREEN_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acuity/image.h"
#include "acuity/scorer.h"
#include "engine/options.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"

namespace acuity::cvvdp {

/// A display that pictures are shown on.
class Screen {
 public:
  Screen(Display display, const Photometry& photometry) : display_(std::move(display)), photometry_(photometry) {}

  const Display& display() const { return display_; }
  const Photometry& photometry() const { return photometry_; }
  /// The light of all codes of a depth, made when it is first asked for.
  const std::shared_ptr<const std::vector<float>>& table_of(int depth);
  /// For the list of assumptions: the display, and what becomes of samples that mean this.
  std::string description() const;
  std::string reading_of(const Colour& colour) const;

 private:
  Display display_;
  Photometry photometry_;
  std::map<int, std::shared_ptr<const std::vector<float>>> tables_;
};

/// The one that was chosen, or by default the standard ones for what files hold, which differ only in how they make
/// light.
class Screens {
 public:
  static Result<Screens> create(const OptionValues& options);
  double pixels_per_degree() const { return cvvdp::pixels_per_degree(screens_[0].display()); }
  /// For scales_of().
  int most_scales() const { return most_scales_; }
  /// The score is another if that limits anything; a line for the list of assumptions, for pictures of that size.
  std::vector<std::string> capped(Size picture) const;
  /// For a reference whose samples mean this.
  Result<Screen*> for_colour(const Colour& reference);

 private:
  std::vector<Screen> screens_;
  Status no_hlg_;  // why the one for HLG is not among them, where light of the room forbids it
  int most_scales_ = 0;
};

/// Which display, and what of it is replaced.
std::vector<MetricOption> display_options();

/// What only videos have: padding before them, and scaling to the full screen. A picture accepts the defaults alone.
std::vector<MetricOption> time_options();
inline constexpr const char* kNoResizing = "no";

/// What the outputs of the largest pictures on that display are called; smaller ones have some of them.
Result<std::vector<std::string>> names_of_outputs(const OptionValues& options, int channels);

/// Whether the options, of pictures or videos, describe a display.
Status check_options(const OptionValues& options);

/// What a score means to a person.
std::string meaning_of_jod(double value);

}  // namespace acuity::cvvdp

#endif
