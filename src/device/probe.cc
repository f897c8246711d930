// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "lang/host.h"

namespace acuity {

extern const KernelFile probe_kernels;
namespace probe {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &probe_kernels;
#include "device/probe_kernels.h"
}  // namespace probe

namespace {

struct Triple {
  float a, b, c;
};

constexpr Triple kChosenTriples[] = {
    {1.0f, 1.0f, 1.0f},
    {0.1f, 10.0f, -1.0f},
    // The product lies halfway between two floats, and a summand that only a single rounding sees decides.
    {0x1.001p+0f, 0x1.001p+0f, 0.0f},
    {0x1.001p+0f, 0x1.001p+0f, 0x1p-60f},
    {0x1.001p+0f, 0x1.001p+0f, -0x1p-60f},
    {0x1.001p+0f, 0x1.001p+0f, 0x1p-100f},
    {0x1.001p+0f, 0x1.001p+0f, -0x1p-100f},
    {0x1.003p+0f, 0x1.001p+0f, 0x1p-80f},
    {0x1.003p+0f, -0x1.001p+0f, -0x1p-80f},
    // The sum lies halfway.
    {1.0f, 1.0f, 0x1p-24f},
    {0x1.000002p+0f, 1.0f, 0x1p-24f},
    {0x1.fffffep+0f, 1.0f, 0x1p-24f},
    {1.0f, -1.0f, 0x1.8p-25f},
    // What is left when the product and the summand cancel is the product's own rounding error.
    {0x1.001p+0f, 0x1.001p+0f, -0x1.002p+0f},
    {0x1.fffffep+0f, 0x1.fffffep+0f, -0x1.fffffcp+1f},
    {0x1.555556p-2f, 3.0f, -1.0f},
    {0x1.000002p+0f, 0x1.fffffcp-1f, -1.0f},
    // Quotients and roots next to a tie, and divisors whose reciprocal is subnormal.
    {1.0f, 3.0f, 0.0f},
    {0x1.fffffep+0f, 0x1.000002p+0f, 0.0f},
    {0x1.000002p+0f, 0x1.fffffep+0f, 0.0f},
    {0x1.fffffep-1f, 0x1.fffffcp-1f, 0.0f},
    {0x1.8p+127f, 0x1.4p+127f, 0.0f},
    {0x1.8p+126f, 0x1.000002p+127f, 0.0f},
    // Subnormal inputs, answers, and ties between two of those.
    {0x1p-149f, 1.0f, 0.0f},
    {0x1p-126f, 0.5f, 0.0f},
    {0x1.fffffep-126f, 0.5f, 0.0f},
    {0x1p-75f, 0x1p-75f, 0x1p-149f},
    {0x1p-75f, 0x1p-75f, 0.0f},
    {0x1.8p-75f, 0x1p-75f, 0x1p-149f},
    {0x1p-126f, 3.0f, -0x1p-126f},
    {0x1.234566p-127f, 0x1p+100f, 1.0f},
    {0x1p-100f, 0x1.8p+40f, 0x1p-140f},
};

constexpr int kGroup = 64;
constexpr int kTriples = 4 * kGroup;  // whole groups, so that each thread has a partner
constexpr int kAnswers = 7;

/// The chosen triples, and others whose bits are as good as random: an operation that is sometimes off by a bit is off
/// here.
std::vector<Triple> make_triples() {
  std::vector<Triple> triples(std::begin(kChosenTriples), std::end(kChosenTriples));
  uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t bits = static_cast<uint32_t>(state >> 32);
    const uint32_t exponent = 127 - 16 + (bits >> 23 & 31);
    return std::bit_cast<float>((bits & 0x807fffffu) | exponent << 23);
  };
  while (triples.size() < kTriples) triples.push_back({next(), next(), next()});
  return triples;
}

/// Whose value this thread gave out last.
int giver(int index, ProbeOperation operation) {
  if (operation == ProbeOperation::barrier) return index / kGroup * kGroup + kGroup - 1 - index % kGroup;
  if (operation == ProbeOperation::shuffle) return index ^ 31;
  return index;
}

float expected_answer(const std::vector<Triple>& triples, int index, ProbeOperation operation) {
  const auto [a, b, c] = triples[static_cast<size_t>(index)];
  switch (operation) {
    case ProbeOperation::multiply_add: {
      const float product = a * b;
      return product + c;
    }
    case ProbeOperation::fma:
      return std::fma(a, b, c);
    case ProbeOperation::divide:
      return a / b;
    case ProbeOperation::square_root:
      return std::sqrt(std::abs(a));
    case ProbeOperation::barrier:
      return expected_answer(triples, giver(index, operation), ProbeOperation::fma);
    case ProbeOperation::fma_of_quotient:
      return std::fma(a / b, b, c);
    case ProbeOperation::shuffle:
      break;
  }
  return triples[static_cast<size_t>(giver(index, operation))].a;
}

bool is_subnormal(float value) { return std::fpclassify(value) == FP_SUBNORMAL; }

/// Or was before it was rounded, which is when some devices look.
bool is_tiny(float value) { return value != 0.0f && std::abs(value) <= std::numeric_limits<float>::min(); }

ProbeReport judge(const std::vector<Triple>& triples, const float* answers) {
  ProbeReport report;
  for (int i = 0; i < kTriples; ++i) {
    for (int k = 0; k < kAnswers; ++k) {
      const auto operation = static_cast<ProbeOperation>(k);
      const auto [a, b, c] = triples[static_cast<size_t>(giver(i, operation))];
      const float answer = answers[kAnswers * i + k];
      const float expected = expected_answer(triples, i, operation);
      if (std::bit_cast<uint32_t>(answer) == std::bit_cast<uint32_t>(expected)) continue;
      const bool subnormal = is_subnormal(a) || is_subnormal(b) || is_subnormal(c) || is_tiny(expected) ||
                             is_tiny(a * b) || (operation == ProbeOperation::fma_of_quotient && is_tiny(a / b));
      report.mistakes.push_back({operation, subnormal, a, b, c, answer, expected});
    }
  }
  return report;
}

std::string describe(const ProbeMistake& mistake) {
  const auto [operation, subnormal, a, b, c, answer, expected] = mistake;
  std::string question;
  switch (operation) {
    case ProbeOperation::multiply_add:
      question = fmt::format("{:a} * {:a} + {:a}", a, b, c);
      break;
    case ProbeOperation::fma:
      question = fmt::format("fma({:a}, {:a}, {:a})", a, b, c);
      break;
    case ProbeOperation::fma_of_quotient:
      question = fmt::format("fma({0:a} / {1:a}, {1:a}, {2:a})", a, b, c);
      break;
    case ProbeOperation::divide:
      question = fmt::format("{:a} / {:a}", a, b);
      break;
    case ProbeOperation::square_root:
      question = fmt::format("sqrt({:a})", std::abs(a));
      break;
    case ProbeOperation::barrier:
      question = "a value passed across a barrier";
      break;
    case ProbeOperation::shuffle:
      question = "a value swapped between threads";
      break;
  }
  return fmt::format("{} gave {:a}, expected {:a}", question, answer, expected);
}

}  // namespace

