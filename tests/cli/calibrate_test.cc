// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a calibration measures decoding.
#include "cli/calibrate.h"

#include <gtest/gtest.h>

#include "acuity/picture.h"
#include "cli/sample_files.h"
#include "engine/chooser.h"
#include "engine/measurements.h"
#include "media/decoder.h"

namespace acuity::cli {
namespace {

TEST(SampleFiles, AreWhatTheyAreCalled) {
  constexpr int kSide = 256;
  for (const SampleFormat& format : sample_formats()) {
    const std::vector<uint8_t> file = format.file(sample_picture(kSide), kSide);
    ASSERT_FALSE(file.empty()) << format.name;
    EXPECT_EQ(picture_format(file), format.name);
    const Result<Picture> picture = decode_picture(file, "drawn");
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(picture->view.width, kSide);
    EXPECT_EQ(picture->view.height, kSide);
    // Neither flat nor noise: a photograph has 1 to 3 bits per pixel.
    const double bits = static_cast<double>(file.size()) * 8 / (kSide * kSide);
    if (format.name != "JPEG") continue;
    EXPECT_GT(bits, 1);
    EXPECT_LT(bits, 3);
  }
}

Calibration of_decoding(double limit_ms) {
  return {.devices = {},
          .metrics = {},
          .decoding = true,
          .limit_ms = limit_ms,
          .progress = [](const std::string&) {},
          .stop = [] { return false; }};
}

TEST(Calibrate, MeasuresDecoding) {
  constexpr int kSizes = 4;
  const int figures = kSizes * static_cast<int>(sample_formats().size());
  const CalibrationResult late = calibrate(of_decoding(-1));
  EXPECT_EQ(late.left_out, figures);
  EXPECT_TRUE(process_measurements().now().figures().empty());

  const CalibrationResult result = calibrate(of_decoding(600e3));
  EXPECT_EQ(result.measured, figures);
  EXPECT_TRUE(result.failures.empty()) << result.failures.front();
  const Measurements measured = process_measurements().now();
  for (const SampleFormat& format : sample_formats()) {
    for (const double side : {256.0, 512.0, 1024.0, 2048.0}) {
      const auto figure = measured.figures().find(
          {measured_cpu_key(), std::string(format.name), {.kind = RowMode::Kind::decode}, size_class(side * side)});
      ASSERT_NE(figure, measured.figures().end()) << format.name << " " << side;
      EXPECT_GT(figure->second.ns, 0);
      EXPECT_LT(figure->second.ns, 100e3) << "nanoseconds per pixel, not per picture";
    }
  }
  EXPECT_NE(measured.device(measured_cpu_key()), nullptr) << "'acuity bench' lists figures by device";
}

}  // namespace
}  // namespace acuity::cli
