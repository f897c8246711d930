// SPDX-License-Identifier: BSD-2-Clause-Patent
// Logarithms of whole numbers, rounded as libvmaf's table has them, on vectors. Include after
// metrics/vif/filtering.h.
#if defined(ACUITY_METRICS_VIF_LOGARITHM_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_VIF_LOGARITHM_H
#undef ACUITY_METRICS_VIF_LOGARITHM_H
#else
#define ACUITY_METRICS_VIF_LOGARITHM_H
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

constexpr int32_t kLogUnit = 2048;  // logarithms are in units of 1/2048

// libvmaf looks log2 of the 16 upper bits up in a table of 32768 entries, which are 2048 log2f(i) rounded; to read it
// for each pixel would cost more than all filters. Here the mantissa m is brought near to 1 by one of four factors, by
// the quarter it lies in, and a polynomial does the rest. All in units of 2^-13: the sum is cut, so the offsets have
// what rounding adds, and as much less as lets every one of the 32768 come out as the table has it (a test sees to
// that, with fused multiplication and without).
alignas(16) constexpr float kFactors[4] = {228.0f / 256, 186.0f / 256, 158.0f / 256, 137.0f / 256};

constexpr float kPolynomial[5] = {24204406.0f, -12101993.0f, 8067955.5f, -6116408.5f, 4896874.5f};
// Added to a float, it leaves a whole number below 2^22 in the lower bits.
constexpr float kToWhole = 12582912.0f;
constexpr int32_t kToWholeBits = 0x4b400000;
alignas(16) constexpr int32_t kOffsets[4] = {2807744 - kToWholeBits, 7735736 - kToWholeBits, 11684725 - kToWholeBits,
                                             15136615 - kToWholeBits};

/// 2048 (log2(v) + 127), rounded, in place of numbers from 2^17 on; all but the 16 upper bits of a number are ignored.
/// Several are worked on step by step together, because each step must wait for the one before.
template <int kCount>
HWY_INLINE void take_scaled_logs(WholeVector (&v)[kCount]) {
  const WholeTag whole;
  const RealTag d;
  const RealVector one = hn::Set(d, 1.0f);
  WholeVector offset[kCount];
  RealVector r[kCount], sum[kCount];
  unroll<kCount>([&](auto i) INLINED {
    // Bits to be ignored are cleared where they could round the float up: at least the one below those that count.
    const WholeVector kept = hn::AndNot(hn::ShiftRight<16>(v[i]), v[i]);
    v[i] = hn::BitCast(whole, hn::ConvertTo(d, kept));
  });
  unroll<kCount>([&](auto i) INLINED {
    const auto quarter = hn::And(hn::ShiftRight<21>(v[i]), hn::Set(whole, 3));
    const auto mantissa = hn::And(v[i], hn::Set(whole, 0x7fff00));
    const auto factor = hn::TableLookupLanes(hn::LoadDup128(d, kFactors), hn::IndicesFromVec(d, quarter));
    offset[i] = hn::TableLookupLanes(hn::LoadDup128(whole, kOffsets), hn::IndicesFromVec(whole, quarter));
    r[i] = hn::MulSub(hn::Or(hn::BitCast(d, mantissa), one), factor, one);  // exact
  });
  unroll<kCount>([&](auto i)
                     INLINED { sum[i] = hn::MulAdd(hn::Set(d, kPolynomial[4]), r[i], hn::Set(d, kPolynomial[3])); });
  unroll<3>([&](auto step) INLINED {
    unroll<kCount>([&](auto i) INLINED { sum[i] = hn::MulAdd(sum[i], r[i], hn::Set(d, kPolynomial[2 - step])); });
  });
  unroll<kCount>([&](auto i) INLINED { sum[i] = hn::MulAdd(sum[i], r[i], hn::Set(d, kToWhole)); });
  unroll<kCount>([&](auto i) INLINED {
    const WholeVector fraction = hn::ShiftRight<13>(hn::Add(hn::BitCast(whole, sum[i]), offset[i]));
    v[i] = hn::Add(fraction, hn::ShiftLeft<11>(hn::ShiftRight<23>(v[i])));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#endif
