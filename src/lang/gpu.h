// SPDX-License-Identifier: BSD-2-Clause-Patent
// What CUDA and HIP have in common; cuda.h and hip.h add how threads are numbered and how they meet. No vendor header
// is included: these are attributes and builtins of clang.

#define FUNCTION static inline __attribute__((device, always_inline))
#define KERNEL(name, width, height, ...) \
  extern "C" __attribute__((global, LAUNCH_BOUNDS(name, (width) * (height)))) void name(__VA_ARGS__)
#define KERNEL_HERE(name) 1
#define SHARED(type, name, count) static __attribute__((shared)) type name[count];
#define INOUT(type) type&
#define UNROLL _Pragma("unroll")

typedef float real;
typedef int whole;
typedef unsigned natural;
typedef long whole64;
typedef unsigned long natural64;
typedef double wide;
typedef bool truth;
typedef bool wide_truth;

typedef const float* __restrict__ f32_in;
typedef float* __restrict__ f32_out;
typedef float real4 __attribute__((ext_vector_type(4)));
typedef const real4* __restrict__ f32x4_in;
typedef real4* __restrict__ f32x4_out;
typedef const unsigned char* __restrict__ samples_in;
typedef const unsigned char* __restrict__ u8_in;
typedef unsigned char* __restrict__ u8_out;
typedef const unsigned short* __restrict__ u16_in;
typedef unsigned short* __restrict__ u16_out;
typedef const short* __restrict__ i16_in;
typedef short* __restrict__ i16_out;
typedef const whole* __restrict__ i32_in;
typedef whole* __restrict__ i32_out;
typedef const natural* __restrict__ u32_in;
typedef natural* __restrict__ u32_out;
typedef const whole64* __restrict__ i64_in;
typedef whole64* __restrict__ i64_out;
typedef const natural64* __restrict__ u64_in;
typedef natural64* __restrict__ u64_out;
typedef const double* __restrict__ f64_in;
typedef double* __restrict__ f64_out;

#define at(buffer, index) (buffer)[index]
#define whole_at(buffer, index) static_cast<whole>((buffer)[index])
FUNCTION void store_u8(u8_out buffer, int index, whole value) { buffer[index] = static_cast<unsigned char>(value); }
FUNCTION void store_u16(u16_out buffer, int index, whole value) { buffer[index] = static_cast<unsigned short>(value); }
FUNCTION void store_i16(i16_out buffer, int index, whole value) { buffer[index] = static_cast<short>(value); }
FUNCTION whole code8_at(samples_in buffer, int index) { return buffer[index]; }
FUNCTION whole code16_at(samples_in buffer, int index) {
  return reinterpret_cast<const unsigned short*>(buffer)[index];
}
FUNCTION real float_at(samples_in buffer, int index) { return reinterpret_cast<const float*>(buffer)[index]; }

FUNCTION real4 to_real4(real x, real y, real z, real w) { return real4{x, y, z, w}; }
#define select(test, yes, no) ((test) ? (yes) : (no))
#define all(test) (test)
FUNCTION real divide(real a, real b) { return a / b; }
FUNCTION wide divide(wide a, wide b) { return a / b; }
FUNCTION real fma(real a, real b, real c) { return __builtin_fmaf(a, b, c); }
FUNCTION real sqrt(real a) { return __builtin_sqrtf(a); }
FUNCTION wide sqrt(wide a) { return __builtin_sqrt(a); }
FUNCTION real abs(real a) { return __builtin_fabsf(a); }
FUNCTION wide abs(wide a) { return __builtin_fabs(a); }
FUNCTION whole abs(whole a) { return __builtin_abs(a); }
FUNCTION whole64 abs(whole64 a) { return __builtin_labs(a); }
FUNCTION real min(real a, real b) { return __builtin_fminf(a, b); }  // one instruction, unlike a comparison
FUNCTION real max(real a, real b) { return __builtin_fmaxf(a, b); }
FUNCTION wide min(wide a, wide b) { return __builtin_fmin(a, b); }
FUNCTION wide max(wide a, wide b) { return __builtin_fmax(a, b); }
#define ORDER_FUNCTIONS(type)                                 \
  FUNCTION type min(type a, type b) { return a < b ? a : b; } \
  FUNCTION type max(type a, type b) { return a > b ? a : b; } \
  FUNCTION type clamp(type a, type low, type high) { return min(max(a, low), high); }
ORDER_FUNCTIONS(whole)
ORDER_FUNCTIONS(natural)
ORDER_FUNCTIONS(whole64)
ORDER_FUNCTIONS(natural64)

#define to_real(a) static_cast<real>(a)
#define to_wide(a) static_cast<wide>(a)
#define to_whole(a) static_cast<whole>(a)
#define to_natural(a) static_cast<natural>(a)
#define to_whole64(a) static_cast<whole64>(a)
#define to_natural64(a) static_cast<natural64>(a)
#define WIDE(literal) (literal)
FUNCTION whole bits_of(real a) { return __builtin_bit_cast(whole, a); }
FUNCTION real from_bits(whole a) { return __builtin_bit_cast(real, a); }
FUNCTION whole64 bits_of_wide(wide a) { return __builtin_bit_cast(whole64, a); }
FUNCTION wide wide_from_bits(whole64 a) { return __builtin_bit_cast(wide, a); }

FUNCTION whole64 multiply_64(whole a, whole b) { return static_cast<whole64>(a) * b; }
FUNCTION natural64 multiply_64(natural a, natural b) { return static_cast<natural64>(a) * b; }
FUNCTION whole leading_zeros(natural a) { return __builtin_clzg(a, 32); }
FUNCTION whole leading_zeros(natural64 a) { return __builtin_clzg(a, 64); }
FUNCTION whole count_ones(natural a) { return __builtin_popcount(a); }
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))
#define shift_right(value, bits) ((value) >> (bits))
#define shift_left(value, bits) ((value) << (bits))

#define atomic_add(place, value) __scoped_atomic_fetch_add(&(place), value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
FUNCTION void atomic_add_64(i64_out buffer, int index, whole64 value) { atomic_add(buffer[index], value); }
