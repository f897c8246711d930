// SPDX-License-Identifier: BSD-2-Clause-Patent
// What lists of pairs may look like, and what is said of those that are wrong.
#include "cli/pair_list.h"

#include <gtest/gtest.h>

namespace acuity::cli {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct ReadList {
  std::vector<std::string> columns;
  std::vector<PairRow> rows;
  Status status;
};

ReadList read(const std::string& text) {
  ReadList read;
  Result<std::unique_ptr<PairList>> list = list_of_text(text, "list");
  if (!list.ok()) {
    read.status = list.status();
    return read;
  }
  for (;;) {
    PairRow row;
    const Result<bool> any = (*list)->next(row);
    read.status = any.status();
    if (!any.ok() || !*any) break;
    read.rows.push_back(row);
  }
  read.columns = (*list)->columns();
  return read;
}

std::vector<std::string> texts(const PairRow& row) {
  std::vector<std::string> list{row.reference, row.distorted};
  for (const PassedValue& value : row.others) list.push_back(value.text);
  return list;
}

using Strings = std::vector<std::string>;

TEST(PairList, ReadsCsv) {
  const ReadList list = read("q,reference,distorted\n50,a.png,b.png\n60,\"a,\"\"x\"\".png\",\"two\nlines\"\n");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  EXPECT_EQ(list.columns, Strings{"q"});
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_EQ(texts(list.rows[0]), (Strings{"a.png", "b.png", "50"}));
  EXPECT_EQ(texts(list.rows[1]), (Strings{"a,\"x\".png", "two\nlines", "60"}));
  EXPECT_EQ(list.rows[1].line, 3);
  EXPECT_EQ(list.rows[1].number, 2);
}

TEST(PairList, ReadsWhatSpreadsheetsWrite) {
  const ReadList list = read("\xef\xbb\xbfref_path\tdist_path\tnote\r\na\tb\t\r\n\r\nc\td\t\"x\ty\"");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_EQ(texts(list.rows[0]), (Strings{"a", "b", ""}));
  EXPECT_EQ(texts(list.rows[1]), (Strings{"c", "d", "x\ty"}));
}

TEST(PairList, ReadsJsonLines) {
  const ReadList list = read(
      "{\"reference\":\"a\\u00e9\",\"distorted\":\"b\",\"q\":0.10,\"metrics\":[\"psnr\",\"mse\"],\"tags\":[1,{\"x\":\"}"
      "\"}]}\n\n"
      "{\"tags\":null,\"dist_path\":\"d\",\"ref_path\":\"c\"}\n");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  EXPECT_EQ(list.columns, (Strings{"q", "metrics", "tags"}));
  ASSERT_EQ(list.rows.size(), 2u);
  // As it is written: 0.10 is not 0.1.
  EXPECT_EQ(texts(list.rows[0]), (Strings{"a\xc3\xa9", "b", "0.10", "[\"psnr\",\"mse\"]", "[1,{\"x\":\"}\"}]"}));
  EXPECT_EQ(list.rows[0].metrics, "psnr,mse");
  EXPECT_EQ(texts(list.rows[1]), (Strings{"c", "d", "null", "null", "null"}));
  EXPECT_EQ(list.rows[1].line, 3);
}

// As far as a number can go: they are only passed through.
TEST(PairList, ReadsNumbersOfAnySize) {
  const std::string large(400, '9');
  const ReadList list = read("{\"reference\":\"a\",\"distorted\":\"b\",\"q\":[1e400," + large + ",\"1e400\\\"\"]}\n");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  EXPECT_EQ(list.rows[0].others[0].text, "[1e400," + large + ",\"1e400\\\"\"]");
  EXPECT_FALSE(read("{\"reference\":\"a\",\"distorted\":\"b\",\"q\":0400}\n").status.ok());
  EXPECT_TRUE(read("[q],reference,distorted\n1,a,b\n").status.ok()) << "CSV all the same";
}

TEST(PairList, RowsMayHaveMetrics) {
  const ReadList list = read("reference,distorted,metrics\na,b,\"psnr,mse\"\na,c,\n");
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_EQ(list.rows[0].metrics, "psnr,mse");
  EXPECT_EQ(list.rows[1].metrics, "");
}

TEST(PairList, MistakesAreToldWithTheirLine) {
  const std::string header = "reference,distorted,q\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "list: is empty"},
      {"ref,distorted\n", "list, line 1: the header has no column 'reference' or 'ref_path'; found: ref, distorted"},
      {"reference;distorted\n",
       "found: reference;distorted (separated by commas); columns must be separated by commas or tabs"},
      {"reference,distorted,q,q\n", "two columns are named 'q'"},
      {"reference,ref_path,distorted\n", "mean the same"},
      {"reference,distorted,metrics,Metrics\n", "'metrics' and 'Metrics' mean the same"},
      {"reference,distorted,\n", "column 3 of the header has no name"},
      {"\treference\tdistorted\n0\ta\tb\n", "list, line 1: column 1 of the header has no name"},
      {header + "a,b,1\na,b\n", "list, line 3: found 2 fields; expected 3"},
      {header + "a,b,1\n\n\"x\ny\",b,1\na,,1\n", "list, line 6: the distorted is empty"},
      {header + "-,b,1\n", "list, line 2: the reference is -"},
      {header + "\"a\"b,b,1\n", "list, line 2: found text behind the closing quote of field 1"},
      {header + "a,\"b,1\n", "list, line 2: a field in quotes does not end"},
      {header + std::string("a,b\0,1\n", 7), "list, line 2: found a zero byte"},
      {"\xff\xfer\0e\0", "is UTF-16; save it as UTF-8"},
      {"{\"reference\":\"a\"}\n", "list, line 1: there is no field 'distorted'"},
      {"{\"reference\":\"a\",\"distorted\":1}\n", "'distorted' is 1; expected a string"},
      {"{\"reference\":\"a\",\"distorted\":\"b\"}\nx\n", "list, line 2: found 'x'; expected one JSON object"},
      {"{\"reference\":\"a\",\"distorted\":\"b\"}\n[]\n", "list, line 2: found '[]'; expected a JSON object"},
      {"{\"reference\":\"a\",\"distorted\":\"b\",\"q\":1,\"q\":2}\n", "the field 'q' appears twice"},
      {"{\"reference\":\"a\",\"distorted\":\"b\"}\n{\"reference\":\"a\",\"distorted\":\"b\",\"q\":1}\n",
       "list, line 2: the field 'q' is not in the first row"},
      {"{\"reference\":\"a\",\"distorted\":\"b\",\"q\":\"\\u0000\"}\n", "the field 'q' has a zero byte"},
      {"{\"reference\":\"a\",\"distorted\":\"b\",\"metrics\":\"mse\",\"METRICS\":\"psnr\"}\n",
       "'METRICS' is given under two names"},
      {"[{\"reference\":\"a\",\"distorted\":\"b\"},\n", "begins with '['; expected one JSON object per line"},
      {"\t[\n  {\n", "begins with '['; expected one JSON object per line"},
      {"{\"reference\":\"a\",\"distorted\":\"b\",\"metrics\":[1]}\n", "'metrics' is [1]; expected a string"},
  };
  for (const auto& [text, message] : wrong) {
    const ReadList list = read(text);
    EXPECT_FALSE(list.status.ok()) << text;
    EXPECT_EQ(list.status.code(), StatusCode::input) << text;
    EXPECT_TRUE(contains(list.status.message(), message)) << list.status.message();
  }
}

TEST(PairList, JsonLinesMayBeIndented) {
  const ReadList list =
      read("\n \t {\"reference\":\"a\",\"distorted\":\"b\"}\n\t{\"reference\":\"a\",\"distorted\":\"c\"}\n");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  EXPECT_EQ(list.rows.size(), 2u);
}

TEST(PairList, DeepJsonIsPassedThrough) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const ReadList list = read("{\"reference\":\"a\",\"distorted\":\"b\",\"x\":" + deep + "}\n");
  ASSERT_TRUE(list.status.ok()) << list.status.message();
  EXPECT_EQ(list.rows[0].others[0].text, deep);
}

TEST(PairList, ARowHasALimit) {
  const std::string endless(size_t{3} << 20, 'x');
  EXPECT_TRUE(contains(read("reference,distorted\na," + endless).status.message(), "more than 1048576 bytes"));
  EXPECT_TRUE(contains(read("reference,distorted\na,\"" + endless).status.message(), "is a \" missing?"));
  EXPECT_TRUE(contains(read("{\"reference\":\"" + endless).status.message(), "more than 1048576 bytes"));
}

}  // namespace
}  // namespace acuity::cli
