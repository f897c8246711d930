// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/schema.h"

namespace acuity::test {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  return false;
}

class Checker {
 public:
  explicit Checker(const json& root) : root_(root) {}

  void check(const json& value, const json& schema, const std::string& place) {
    for (const auto& [keyword, rule] : schema.items()) apply(keyword, rule, value, schema, place);
  }

  std::vector<std::string> violations;

 private:
  void report(const std::string& place, const std::string& what) { violations.push_back(place + ": " + what); }

  void apply(const std::string& keyword, const json& rule, const json& value, const json& schema,
             const std::string& place) {
    if (keyword == "type") {
      if (!has_type(value, rule)) report(place, "is no " + rule.get<std::string>());
    } else if (keyword == "const") {
      if (value != rule) report(place, "is not " + rule.dump());
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end()) report(place, "is none of " + rule.dump());
    } else if (keyword == "minimum") {
      if (value.is_number() && value < rule) report(place, "is below " + rule.dump());
    } else if (keyword == "minProperties") {
      if (value.size() < rule) report(place, "is too empty");
    } else if (keyword == "required") {
      for (const json& name : rule) {
        if (!value.contains(name.get<std::string>())) report(place, "lacks " + name.dump());
      }
    } else if (keyword == "properties") {
      for (const auto& [name, part] : rule.items()) {
        if (value.contains(name)) check(value[name], part, place + "/" + name);
      }
    } else if (keyword == "additionalProperties") {
      check_additional(rule, value, schema, place);
    } else if (keyword == "items") {
      for (size_t i = 0; i < value.size(); ++i) check(value[i], rule, place + "/" + std::to_string(i));
    } else if (keyword == "oneOf") {
      check_one_of(rule, value, place);
    } else if (keyword == "$ref") {
      check(value, root_.at(json::json_pointer(rule.get<std::string>().substr(1))), place);
    } else if (!keyword.starts_with("$") && keyword != "title" && keyword != "description") {
      report(place, "cannot be checked for " + keyword);
    }
  }

  void check_additional(const json& rule, const json& value, const json& schema, const std::string& place) {
    for (const auto& [name, part] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) continue;
      if (rule == false) {
        report(place, "has an unknown " + name);
      } else {
        check(part, rule, place + "/" + name);
      }
    }
  }

  void check_one_of(const json& rule, const json& value, const std::string& place) {
    int matches = 0;
    std::string why;
    for (const json& choice : rule) {
      Checker checker(root_);
      checker.check(value, choice, place);
      matches += checker.violations.empty() ? 1 : 0;
      for (const std::string& violation : checker.violations) why += " [" + violation + "]";
    }
    if (matches != 1) report(place, "matches " + std::to_string(matches) + " choices:" + why);
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> violations(const nlohmann::json& document, const nlohmann::json& schema) {
  Checker checker(schema);
  checker.check(document, schema, "");
  return checker.violations;
}

}  // namespace acuity::test
