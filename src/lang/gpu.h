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
typedef bool truth;

typedef const float* __restrict__ f32_in;
typedef float* __restrict__ f32_out;
typedef float real4 __attribute__((ext_vector_type(4)));
typedef const real4* __restrict__ f32x4_in;
typedef real4* __restrict__ f32x4_out;
typedef const unsigned char* __restrict__ samples_in;

#define at(buffer, index) (buffer)[index]
FUNCTION whole code8_at(samples_in buffer, int index) { return buffer[index]; }
FUNCTION whole code16_at(samples_in buffer, int index) {
  return reinterpret_cast<const unsigned short*>(buffer)[index];
}
FUNCTION real float_at(samples_in buffer, int index) { return reinterpret_cast<const float*>(buffer)[index]; }

FUNCTION real4 to_real4(real x, real y, real z, real w) { return real4{x, y, z, w}; }
#define select(test, yes, no) ((test) ? (yes) : (no))
FUNCTION real divide(real a, real b) { return a / b; }
FUNCTION real fma(real a, real b, real c) { return __builtin_fmaf(a, b, c); }
FUNCTION real sqrt(real a) { return __builtin_sqrtf(a); }
FUNCTION real abs(real a) { return __builtin_fabsf(a); }
FUNCTION real min(real a, real b) { return __builtin_fminf(a, b); }  // one instruction, unlike a comparison
FUNCTION real max(real a, real b) { return __builtin_fmaxf(a, b); }
FUNCTION whole min(whole a, whole b) { return a < b ? a : b; }
FUNCTION whole max(whole a, whole b) { return a > b ? a : b; }
FUNCTION whole clamp(whole a, whole low, whole high) { return min(max(a, low), high); }
FUNCTION whole bits_of(real a) { return __builtin_bit_cast(int, a); }
FUNCTION real from_bits(whole a) { return __builtin_bit_cast(float, a); }
FUNCTION real to_real(whole a) { return static_cast<float>(a); }
FUNCTION whole to_whole(real a) { return static_cast<int>(a); }
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))
