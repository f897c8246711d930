// SPDX-License-Identifier: BSD-2-Clause-Patent
// Features of video frames for tests: measured frame by frame, and compared with what libvmaf found.
//
// tests/golden/video/NAME.csv holds libvmaf's values, one a line: clip,frame,output,value; frame is "aggregate" where
// there is one value for the clip. A line that begins with # says which arguments libvmaf had.
#ifndef ACUITY_TESTS_SUPPORT_FEATURES_H
#define ACUITY_TESTS_SUPPORT_FEATURES_H

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/feature.h"
#include "lang/targets.h"
#include "support/feature_windows.h"
#include "support/slow_machine.h"
#include "support/synthetic_video.h"

namespace acuity::tests {

struct GoldenValue {
  std::string clip;
  std::string frame;
  std::string output;
  double value = 0;
};

/// On a slow machine without the largest clips.
inline std::vector<GoldenValue> read_video_golden(const std::string& name) {
  std::ifstream file(std::string(ACUITY_TEST_DATA) + "/golden/video/" + name + ".csv");
  EXPECT_TRUE(file) << "no golden values for " << name;
  std::vector<GoldenValue> values;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    GoldenValue golden;
    std::string value;
    std::getline(fields, golden.clip, ',');
    std::getline(fields, golden.frame, ',');
    std::getline(fields, golden.output, ',');
    std::getline(fields, value, ',');
    golden.value = std::strtod(value.c_str(), nullptr);
    if (!kSlowMachine || !golden.clip.starts_with("synth_1920x1080")) values.push_back(golden);
  }
  EXPECT_FALSE(values.empty());
  return values;
}

/// What a feature says of a clip: by output, one value a frame, and the aggregates.
struct FeatureValues {
  std::map<std::string, std::vector<double>> frames;
  std::map<std::string, double> aggregates;
};

inline Result<std::unique_ptr<Feature>> create_feature(const std::string& name, const FrameShape& format,
                                                       const std::vector<OptionValue>& options) {
  const FeatureEntry* entry = find_feature(name);
  if (entry == nullptr) return Status(StatusCode::usage, "no feature " + name);
  Result<OptionValues> values = OptionValues::parse(entry->info, options);
  if (!values.ok()) return values.status();
  return entry->create({{format}, {format}, *values});
}

/// Frames are measured from the last to the first, because their order must not matter.
inline FeatureValues measure_clip(const std::string& name, const SyntheticClip& clip,
                                  const std::vector<OptionValue>& options = {}) {
  FeatureValues result;
  const Result<std::unique_ptr<Feature>> feature = create_feature(name, clip.reference.front().format, options);
  EXPECT_TRUE(feature.ok()) << feature.status().message();
  if (!feature.ok()) return result;
  Result<std::unique_ptr<FeatureWorker>> worker = (*feature)->create_worker();
  EXPECT_TRUE(worker.ok()) << worker.status().message();
  if (!worker.ok()) return result;
  std::vector<FrameView> reference, distorted;
  for (const OwnedFrame& frame : clip.reference) reference.push_back(frame.view());
  for (const OwnedFrame& frame : clip.distorted) distorted.push_back(frame.view());
  FeatureWindows windows(**feature, **worker, std::move(reference), std::move(distorted));
  std::vector<std::vector<double>> numbers(windows.count(), std::vector<double>((*feature)->value_count()));
  for (size_t i = windows.count(); i-- > 0;) {
    const Status status = windows.measure(i, numbers[i]);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  FeatureSeries series((*feature)->value_count());
  for (size_t i = 0; i < windows.count(); ++i) {
    const std::vector<double> values = windows.conclude(i, numbers);
    for (size_t v = 0; v < values.size(); ++v) series[v].push_back(values[v]);
  }
  for (const NamedValue& aggregate : (*feature)->aggregates(series))
    result.aggregates[aggregate.name] = aggregate.value;
  for (size_t v = 0; v < (*feature)->outputs().size(); ++v) {
    result.frames[(*feature)->outputs()[v].name] = std::move(series[v]);
  }
  return result;
}

/// Measures every clip of a golden file and compares each value; a tolerance of 0 asks for ==.
inline void expect_golden(const std::string& golden_name, const std::string& feature,
                          const std::vector<OptionValue>& options, double tolerance) {
  std::map<std::string, FeatureValues> measured;
  for (const GoldenValue& golden : read_video_golden(golden_name)) {
    if (!measured.contains(golden.clip)) {
      measured[golden.clip] = measure_clip(feature, synthetic_clip(golden.clip), options);
    }
    const FeatureValues& values = measured[golden.clip];
    const std::string place = golden.clip + " frame " + golden.frame + " " + golden.output;
    double found = 0;
    if (golden.frame == "aggregate") {
      ASSERT_TRUE(values.aggregates.contains(golden.output)) << place;
      found = values.aggregates.at(golden.output);
    } else {
      ASSERT_TRUE(values.frames.contains(golden.output)) << place;
      found = values.frames.at(golden.output).at(std::stoul(golden.frame));
    }
    if (tolerance == 0) {
      EXPECT_EQ(found, golden.value) << place;
    } else {
      EXPECT_NEAR(found, golden.value, tolerance) << place;
    }
  }
}

/// Compares one output of a clip with what libvmaf said, frame by frame; a tolerance of 0 asks for ==.
inline void expect_values(const std::string& feature, const std::string& clip, const std::vector<OptionValue>& options,
                          const std::string& output, const std::vector<double>& expected, double tolerance) {
  const FeatureValues values = measure_clip(feature, synthetic_clip(clip), options);
  ASSERT_TRUE(values.frames.contains(output)) << output;
  const std::vector<double>& found = values.frames.at(output);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (tolerance == 0) {
      EXPECT_EQ(found[i], expected[i]) << output << " frame " << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], tolerance) << output << " frame " << i;
    }
  }
}

