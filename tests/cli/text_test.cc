// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/text.h"

#include <cfloat>
#include <cstdlib>

#include <gtest/gtest.h>

namespace acuity::cli {
namespace {

TEST(Text, ExactNumbersReadBackTheSame) {
  for (const double value : {0.1, 1.0 / 3, 63.724287165981167, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 100.0, 0.0}) {
    EXPECT_EQ(std::strtod(exact_number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(exact_number(100), "100");
  EXPECT_EQ(exact_number(0.1), "0.10000000000000001");
}

TEST(Text, JsonStrings) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(json_string("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(json_string("\xff.png"), "\"\xef\xbf\xbd.png\"");
}

TEST(Text, CsvFields) {
  EXPECT_EQ(csv_field("plain name.png"), "plain name.png");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

TEST(Text, PrintableKeepsOneLine) { EXPECT_EQ(printable("a\nb\x1b[31m\xc3\xa9"), "a?b?[31m\xc3\xa9"); }

TEST(Text, Wrapping) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("incomprehensible", 7), (std::vector<std::string>{"incomprehensible"}));
}

}  // namespace
}  // namespace acuity::cli
