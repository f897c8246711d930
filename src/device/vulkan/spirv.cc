// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/spirv.h"

#include <cstring>
#include <set>

namespace acuity {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;

constexpr uint32_t kOpTypeVoid = 19;  // the first and the last of the types
constexpr uint32_t kOpTypeForwardPointer = 39;
constexpr uint32_t kOpDecorate = 71;
constexpr uint32_t kNoContraction = 42;

constexpr uint32_t kOpFNegate = 127;
constexpr uint32_t kOpFAdd = 129;
constexpr uint32_t kOpFSub = 131;
constexpr uint32_t kOpFMul = 133;
constexpr uint32_t kOpFDiv = 136;
constexpr uint32_t kOpFRem = 140;
constexpr uint32_t kOpFMod = 141;
constexpr uint32_t kOpVectorTimesScalar = 142;  // the first and the last of the products of vectors and matrices
constexpr uint32_t kOpDot = 148;

bool is_arithmetic(uint32_t operation) {
  switch (operation) {
    case kOpFNegate:
    case kOpFAdd:
    case kOpFSub:
    case kOpFMul:
    case kOpFDiv:
    case kOpFRem:
    case kOpFMod:
      return true;
    default:
      return operation >= kOpVectorTimesScalar && operation <= kOpDot;
  }
}

Status damaged(const char* what) {
  return Status(StatusCode::internal, std::string("an embedded SPIR-V module is damaged: ") + what);
}

}  // namespace

Result<std::vector<uint32_t>> forbid_contraction(std::span<const unsigned char> module) {
  std::vector<uint32_t> words(module.size() / sizeof(uint32_t));
  if (words.size() < kHeaderWords || module.size() % sizeof(uint32_t) != 0) return damaged("its size is wrong");
  std::memcpy(words.data(), module.data(), module.size());
  if (words[0] != kMagic) return damaged("it does not begin with SPIR-V's number");

  // Decorations come before the first type.
  size_t first_type = 0;
  std::set<uint32_t> results;
  std::set<uint32_t> decorated;
  for (size_t i = kHeaderWords; i < words.size();) {
    const uint32_t operation = words[i] & 0xFFFF;
    const size_t length = words[i] >> 16;
    if (length == 0 || length > words.size() - i) return damaged("an instruction has a wrong length");
    if (first_type == 0 && operation >= kOpTypeVoid && operation <= kOpTypeForwardPointer) first_type = i;
    if (operation == kOpDecorate && length == 3 && words[i + 2] == kNoContraction) decorated.insert(words[i + 1]);
    if (is_arithmetic(operation)) {
      if (length < 4) return damaged("an arithmetic instruction is too short");
      results.insert(words[i + 2]);  // after the type of the result
    }
    i += length;
  }
  if (first_type == 0) return damaged("it has no types");

  std::vector<uint32_t> decorations;
  for (const uint32_t result : results) {
    if (!decorated.contains(result))
      decorations.insert(decorations.end(), {3u << 16 | kOpDecorate, result, kNoContraction});
  }
  words.insert(words.begin() + static_cast<ptrdiff_t>(first_type), decorations.begin(), decorations.end());
  return words;
}

}  // namespace acuity
