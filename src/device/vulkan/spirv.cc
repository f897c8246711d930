// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/spirv.h"

#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "lang/kernel.h"

namespace acuity {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;

constexpr uint32_t kOpEntryPoint = 15;
constexpr uint32_t kOpExecutionMode = 16;
constexpr uint32_t kOpCapability = 17;
constexpr uint32_t kOpTypeVoid = 19;  // the first and the last of the types
constexpr uint32_t kOpTypeForwardPointer = 39;
constexpr uint32_t kOpTypeBool = 20;
constexpr uint32_t kOpTypeInt = 21;
constexpr uint32_t kOpTypeFloat = 22;
constexpr uint32_t kOpTypeVector = 23;
constexpr uint32_t kOpTypeArray = 28;
constexpr uint32_t kOpTypeStruct = 30;
constexpr uint32_t kOpTypePointer = 32;
constexpr uint32_t kOpConstant = 43;
constexpr uint32_t kOpVariable = 59;
constexpr uint32_t kWorkgroup = 4;  // a storage class
constexpr uint32_t kOpDecorate = 71;
constexpr uint32_t kNoContraction = 42;
constexpr uint32_t kRestrictPointer = 5355;
constexpr uint32_t kAliasedPointer = 5356;
constexpr uint32_t kCapabilityAfterMode = 5;  // a float mode's capability has the number 5 after its own

constexpr uint32_t kShader = 1;  // capabilities
constexpr uint32_t kFloat64 = 10;
constexpr uint32_t kInt64 = 11;
constexpr uint32_t kStorageBuffer16BitAccess = 4433;
constexpr uint32_t kStorageBuffer8BitAccess = 4448;
constexpr uint32_t kPhysicalStorageBufferAddresses = 5347;

constexpr uint32_t kOpFConvert = 115;
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
    case kOpFConvert:  // Mesa 25 takes a double that was made a float and a double again for the first
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

/// Where things go, and what is to be decorated.
struct Findings {
  size_t first_execution_mode = 0;
  size_t first_type = 0;
  uint32_t entry_point = 0;
  std::set<uint32_t> capabilities;
  std::set<uint32_t> results;    // of arithmetic
  std::set<uint32_t> decorated;  // NoContraction already
  std::vector<size_t> aliased;   // where a pointer is said to be
};

Result<Findings> walk(const std::vector<uint32_t>& words) {
  Findings found;
  for (size_t i = kHeaderWords; i < words.size();) {
    const uint32_t operation = words[i] & 0xFFFF;
    const size_t length = words[i] >> 16;
    if (length == 0 || length > words.size() - i) return damaged("an instruction has a wrong length");
    if (operation == kOpCapability && length == 2) found.capabilities.insert(words[i + 1]);
    if (operation == kOpEntryPoint && length >= 4) found.entry_point = words[i + 2];
    if (operation == kOpExecutionMode && found.first_execution_mode == 0) found.first_execution_mode = i;
    if (operation == kOpDecorate && length == 3 && words[i + 2] == kNoContraction) found.decorated.insert(words[i + 1]);
    if (operation == kOpDecorate && length == 3 && words[i + 2] == kAliasedPointer) found.aliased.push_back(i + 2);
    if (operation >= kOpTypeVoid && operation <= kOpTypeForwardPointer && found.first_type == 0) found.first_type = i;
    if (is_arithmetic(operation)) {
      if (length < 4) return damaged("an arithmetic instruction is too short");
      found.results.insert(words[i + 2]);  // after the type of the result
    }
    i += length;
  }
  if (found.entry_point == 0 || found.first_execution_mode == 0 || found.first_type < found.first_execution_mode) {
    return damaged("it has no entry point, no size of its groups or no types");
  }
  return found;
}

Result<std::vector<uint32_t>> read_words(std::span<const unsigned char> module) {
  std::vector<uint32_t> words(module.size() / sizeof(uint32_t));
  if (words.size() < kHeaderWords || module.size() % sizeof(uint32_t) != 0) return damaged("its size is wrong");
  std::memcpy(words.data(), module.data(), module.size());
  if (words[0] != kMagic) return damaged("it does not begin with SPIR-V's number");
  return words;
}

void append(std::vector<uint32_t>& words, uint32_t operation, std::initializer_list<uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | operation);
  words.insert(words.end(), operands);
}

}  // namespace