bool ProbeReport::wrong(ProbeOperation operation) const {
  return std::any_of(mistakes.begin(), mistakes.end(),
                     [operation](const ProbeMistake& mistake) { return mistake.operation == operation; });
}

bool ProbeReport::acceptable() const {
  return std::all_of(mistakes.begin(), mistakes.end(), [](const ProbeMistake& mistake) { return mistake.subnormal; });
}

std::string ProbeReport::first_mistake() const {
  if (mistakes.empty()) return "";
  const auto worse =
      std::find_if_not(mistakes.begin(), mistakes.end(), [](const ProbeMistake& mistake) { return mistake.subnormal; });
  return describe(worse == mistakes.end() ? mistakes.front() : *worse);
}

Result<ProbeReport> probe_device(Device& device) {
  const std::vector<Triple> triples = make_triples();
  const size_t question_bytes = kTriples * sizeof(Triple);
  const size_t answer_bytes = kTriples * kAnswers * sizeof(float);
  auto memory = device.allocate(question_bytes + answer_bytes);
  if (!memory.ok()) return memory.status();
  auto pinned = device.allocate_pinned(question_bytes + answer_bytes);
  if (!pinned.ok()) return pinned.status();
  auto queue = device.create_queue();
  if (!queue.ok()) return queue.status();

  std::memcpy((*pinned)->data(), triples.data(), question_bytes);
  Queue& work = **queue;
  const uint64_t address = (*memory)->address();
  // What was in the memory before must not pass for an answer.
  for (const Status& status :
       {work.clear(**memory, question_bytes, answer_bytes), work.upload(**memory, 0, **pinned, 0, question_bytes),
        work.run(probe::probe, kTriples / kGroup, 1, DeviceArray<const float>{address},
                 DeviceArray<float>{address + question_bytes}, kTriples),
        work.download(**pinned, question_bytes, **memory, question_bytes, answer_bytes), work.wait()}) {
    if (!status.ok()) return status;
  }
  std::vector<float> answers(kTriples * kAnswers);
  std::memcpy(answers.data(), (*pinned)->data() + question_bytes, answer_bytes);
  return judge(triples, answers.data());
}

}  // namespace acuity
