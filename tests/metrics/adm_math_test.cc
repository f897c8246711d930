// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of ADM as GPUs have it (metrics/adm/math.h), one place at a time, gives what the vectors of the CPU
// give.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "lang/host.h"
#include "metrics/adm/decouple.h"
#include "metrics/adm/masking.h"

namespace acuity::tests {
namespace dialect {

using namespace kernel_dialect;
#include "metrics/adm/math.h"

}  // namespace dialect

namespace {

using adm::DecoupleRule;
using adm::kSubbands;
using adm::Subbands;

constexpr int kWidth = 96, kRoom = kWidth + 64;

// Vectors want rows that are aligned.
template <typename T>
class Aligned {
 public:
  Aligned() {
    for (size_t b = 0; b < kSubbands; ++b) {
      memory_[b].resize(kRoom + 64);
      auto address = reinterpret_cast<uintptr_t>(memory_[b].data());
      subbands_[b] = reinterpret_cast<T*>((address + 63) / 64 * 64);
    }
  }
  const Subbands<T>& subbands() const { return subbands_; }
  T& at(int subband, int x) { return subbands_[static_cast<size_t>(subband)][x]; }

 private:
  std::array<std::vector<T>, kSubbands> memory_;
  Subbands<T> subbands_{};
};

// Small details, large ones, the largest there are, and some that are alike in both pictures.
int32_t detail(std::mt19937& random, int32_t most) {
  const auto size = static_cast<int32_t>(random() % static_cast<uint32_t>(most));
  switch (random() % 5) {
    case 0:
      return (random() % 2 == 0 ? 1 : -1) * most;
    case 1:
      return size % 41 - 20;
    case 2:
      return 0;
    default:
      return (random() % 2 == 0 ? 1 : -1) * (size >> random() % 16);
  }
}

template <typename T>
void fill(std::mt19937& random, int32_t most, Aligned<T>& reference, Aligned<T>& distorted) {
  for (int x = 0; x < kWidth; ++x) {
    const double factor = static_cast<double>(random() % 300) / 100;
    for (int b = 0; b < static_cast<int>(kSubbands); ++b) {
      reference.at(b, x) = static_cast<T>(detail(random, most));
      const double scaled = reference.at(b, x) * factor;
      distorted.at(b, x) = static_cast<T>(x % 3 == 0 ? std::clamp(scaled, -double(most), double(most))
                                                     : static_cast<double>(detail(random, most)));
    }
  }
}

template <typename T>
bool same_direction(Aligned<T>& o, Aligned<T>& t, int x) {
  const auto product = [&](Aligned<T>& a, Aligned<T>& b) {
    return dialect::to_real(int64_t{a.at(0, x)} * b.at(0, x) + int64_t{a.at(1, x)} * b.at(1, x));
  };
  return dialect::has_same_direction(product(o, t), product(o, o), product(t, t));
}

TEST(AdmMath, DecouplesScale0AsTheCpuDoes) {
  std::mt19937 random(1);
  for (const double gain : {1.0, 1.2, 2.5, 100.0}) {
    for (int round = 0; round < 40; ++round) {
      Aligned<int16_t> o, t, restored, added;
      Aligned<int32_t> influence;  // around and centre of the restored part; the third row is not used
      Aligned<int32_t> influence_added;
      fill(random, 22930, o, t);
      const DecoupleRule rule{.factors = {36453, 36453, 49417},
                              .gain = gain,
                              .rounded_columns = 64,
                              .saturated_columns = 77,
                              .wide_columns = round % 2 == 0 ? 70 : 0};
      adm::decouple_short(o.subbands(), t.subbands(), 0, kWidth, rule, restored.subbands(), added.subbands(),
                          {influence.subbands()[0], influence.subbands()[1]},
                          {influence_added.subbands()[0], influence_added.subbands()[1]});
      for (int x = 0; x < kWidth; ++x) {
        const bool same = same_direction(o, t, x);
        dialect::Influence by_restored{0, 0}, by_added{0, 0};
        for (int b = 0; b < static_cast<int>(kSubbands); ++b) {
          const int left = dialect::restore(o.at(b, x), t.at(b, x), same, gain, x < rule.rounded_columns);
          ASSERT_EQ(left, restored.at(b, x)) << "subband " << b << ", column " << x << ", gain " << gain;
          ASSERT_EQ(t.at(b, x) - left, added.at(b, x));
          const auto add = [&](int value, dialect::Influence& sum) {
            const dialect::Influence one =
                dialect::short_influence(value, static_cast<int>(rule.factors[static_cast<size_t>(b)]), b < 2,
                                         x < rule.saturated_columns, x < rule.wide_columns);
            sum.around += one.around;
            sum.more += one.more;
          };
          add(left, by_restored);
          add(t.at(b, x) - left, by_added);
        }
        ASSERT_EQ(by_restored.around, influence.at(0, x)) << x;
        ASSERT_EQ(by_restored.more, influence.at(1, x)) << x;
        ASSERT_EQ(by_added.around, influence_added.at(0, x)) << x;
        ASSERT_EQ(by_added.more, influence_added.at(1, x)) << x;
      }
    }
  }
}

TEST(AdmMath, DecouplesOtherScalesAsTheCpuDoes) {
  std::mt19937 random(2);
  for (const double gain : {1.0, 1.2, 2.5, 100.0}) {
    for (int round = 0; round < 40; ++round) {
      Aligned<int32_t> o, t, influence, influence_added;
      Aligned<uint32_t> restored, added;
      fill(random, 2000000000, o, t);
      const DecoupleRule rule{.factors = {148000000, 148000000, 57000000}, .gain = gain};
      adm::decouple_long(o.subbands(), t.subbands(), 0, kWidth, rule, restored.subbands(), added.subbands(),
                         {influence.subbands()[0], influence.subbands()[1]},
                         {influence_added.subbands()[0], influence_added.subbands()[1]});
      for (int x = 0; x < kWidth; ++x) {
        const bool same = same_direction(o, t, x);
        dialect::Influence by_restored{0, 0}, by_added{0, 0};
        for (int b = 0; b < static_cast<int>(kSubbands); ++b) {
          const uint32_t factor = rule.factors[static_cast<size_t>(b)];
          const int left = dialect::restore(o.at(b, x), t.at(b, x), same, gain, false);
          const uint32_t weighed = dialect::weigh_long(left, factor);
          const uint32_t come = dialect::weigh_long(t.at(b, x) - left, factor);
          ASSERT_EQ(weighed, restored.at(b, x)) << "subband " << b << ", column " << x << ", gain " << gain;
          ASSERT_EQ(come, added.at(b, x)) << "subband " << b << ", column " << x << ", gain " << gain;
          const auto add = [](uint32_t value, dialect::Influence& sum) {
            const dialect::Influence one = dialect::long_influence(value);
            sum.around += one.around;
            sum.more += one.more;
          };
          add(weighed, by_restored);
          add(come, by_added);
        }
        ASSERT_EQ(by_restored.around, influence.at(0, x)) << x;
        ASSERT_EQ(by_restored.more, influence.at(1, x)) << x;
        ASSERT_EQ(by_added.around, influence_added.at(0, x)) << x;
        ASSERT_EQ(by_added.more, influence_added.at(1, x)) << x;
      }
    }
  }
}

TEST(AdmMath, CubesAsTheCpuDoes) {
  std::mt19937 random(3);
  const adm::CubeRule rule{uint64_t{1} << 29, 30, uint64_t{1} << 9, 10};
  for (int round = 0; round < 40; ++round) {
    Aligned<int32_t> details, unused;
    fill(random, 2000000000, details, unused);
    const adm::SubbandSums sums = adm::sum_long_cubes(details.subbands(), 3, 91, rule);
    for (size_t b = 0; b < kSubbands; ++b) {
      uint64_t sum = 0;
      for (int x = 3; x < 91; ++x) {
        const auto size = static_cast<uint32_t>(std::abs(details.at(static_cast<int>(b), x)));
        sum += dialect::cube_of(size, rule.square_add, rule.square_bits, rule.cube_bits);
      }
      ASSERT_EQ(sum, sums[b]);
    }
  }
}

}  // namespace
}  // namespace acuity::tests
