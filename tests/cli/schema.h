// SPDX-License-Identifier: BSD-2-Clause-Patent
// Checks a document against a JSON Schema: the few keywords that docs/acuity-score-1.schema.json uses.
#ifndef ACUITY_TESTS_CLI_SCHEMA_H
#define ACUITY_TESTS_CLI_SCHEMA_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace acuity::test {

/// What is wrong, place by place; empty when the document is valid. A keyword that is not understood is wrong too.
std::vector<std::string> violations(const nlohmann::json& document, const nlohmann::json& schema);

}  // namespace acuity::test

#endif
