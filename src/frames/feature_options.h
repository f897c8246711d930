// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of features that show in the names of their outputs.
#ifndef ACUITY_FRAMES_FEATURE_OPTIONS_H
#define ACUITY_FRAMES_FEATURE_OPTIONS_H

#include <string>
#include <utility>
#include <vector>

#include "acuity/scorer.h"

namespace acuity {

inline MetricOption named_option(std::string name, std::string alias, std::string help, std::string default_value) {
  MetricOption option{.name = std::move(name), .help = std::move(help), .default_value = std::move(default_value)};
  option.alias = std::move(alias);
  option.in_names = true;
  return option;
}

inline MetricOption number_option(std::string name, std::string alias, std::string help, std::string default_value,
                                  double least, double most) {
  MetricOption option = named_option(std::move(name), std::move(alias), std::move(help), std::move(default_value));
  option.minimum = least;
  option.maximum = most;
  return option;
}

inline MetricOption whole_option(std::string name, std::string alias, std::string help, std::string default_value,
                                 double least, double most) {
  MetricOption option =
      number_option(std::move(name), std::move(alias), std::move(help), std::move(default_value), least, most);
  option.whole = true;
  return option;
}

/// The first word is the default.
inline MetricOption word_option(std::string name, std::string alias, std::string help, std::vector<std::string> words) {
  MetricOption option = named_option(std::move(name), std::move(alias), std::move(help), words.front());
  option.words = std::move(words);
  return option;
}

}  // namespace acuity

#endif