Result<std::vector<uint32_t>> make_exact(std::span<const unsigned char> module, std::span<const FloatMode> modes) {
  Result<std::vector<uint32_t>> read = read_words(module);
  if (!read.ok()) return read;
  std::vector<uint32_t>& words = *read;
  const Result<Findings> found = walk(words);
  if (!found.ok()) return found.status();
  // glslang says otherwise of the pointers that it keeps for a while.
  for (const size_t at : found->aliased) words[at] = kRestrictPointer;

  // Capabilities come first of all, modes after the entry point, decorations before the types.
  std::vector<uint32_t> exact;
  size_t copied = 0;
  const auto copy_until = [&](size_t end) {
    exact.insert(exact.end(), words.begin() + static_cast<ptrdiff_t>(copied),
                 words.begin() + static_cast<ptrdiff_t>(end));
    copied = end;
  };
  copy_until(kHeaderWords);
  for (const FloatMode mode : modes) append(exact, kOpCapability, {static_cast<uint32_t>(mode) + kCapabilityAfterMode});
  copy_until(found->first_execution_mode);
  for (const FloatMode mode : modes) {
    append(exact, kOpExecutionMode, {found->entry_point, static_cast<uint32_t>(mode), 32});
  }
  copy_until(found->first_type);
  for (const uint32_t result : found->results) {
    if (!found->decorated.contains(result)) append(exact, kOpDecorate, {result, kNoContraction});
  }
  copy_until(words.size());
  return exact;
}

Result<uint64_t> module_shared_bytes(std::span<const unsigned char> module) {
  const Result<std::vector<uint32_t>> read = read_words(module);
  if (!read.ok()) return read.status();
  const std::vector<uint32_t>& words = *read;
  // Types and constants come before what uses them. What is not listed here is never shared.
  std::map<uint32_t, uint64_t> bytes, constants;
  std::map<uint32_t, uint32_t> pointed_at;
  uint64_t shared = 0;
  for (size_t i = kHeaderWords; i < words.size();) {
    const size_t length = words[i] >> 16;
    if (length == 0 || length > words.size() - i) return damaged("an instruction has a wrong length");
    const auto operand = [&](size_t number) { return number < length ? words[i + number] : 0; };
    switch (words[i] & 0xFFFF) {
      case kOpTypeBool:
        bytes[operand(1)] = 4;
        break;
      case kOpTypeInt:
      case kOpTypeFloat:
        bytes[operand(1)] = operand(2) / 8;
        break;
      case kOpTypeVector:
        bytes[operand(1)] = bytes[operand(2)] * operand(3);
        break;
      case kOpTypeArray:
        bytes[operand(1)] = bytes[operand(2)] * constants[operand(3)];
        break;
      case kOpTypeStruct:
        for (size_t member = 2; member < length; ++member) bytes[operand(1)] += bytes[operand(member)];
        break;
      case kOpTypePointer:
        pointed_at[operand(1)] = operand(3);
        break;
      case kOpConstant:
        constants[operand(2)] = operand(3);
        break;
      case kOpVariable:
        if (operand(3) == kWorkgroup) shared += bytes[pointed_at[operand(1)]];
        break;
      default:
        break;
    }
    i += length;
  }
  return shared;
}

Result<uint32_t> module_needs(std::span<const unsigned char> module) {
  const Result<std::vector<uint32_t>> words = read_words(module);
  if (!words.ok()) return words.status();
  const Result<Findings> found = walk(*words);
  if (!found.ok()) return found.status();
  uint32_t needs = 0;
  for (const uint32_t capability : found->capabilities) {
    switch (capability) {
      case kShader:
      case kPhysicalStorageBufferAddresses:
        break;
      case kInt64:
        needs |= needs_int64;
        break;
      case kFloat64:
        needs |= needs_double;
        break;
      case kStorageBuffer16BitAccess:
        needs |= needs_storage16;
        break;
      case kStorageBuffer8BitAccess:
        needs |= needs_storage8;
        break;
      default:
        return Status(StatusCode::internal,
                      fmt::format("it uses SPIR-V's capability {}, which no device is asked for", capability));
    }
  }
  return needs;
}

}  // namespace acuity