/// All outputs are == on every instruction set of this machine.
inline void expect_same_on_all_targets(const std::string& feature, const SyntheticClip& frames,
                                       const std::vector<OptionValue>& options = {}) {
  const FeatureValues expected = measure_clip(feature, frames, options);
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    const FeatureValues found = measure_clip(feature, frames, options);
    EXPECT_EQ(found.frames, expected.frames) << target;
    EXPECT_EQ(found.aggregates, expected.aggregates) << target;
  }
  EXPECT_TRUE(limit_cpu("").ok());
}
inline void expect_same_on_all_targets(const std::string& feature, const std::string& clip,
                                       const std::vector<OptionValue>& options = {}) {
  expect_same_on_all_targets(feature, synthetic_clip(clip), options);
}

/// create() refuses frames like these, with a message that holds `words`.
inline void expect_refused(const std::string& feature, const FrameShape& format, const std::string& words,
                           const std::vector<OptionValue>& options = {}) {
  const Result<std::unique_ptr<Feature>> created = create_feature(feature, format, options);
  ASSERT_FALSE(created.ok());
  EXPECT_NE(created.status().message().find(words), std::string::npos) << created.status().message();
}

/// Options as libvmaf's --feature takes them: "name=value:name=value".
inline std::vector<OptionValue> options_of(const std::string& text) {
  std::vector<OptionValue> options;
  std::istringstream settings(text);
  for (std::string setting; std::getline(settings, setting, ':');) {
    const size_t equals = setting.find('=');
    options.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
  }
  return options;
}

/// An output of the last frame with some options.
struct ExpectedOutput {
  std::string options;
  std::string output;
  double value;
};

/// Compares with ==.
inline void expect_last_values(const std::string& feature, const std::string& clip_name,
                               const std::vector<ExpectedOutput>& expected) {
  const SyntheticClip clip = synthetic_clip(clip_name);
  std::map<std::string, FeatureValues> measured;
  for (const ExpectedOutput& row : expected) {
    if (!measured.contains(row.options)) measured[row.options] = measure_clip(feature, clip, options_of(row.options));
    const auto& frames = measured[row.options].frames;
    ASSERT_TRUE(frames.contains(row.output)) << row.options << " " << row.output;
    EXPECT_EQ(frames.at(row.output).back(), row.value) << row.options << " " << row.output;
  }
}

}  // namespace acuity::tests

#endif
