// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of a sequence for one worker of a feature, without the pipeline.
#ifndef ACUITY_TESTS_SUPPORT_FEATURE_WINDOWS_H
#define ACUITY_TESTS_SUPPORT_FEATURE_WINDOWS_H

#include <array>
#include <utility>
#include <vector>

#include "base/try.h"
#include "engine/feature.h"

namespace acuity::tests {

class FeatureWindows {
 public:
  /// The feature and the worker outlive it.
  FeatureWindows(const Feature& feature, FeatureWorker& worker, std::vector<FrameView> reference,
                 std::vector<FrameView> distorted)
      : feature_(feature), worker_(worker), frames_{std::move(reference), std::move(distorted)} {
    for (auto& derived : derived_) derived.resize(frames_[0].size());
  }

  size_t count() const { return frames_[0].size(); }

  /// What the feature keeps of a frame, made anew.
  Status derive(size_t index) {
    for (const Role role : {Role::reference, Role::distorted}) {
      const auto side = static_cast<size_t>(role);
      if (!feature_.derives(role)) continue;
      ACUITY_TRY_ASSIGN(derived_[side][index], worker_.derive(role, frames_[side][index]));
    }
    return {};
  }

  /// In any order. Derives what has not been.
  Status measure(size_t index, std::span<double> numbers) {
    const auto length = static_cast<size_t>(feature_.history()) + 1;
    std::array<std::vector<const FrameView*>, 2> views;
    std::array<std::vector<const DerivedFrame*>, 2> derived;
    for (size_t back = 0; back < length; ++back) {
      const bool is_there = back <= index;
      const size_t at = is_there ? index - back : 0;
      for (size_t side = 0; side < 2; ++side) {
        const bool is_missing = is_there && feature_.derives(static_cast<Role>(side)) && !derived_[side][at];
        if (is_missing) ACUITY_TRY(derive(at));
        views[side].push_back(is_there ? &frames_[side][at] : nullptr);
        derived[side].push_back(is_there ? derived_[side][at].get() : nullptr);
      }
    }
    return worker_.measure({static_cast<int64_t>(index), views[0], views[1], {derived[0], derived[1]}}, numbers);
  }

  /// The values of a frame, given the numbers of all.
  std::vector<double> conclude(size_t index, const std::vector<std::vector<double>>& numbers) const {
    std::vector<std::span<const double>> window;
    for (int offset = -feature_.numbers_before(); offset <= feature_.numbers_after(); ++offset) {
      const int64_t at = static_cast<int64_t>(index) + offset;
      const bool is_there = at >= 0 && at < static_cast<int64_t>(numbers.size());
      window.push_back(is_there ? std::span<const double>(numbers[static_cast<size_t>(at)])
                                : std::span<const double>());
    }
    std::vector<double> values(feature_.value_count());
    feature_.conclude({static_cast<int64_t>(index), feature_.numbers_before(), window}, values);
    return values;
  }

 private:
  const Feature& feature_;
  FeatureWorker& worker_;
  std::array<std::vector<FrameView>, 2> frames_;
  std::array<std::vector<std::shared_ptr<const DerivedFrame>>, 2> derived_;
};

}  // namespace acuity::tests

#endif
