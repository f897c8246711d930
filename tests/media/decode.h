// SPDX-License-Identifier: BSD-2-Clause-Patent
// Decoding in tests, where failure is a failed test.
#ifndef ACUITY_TESTS_MEDIA_DECODE_H
#define ACUITY_TESTS_MEDIA_DECODE_H

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "media/encode.h"

namespace acuity::tests {

/// Whether the text has all these parts.
inline testing::AssertionResult says(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "no '" << part << "' in: " << text;
  }
  return testing::AssertionSuccess();
}

/// Whether an entry of the list has that part.
inline testing::AssertionResult lists(const std::vector<std::string>& list, const std::string& part) {
  std::string all;
  for (const std::string& entry : list) {
    if (entry.find(part) != std::string::npos) return testing::AssertionSuccess();
    all += entry + "; ";
  }
  return testing::AssertionFailure() << "no '" << part << "' in: " << all;
}

inline testing::AssertionResult lists_only(const std::vector<std::string>& list, const std::string& part) {
  if (list.size() != 1) return testing::AssertionFailure() << list.size() << " entries, not one";
  return lists(list, part);
}

inline Picture decode(const File& file) {
  Result<Picture> picture = decode_picture(file, "test");
  EXPECT_TRUE(picture.ok()) << picture.status().message();
  if (!picture.ok()) return {};
  EXPECT_FALSE(picture->format.empty());
  EXPECT_FALSE(picture->found.empty());
  return *picture;
}

/// Why a file is refused; it must be in one line that names the file.
inline std::string refusal(const File& file, StatusCode code = StatusCode::input, const PictureLimits& limits = {}) {
  const Result<Picture> picture = decode_picture(file, "bad.file", limits);
  EXPECT_FALSE(picture.ok());
  EXPECT_EQ(picture.status().code(), code) << picture.status().message();
  EXPECT_TRUE(says(picture.status().message(), {"'bad.file'"}));
  EXPECT_EQ(picture.status().message().find('\n'), std::string::npos);
  return picture.status().message();
}

/// That the file holds exactly these samples in this form.
inline void expect_samples(const Picture& picture, const Drawing& drawing) {
  const ImageView& view = picture.view;
  EXPECT_EQ(view.width, drawing.width);
  EXPECT_EQ(view.height, drawing.height);
  EXPECT_EQ(view.channel_count(), drawing.channels);
  EXPECT_EQ(view.depth, drawing.bits);
  EXPECT_EQ(view.type, drawing.bits == 8 ? SampleType::u8 : SampleType::u16);
  EXPECT_EQ(values_of(picture), values_of(drawing));
}

/// The largest difference of corresponding values.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace acuity::tests

#endif
