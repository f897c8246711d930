// SPDX-License-Identifier: BSD-2-Clause-Patent
// The committed pictures, and what the published references say of them.
#ifndef ACUITY_TESTS_SUPPORT_FIXTURES_H
#define ACUITY_TESTS_SUPPORT_FIXTURES_H

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acuity/picture.h"
#include "support/slow_machine.h"

namespace acuity::tests {

/// The folder tests/ of the source, wherever the program runs.
inline std::string tests_folder() {
  const char* elsewhere = std::getenv("ACUITY_TESTS");
  return elsewhere != nullptr ? elsewhere : ACUITY_TEST_DATA;
}

inline Picture fixture(const std::string& name) {
  Result<Picture> picture = read_picture(tests_folder() + "/data/" + name);
  if (!picture.ok()) throw std::runtime_error(picture.status().message());
  return *picture;
}

struct Golden {
  std::string reference;
  std::string distorted;
  std::string output;
  std::string value;  // a number, or ERROR and the reference's words
  bool refused() const { return value.starts_with("ERROR"); }
};

/// The rows of tests/golden/<file> whose output column is `output`; of many, a slow machine gets those of every
/// fourth pair.
inline std::vector<Golden> goldens(const std::string& file, const std::string& output) {
  std::ifstream stream(tests_folder() + "/golden/" + file);
  std::vector<Golden> rows, some;
  std::map<std::pair<std::string, std::string>, size_t> pairs;
  std::string line;
  std::getline(stream, line);  // the header
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    Golden row;
    std::getline(fields, row.reference, ',');
    std::getline(fields, row.distorted, ',');
    std::getline(fields, row.output, ',');
    std::getline(fields, row.value);
    const size_t pair = pairs.try_emplace({row.reference, row.distorted}, pairs.size()).first->second;
    if (row.output == output) rows.push_back(row);
    if (row.output == output && pair % 4 == 0) some.push_back(row);
  }
  if (rows.empty()) throw std::runtime_error("no goldens in " + file);
  return kSlowMachine && rows.size() > 20 ? some : rows;
}

}  // namespace acuity::tests

#endif
