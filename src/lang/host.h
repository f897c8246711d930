// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels as the host sees them: including a file of kernels after this declares a typed Kernel for each. The bodies
// are checked by the compiler and never compiled into anything. Functions in the dialect that use no thread or buffer
// can be called, one value at a time.
#ifndef ACUITY_LANG_HOST_H
#define ACUITY_LANG_HOST_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "lang/kernel.h"

namespace acuity::kernel_dialect {

template <typename Signature>
struct KernelOf;
template <typename... Arguments>
struct KernelOf<void(Arguments...)> {
  using type = Kernel<Arguments...>;
};

using real = float;
using whole = int;
using natural = uint32_t;
using whole64 = int64_t;
using natural64 = uint64_t;
using wide = double;
using truth = bool;
using wide_truth = bool;
struct real4 {
  float x, y, z, w;
};
using f32_in = DeviceArray<const float>;
using f32_out = DeviceArray<float>;
using f32x4_in = DeviceArray<const real4>;  // four floats at once, at multiples of 16 bytes
using f32x4_out = DeviceArray<real4>;
using samples_in = DeviceArray<const unsigned char>;
using u8_in = DeviceArray<const uint8_t>;
using u8_out = DeviceArray<uint8_t>;
using u16_in = DeviceArray<const uint16_t>;
using u16_out = DeviceArray<uint16_t>;
using i16_in = DeviceArray<const int16_t>;
using i16_out = DeviceArray<int16_t>;
using i32_in = DeviceArray<const int32_t>;
using i32_out = DeviceArray<int32_t>;
using u32_in = DeviceArray<const uint32_t>;
using u32_out = DeviceArray<uint32_t>;
using i64_in = DeviceArray<const int64_t>;
using i64_out = DeviceArray<int64_t>;
using u64_in = DeviceArray<const uint64_t>;
using u64_out = DeviceArray<uint64_t>;
using f64_in = DeviceArray<const double>;
using f64_out = DeviceArray<double>;

// What only a device has.
template <typename T>
T& at(DeviceArray<T> buffer, int index);
template <typename T>
whole whole_at(DeviceArray<T> buffer, int index);
void store_u8(u8_out buffer, int index, whole value);
void store_u16(u16_out buffer, int index, whole value);
void store_i16(i16_out buffer, int index, whole value);
whole code8_at(samples_in buffer, int index);
whole code16_at(samples_in buffer, int index);
real float_at(samples_in buffer, int index);
int local_x();
int local_y();
int group_x();
int group_y();
int global_x();
int global_y();
void barrier_group();
real shuffle_xor(real value, int mask);
whole shuffle_xor(whole value, int mask);
real sum_of_32(real value);
whole64 group_sum(whole64 value);
template <typename T>
T atomic_add(T& place, std::type_identity_t<T> value);
void atomic_add_64(i64_out buffer, int index, whole64 value);

// Operations are defined, so that tests can call functions written in the dialect.
inline real4 to_real4(real x, real y, real z, real w) { return {x, y, z, w}; }
template <typename T>
T select(bool test, T yes, T no) {
  return test ? yes : no;
}
inline bool all(bool test) { return test; }
inline real divide(real a, real b) { return a / b; }
inline wide divide(wide a, wide b) { return a / b; }
inline real divide_ordinary(real a, real b) { return a / b; }
inline real fma(real a, real b, real c) { return std::fma(a, b, c); }
inline real sqrt(real a) { return std::sqrt(a); }
inline wide sqrt(wide a) { return std::sqrt(a); }
inline real sqrt_ordinary(real a) { return std::sqrt(a); }
template <typename T>
T abs(T a) {
  return std::abs(a);
}
#define ACUITY_ORDER_FUNCTIONS(type)                        \
  inline type min(type a, type b) { return b < a ? b : a; } \
  inline type max(type a, type b) { return a < b ? b : a; } \
  inline type clamp(type a, type low, type high) { return min(max(a, low), high); }
ACUITY_ORDER_FUNCTIONS(real)
ACUITY_ORDER_FUNCTIONS(wide)
ACUITY_ORDER_FUNCTIONS(whole)
ACUITY_ORDER_FUNCTIONS(natural)
ACUITY_ORDER_FUNCTIONS(whole64)
ACUITY_ORDER_FUNCTIONS(natural64)
#undef ACUITY_ORDER_FUNCTIONS
inline whole bits_of(real a) { return std::bit_cast<whole>(a); }
inline real from_bits(whole a) { return std::bit_cast<real>(a); }
inline whole64 bits_of_wide(wide a) { return std::bit_cast<whole64>(a); }
inline wide wide_from_bits(whole64 a) { return std::bit_cast<wide>(a); }
template <typename T>
real to_real(T a) {
  return static_cast<real>(a);
}
template <typename T>
wide to_wide(T a) {
  return static_cast<wide>(a);
}
template <typename T>
whole to_whole(T a) {
  return static_cast<whole>(a);
}
template <typename T>
natural to_natural(T a) {
  return static_cast<natural>(a);
}
template <typename T>
whole64 to_whole64(T a) {
  return static_cast<whole64>(a);
}
template <typename T>
natural64 to_natural64(T a) {
  return static_cast<natural64>(a);
}
inline whole64 multiply_64(whole a, whole b) { return whole64{a} * b; }
inline natural64 multiply_64(natural a, natural b) { return natural64{a} * b; }
inline whole leading_zeros(natural a) { return std::countl_zero(a); }
inline whole leading_zeros(natural64 a) { return std::countl_zero(a); }
inline whole count_ones(natural a) { return std::popcount(a); }
template <typename T, typename Bits>
T shift_right(T a, Bits bits) {
  return a >> bits;
}
template <typename T, typename Bits>
T shift_left(T a, Bits bits) {
  return a << bits;
}

}  // namespace acuity::kernel_dialect

// Kernels are included inside a namespace that says `using namespace kernel_dialect` and names its KernelFile
// kKernelFile.
#define FUNCTION inline
#define INOUT(type) type&
#define UNROLL
#define KERNEL_HERE(name) 1
#define SHARED(type, name, count) extern type name[count];
#define SHUFFLES(threads)
#define GROUP_SUMS(threads)
#define WIDE(literal) (literal)
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))
// What a kernel needs is in the macro NEEDS_<kernel>, which is `~, needs_... | needs_...`, if there is one.
#define KERNEL_NEEDS_OF(tilde, needs, ...) needs
#define KERNEL_NEEDS(...) KERNEL_NEEDS_OF(__VA_ARGS__, 0, 0)
#define KERNEL(name, width, height, ...)                                \
  void name##_body(__VA_ARGS__);                                        \
  inline constexpr KernelOf<decltype(name##_body)>::type name{          \
      {kKernelFile, #name, width, height, KERNEL_NEEDS(NEEDS_##name)}}; \
  inline void name##_body(__VA_ARGS__)

#endif
