// SPDX-License-Identifier: BSD-2-Clause-Patent
// Neighbours along a row on the CPU: what a filter along rows loads over and over, shifted by a few floats each time.
// Include after lang/cpu.h.
#if defined(ACUITY_LANG_NEIGHBOURS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_NEIGHBOURS_H
#undef ACUITY_LANG_NEIGHBOURS_H
#else
#define ACUITY_LANG_NEIGHBOURS_H
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// The vectors up to 16 floats before and after an aligned place. Vectors as long as a cache line lie in two lines when
/// they are not aligned, so they are put together from three that are.
class Neighbours {
 public:
  HWY_INLINE explicit Neighbours(const float* centre)
      : before_(whole_at(centre - 16)), here_(whole_at(centre)), after_(whole_at(centre + 16)) {}

  /// `distance` must be a constant.
  HWY_INLINE real operator()(int distance) const {
    switch (distance) {
#define ACUITY_SHIFTED(n)                                 \
  case n:                                                 \
    return vector(_mm512_alignr_epi32(after_, here_, n)); \
  case n - 16:                                            \
    return vector(_mm512_alignr_epi32(here_, before_, n));
      ACUITY_SHIFTED(1)
      ACUITY_SHIFTED(2)
      ACUITY_SHIFTED(3)
      ACUITY_SHIFTED(4)
      ACUITY_SHIFTED(5)
      ACUITY_SHIFTED(6)
      ACUITY_SHIFTED(7)
      ACUITY_SHIFTED(8)
      ACUITY_SHIFTED(9)
      ACUITY_SHIFTED(10)
      ACUITY_SHIFTED(11)
      ACUITY_SHIFTED(12)
      ACUITY_SHIFTED(13)
      ACUITY_SHIFTED(14)
      ACUITY_SHIFTED(15)
#undef ACUITY_SHIFTED
      case -16:
        return vector(before_);
      case 16:
        return vector(after_);
      default:
        return vector(here_);
    }
  }

 private:
  static HWY_INLINE __m512i whole_at(const float* from) { return _mm512_load_si512(from); }
  static HWY_INLINE real vector(__m512i bits) { return real(RealVector{_mm512_castsi512_ps(bits)}); }

  __m512i before_, here_, after_;
};

#else

/// The vectors up to 16 floats before and after an aligned place.
class Neighbours {
 public:
  HWY_INLINE explicit Neighbours(const float* centre) : centre_(centre) {}
  HWY_INLINE real operator()(int distance) const { return load_unaligned(centre_ + distance); }

 private:
  const float* centre_;
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
