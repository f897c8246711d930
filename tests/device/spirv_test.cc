// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "lang/kernel.h"
#include "device/vulkan/spirv.h"

namespace acuity {

extern const KernelFile probe_kernels;
extern const KernelFile probe_needs_kernels;
extern const KernelFile mse_kernels;
extern const KernelFile float_adm_kernels;
extern const KernelFile float_vif_kernels;

namespace {

constexpr FloatMode kModes[] = {FloatMode::preserve_specials, FloatMode::round_to_nearest};

struct Instruction {
  uint32_t operation;
  std::vector<uint32_t> operands;
};

constexpr uint32_t kNoContraction = 42, kRestrictPointer = 5355, kAliasedPointer = 5356;

bool decorates(const Instruction& instruction, uint32_t decoration) {
  return instruction.operation == 71 && instruction.operands[1] == decoration;  // OpDecorate
}

std::vector<Instruction> take_apart(const std::vector<uint32_t>& words) {
  std::vector<Instruction> instructions;
  for (size_t i = 5; i < words.size();) {
    const size_t length = words[i] >> 16;
    if (length == 0 || i + length > words.size()) {
      ADD_FAILURE() << "a wrong length at word " << i;
      break;
    }
    const auto begin = words.begin() + static_cast<ptrdiff_t>(i);
    instructions.push_back({words[i] & 0xFFFF, {begin + 1, begin + static_cast<ptrdiff_t>(length)}});
    i += length;
  }
  return instructions;
}

std::vector<uint32_t> words_of(std::span<const unsigned char> module) {
  std::vector<uint32_t> words(module.size() / 4);
  std::memcpy(words.data(), module.data(), module.size());
  return words;
}

std::span<const unsigned char> bytes_of(const std::vector<uint32_t>& words) {
  return {reinterpret_cast<const unsigned char*>(words.data()), words.size() * 4};
}

std::vector<KernelCode> modules() {
  std::vector<KernelCode> codes;
  for (const KernelFile* file : {&probe_kernels, &mse_kernels}) {
    for (const KernelCode& code : file->codes) {
      if (code.backend == Backend::vulkan) codes.push_back(code);
    }
  }
  return codes;
}

TEST(Spirv, DecoratesEveryArithmeticInstructionAndConversionOnce) {
  ASSERT_GE(modules().size(), 4u);
  for (const KernelCode& code : modules()) {
    SCOPED_TRACE(std::string(code.kernel) + " " + code.target);
    const Result<std::vector<uint32_t>> exact = make_exact(code.data, kModes);
    ASSERT_TRUE(exact.ok()) << exact.status().message();
    std::map<uint32_t, int> decorations;
    bool types_began = false;
    int arithmetic = 0;
    for (const Instruction& instruction : take_apart(exact.value())) {
      types_began = types_began || instruction.operation == 19;  // OpTypeVoid
      if (decorates(instruction, kNoContraction)) {
        EXPECT_FALSE(types_began);
        ++decorations[instruction.operands[0]];
      }
      const bool scalar = instruction.operation == 127 || instruction.operation == 129 ||  // OpFNegate, OpFAdd
                          instruction.operation == 131 || instruction.operation == 133 ||  // OpFSub, OpFMul
                          instruction.operation == 136 || instruction.operation == 115;    // OpFDiv, OpFConvert
      if (!scalar) continue;
      ++arithmetic;
      EXPECT_EQ(decorations[instruction.operands[1]], 1);
    }
    EXPECT_GE(arithmetic, 2);
    EXPECT_EQ(decorations.size(), static_cast<size_t>(arithmetic));
  }
}

TEST(Spirv, PromisesThatArraysDoNotOverlap) {
  int pointers = 0;
  for (const KernelCode& code : modules()) {
    const Result<std::vector<uint32_t>> exact = make_exact(code.data, kModes);
    ASSERT_TRUE(exact.ok()) << exact.status().message();
    for (const Instruction& instruction : take_apart(exact.value())) {
      EXPECT_FALSE(decorates(instruction, kAliasedPointer)) << code.kernel;
      pointers += decorates(instruction, kRestrictPointer);
    }
  }
  EXPECT_GT(pointers, 0);
}

TEST(Spirv, DemandsTheModes) {
  ASSERT_FALSE(modules().empty());
  for (const KernelCode& code : modules()) {
    const Result<std::vector<uint32_t>> exact = make_exact(code.data, kModes);
    ASSERT_TRUE(exact.ok()) << exact.status().message();
    std::vector<uint32_t> capabilities;
    std::vector<uint32_t> demanded;
    uint32_t entry_point = 0;
    for (const Instruction& instruction : take_apart(exact.value())) {
      if (instruction.operation == 15) entry_point = instruction.operands[1];
      if (instruction.operation == 17) capabilities.push_back(instruction.operands[0]);
      if (instruction.operation != 16 || instruction.operands[1] < 4000) continue;
      EXPECT_EQ(instruction.operands[0], entry_point);
      EXPECT_EQ(instruction.operands[2], 32u);
      demanded.push_back(instruction.operands[1]);
    }
    EXPECT_EQ(demanded, (std::vector<uint32_t>{4461, 4462}));
    ASSERT_GE(capabilities.size(), 2u);
    EXPECT_EQ(capabilities[0], 4466u);
    EXPECT_EQ(capabilities[1], 4467u);
  }
}

// The most that a kernel of the file shares.
uint64_t most_shared(const KernelFile& file) {
  uint64_t most = 0;
  for (const KernelCode& code : file.codes) {
    if (code.backend != Backend::vulkan) continue;
    const Result<uint64_t> shared = module_shared_bytes(code.data);
    EXPECT_TRUE(shared.ok()) << shared.status().message();
    if (shared.ok()) most = std::max(most, *shared);
  }
  return most;
}

TEST(Spirv, CountsWhatAGroupShares) {
  EXPECT_EQ(most_shared(float_adm_kernels), 26304u);
  EXPECT_EQ(most_shared(float_vif_kernels), 17632u);
  std::vector<uint32_t> damaged = words_of(modules()[0].data);
  damaged.push_back(0);
  EXPECT_FALSE(module_shared_bytes(bytes_of(damaged)).ok());
  EXPECT_FALSE(module_shared_bytes({}).ok());
}

TEST(Spirv, ChangesNothingElse) {
  ASSERT_FALSE(modules().empty());
  const Result<std::vector<uint32_t>> exact = make_exact(modules()[0].data, {});
  ASSERT_TRUE(exact.ok());
  std::vector<uint32_t> original = words_of(modules()[0].data);
  size_t kept = 5;
  EXPECT_TRUE(std::equal(original.begin(), original.begin() + 5, exact->begin()));
  const std::vector<Instruction> before = take_apart(original);
  size_t next = 0;
  for (const Instruction& instruction : take_apart(exact.value())) {
    if (decorates(instruction, kNoContraction)) continue;
    ASSERT_LT(next, before.size());
    EXPECT_EQ(instruction.operation, before[next].operation);
    std::vector<uint32_t> operands = before[next].operands;
    if (decorates(before[next], kAliasedPointer)) operands[1] = kRestrictPointer;
    EXPECT_EQ(instruction.operands, operands);
    kept += before[next++].operands.size() + 1;
  }
  EXPECT_EQ(kept, original.size());
  const Result<std::vector<uint32_t>> again = make_exact(bytes_of(exact.value()), {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value(), exact.value());
}

TEST(Spirv, TellsWhatAModuleNeeds) {
  const auto needs = [](const KernelFile& file, std::string_view kernel, std::string_view target) {
    for (const KernelCode& code : file.codes) {
      if (code.backend != Backend::vulkan || code.kernel != kernel || code.target != target) continue;
      const Result<uint32_t> found = module_needs(code.data);
      EXPECT_TRUE(found.ok()) << found.status().message();
      return found.ok() ? *found : ~0u;
    }
    ADD_FAILURE() << kernel << " is not there";
    return ~0u;
  };
  EXPECT_EQ(needs(probe_kernels, "probe", "spirv"), 0u);
  EXPECT_EQ(needs(probe_kernels, "probe", "spirv_emulated_fma"), needs_double);
  EXPECT_EQ(needs(probe_needs_kernels, "probe_int64", "spirv"), needs_int64);
  EXPECT_EQ(needs(probe_needs_kernels, "probe_double", "spirv"), needs_double);

  std::vector<uint32_t> strange = words_of(modules()[0].data);
  ASSERT_EQ(strange[5], 2u << 16 | 17) << "a module begins with a capability";
  strange[6] = 9;  // Float16
  const Result<uint32_t> refused = module_needs(bytes_of(strange));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("capability 9"), std::string::npos) << refused.status().message();
}

TEST(Spirv, RefusesDamage) {
  ASSERT_FALSE(modules().empty());
  const std::vector<uint32_t> good = words_of(modules()[0].data);
  const auto refused = [](const std::vector<uint32_t>& words) { return !make_exact(bytes_of(words), {}).ok(); };
  EXPECT_FALSE(refused(good));
  EXPECT_FALSE(module_needs({}).ok());
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({good.begin(), good.begin() + 5}));
  EXPECT_TRUE(refused({good.begin(), good.end() - 1}) || refused({good.begin(), good.end() - 2}));
  std::vector<uint32_t> bad = good;
  bad[0] ^= 1;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad[5] = 0;  // an instruction of no length
  EXPECT_TRUE(refused(bad));
  EXPECT_FALSE(make_exact(modules()[0].data.first(modules()[0].data.size() - 1), {}).ok());
}

}  // namespace
}  // namespace acuity
