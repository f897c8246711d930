// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_probe.h"

#include <cmath>

void run_probe(FakeMistake mistake, const float* triples, float* answers, int count) {
  const auto flushed = [&](float value) {
    if (mistake != FakeMistake::flushes_subnormals) return value;
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
  };
  const auto fused = [&](int i) {
    if (i >= count) return 2.0f;
    const float a = flushed(triples[3 * i]), b = flushed(triples[3 * i + 1]), c = flushed(triples[3 * i + 2]);
    const float product = a * b;
    return flushed(mistake == FakeMistake::split_fma ? product + c : std::fma(a, b, c));
  };
  for (int i = 0; i < count; ++i) {
    const float a = flushed(triples[3 * i]), b = flushed(triples[3 * i + 1]), c = flushed(triples[3 * i + 2]);
    const float product = flushed(a * b);
    const int partner = mistake == FakeMistake::no_barrier ? i : i / 64 * 64 + 63 - i % 64;
    answers[7 * i] = flushed(mistake == FakeMistake::wrong_sum ? std::fma(a, b, c) : product + c);
    answers[7 * i + 1] = fused(i);
    answers[7 * i + 2] = flushed(mistake == FakeMistake::wrong_division ? a * (1.0f / b) : a / b);
    answers[7 * i + 3] = mistake == FakeMistake::wrong_root ? std::nextafter(std::sqrt(std::fabs(a)), 0.0f)
                                                            : flushed(std::sqrt(std::fabs(a)));
    answers[7 * i + 4] = fused(partner);
    answers[7 * i + 5] = triples[3 * (mistake == FakeMistake::no_shuffle ? i : i ^ 31)];
    answers[7 * i + 6] = flushed(mistake == FakeMistake::unrounded_quotient ? static_cast<float>(double{a} / b * b + c)
                                                                            : std::fma(answers[7 * i + 2], b, c));
  }
}
