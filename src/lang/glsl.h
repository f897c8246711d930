// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect for Vulkan: after the C preprocessor this is GLSL. Each kernel becomes a module of its own, the
// one named by the macro PICK_<kernel>, which is `~, 1`.

#define SECOND_OF(a, b, ...) b
#define SECOND(...) SECOND_OF(__VA_ARGS__, 0, 0)
#define KERNEL_HERE(name) SECOND(PICK_##name)

// An argument list becomes the members of the push constants. A macro that names itself is expanded once a scan, so the
// list is scanned as often as 128 bytes may have members, or about that.
#define MEMBERS(...) SCAN_27(MEMBER(__VA_ARGS__))
#define MEMBER(first, ...) \
  first;                   \
  __VA_OPT__(LATER_MEMBER PARENTHESES(__VA_ARGS__))
#define LATER_MEMBER() MEMBER
#define PARENTHESES ()
#define SCAN_27(...) SCAN_9(SCAN_9(SCAN_9(__VA_ARGS__)))
#define SCAN_9(...) SCAN_3(SCAN_3(SCAN_3(__VA_ARGS__)))
#define SCAN_3(...) SCAN(SCAN(SCAN(__VA_ARGS__)))
#define SCAN(...) __VA_ARGS__

#define FUNCTION
#define KERNEL(name, width, height, ...)                                 \
  layout(local_size_x = width, local_size_y = height) in;                \
  layout(push_constant, std430) uniform Arguments{MEMBERS(__VA_ARGS__)}; \
  void main()
#define SHARED(type, name, count) shared type name[count];
#define INOUT(type) inout type
#define UNROLL [[unroll]]

#define real float
#define whole int
#define natural uint
#define whole64 int64_t
#define natural64 uint64_t
#define wide double
#define truth bool
#define wide_truth bool
#define real4 vec4

layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer f32_in { float data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer f32_out { float data[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer f32x4_in { vec4 data[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer f32x4_out { vec4 data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer samples_in { uint data[]; };
// Functions and types that a kernel does not use leave no trace in its module, so these ask nothing of a device.
layout(buffer_reference, std430, buffer_reference_align = 1) restrict readonly buffer u8_in { uint8_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) restrict buffer u8_out { uint8_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict readonly buffer u16_in { uint16_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict buffer u16_out { uint16_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict readonly buffer i16_in { int16_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict buffer i16_out { int16_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer i32_in { int data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer i32_out { int data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer u32_in { uint data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer u32_out { uint data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer i64_in { int64_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer i64_out { int64_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer u64_in { uint64_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer u64_out { uint64_t data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer f64_in { double data[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer f64_out { double data[]; };

#define at(buffer, index) buffer.data[index]
// Numbers of 8 and 16 bits exist in memory alone; devices need not compute with them.
#define whole_at(buffer, index) int(buffer.data[index])
#define store_u8(buffer, index, value) buffer.data[index] = uint8_t(value)
#define store_u16(buffer, index, value) buffer.data[index] = uint16_t(value)
#define store_i16(buffer, index, value) buffer.data[index] = int16_t(value)
// Bytes and half-words are cut out of words, which needs no optional feature of the device.
int code8_at(samples_in buffer_, int index) { return int((buffer_.data[index >> 2] >> ((index & 3) * 8)) & 255u); }
int code16_at(samples_in buffer_, int index) { return int((buffer_.data[index >> 1] >> ((index & 1) * 16)) & 65535u); }
#define float_at(buffer, index) uintBitsToFloat(buffer.data[index])

#define to_real4(x, y, z, w) vec4(x, y, z, w)
#define select(test, yes, no) ((test) ? (yes) : (no))
#define all(test) (test)
#define bits_of(a) floatBitsToInt(a)
#define from_bits(a) intBitsToFloat(a)
#define bits_of_wide(a) doubleBitsToInt64(a)
#define wide_from_bits(a) int64BitsToDouble(a)
#define to_wide(a) double(a)
#define to_whole(a) int(a)
#define to_natural(a) uint(a)
#define to_whole64(a) int64_t(a)
#define to_natural64(a) uint64_t(a)
// Without the suffix a literal is a float.
#define WIDE(literal) literal##lf
int64_t multiply_64(int a, int b) { return int64_t(a) * int64_t(b); }
uint64_t multiply_64(uint a, uint b) { return uint64_t(a) * uint64_t(b); }
int leading_zeros(uint a) { return 31 - findMSB(a); }
int leading_zeros(uint64_t a) {
  const uint high = uint(a >> 32);
  return high != 0u ? leading_zeros(high) : 32 + leading_zeros(uint(a));
}
float to_real(float a) { return a; }
float to_real(double a) { return float(a); }
float to_real(int a) { return float(a); }
float to_real(uint a) { return float(a); }
// Some drivers round twice, first to a double. So only 32 bits are left to them: the first ones, and in the last of
// these whether any bit follows.
float to_real(uint64_t a) {
  const int shift = 32 - leading_zeros(uint(a >> 32));
  const uint rest = shift == 0 ? 0u : uint((a << (64 - shift)) != uint64_t(0));
  return float(uint(a >> shift) | rest) * from_bits((127 + shift) << 23);
}
float to_real(int64_t a) { return a < int64_t(0) ? -to_real(uint64_t(-a)) : to_real(uint64_t(a)); }
#define count_ones(a) bitCount(a)
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))
#define shift_right(value, bits) ((value) >> (bits))
#define shift_left(value, bits) ((value) << (bits))

#define atomic_add(place, value) atomicAdd(place, value)
// Devices need not add 64 bits at once. Whoever makes the lower half overflow carries into the upper one; when all have
// added, both halves are right.
void atomic_add_64(i64_out buffer_, int index, int64_t value) {
  const uint low = uint(value);
  const uint before = atomicAdd(u32_out(buffer_).data[2 * index], low);
  const uint high = uint(value >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0u) atomicAdd(u32_out(buffer_).data[2 * index + 1], high);
}

#define local_x() int(gl_LocalInvocationID.x)
#define local_y() int(gl_LocalInvocationID.y)
#define group_x() int(gl_WorkGroupID.x)
#define group_y() int(gl_WorkGroupID.y)
#define global_x() int(gl_GlobalInvocationID.x)
#define global_y() int(gl_GlobalInvocationID.y)
#define barrier_group() barrier()

// How many threads a sub-group has, and which, differs from driver to driver: they meet in shared memory instead. There
// each thread adds up all 32 by itself, which takes two barriers where halving would take ten.
#define SHUFFLES(threads)                                                                           \
  shared int shuffled[threads];                                                                     \
  int shuffle_xor(int value, int mask) {                                                            \
    const int i = int(gl_LocalInvocationIndex);                                                     \
    barrier();                                                                                      \
    shuffled[i] = value;                                                                            \
    barrier();                                                                                      \
    return shuffled[i ^ mask];                                                                      \
  }                                                                                                 \
  float shuffle_xor(float value, int mask) { return from_bits(shuffle_xor(bits_of(value), mask)); } \
  float sum_of_32(float value) {                                                                    \
    const int i = int(gl_LocalInvocationIndex);                                                     \
    const int first = i & ~31;                                                                      \
    barrier();                                                                                      \
    shuffled[i] = bits_of(value);                                                                   \
    barrier();                                                                                      \
    float sums[16];                                                                                 \
    UNROLL for (int k = 0; k < 16; ++k) {                                                           \
      sums[k] = from_bits(shuffled[first + k]) + from_bits(shuffled[first + k + 16]);               \
    }                                                                                               \
    UNROLL for (int k = 0; k < 8; ++k) sums[k] = sums[k] + sums[k + 8];                             \
    UNROLL for (int k = 0; k < 4; ++k) sums[k] = sums[k] + sums[k + 4];                             \
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);                                               \
  }

// 32 threads add up their share, then everyone what those found.
#define GROUP_SUMS(threads)                                                     \
  shared int64_t group_sum_parts[threads];                                      \
  int64_t group_sum(int64_t value) {                                            \
    const int i = int(gl_LocalInvocationIndex);                                 \
    barrier();                                                                  \
    group_sum_parts[i] = value;                                                 \
    barrier();                                                                  \
    if (i < 32) {                                                               \
      for (int k = i + 32; k < (threads); k += 32) value += group_sum_parts[k]; \
      group_sum_parts[i] = value;                                               \
    }                                                                           \
    barrier();                                                                  \
    int64_t sum = int64_t(0);                                                   \
    for (int k = 0; k < 32; ++k) sum += group_sum_parts[k];                     \
    return sum;                                                                 \
  }

#if defined(EMULATE_FMA)
// For drivers that split fma into a multiplication and an addition, or divide inexactly. The product of two floats is
// exact in double; the sum is rounded to odd, after which rounding to float gives what a single rounding would. A
// quotient of floats in double is never so close to a tie that rounding it again could go wrong.
float emulated_fma(float a, float b, float c) {
  const double product = double(a) * double(b);
  const double addend = double(c);
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  if (error == 0.0lf) return float(sum);
  uvec2 words = unpackDouble2x32(sum);
  if ((sum > 0.0lf) != (error > 0.0lf)) {
    if (words.x == 0u) words.y -= 1u;
    words.x -= 1u;
  }
  words.x |= 1u;
  return float(packDouble2x32(words));
}
#define fma(a, b, c) emulated_fma(a, b, c)
float divide(float a, float b) { return float(double(a) / double(b)); }
float divide_ordinary(float a, float b) { return divide(a, b); }
#else
float divide(float a, float b) { return a / b; }
// A division of the driver's may branch, and NVIDIA's does.
#include "lang/ordinary.h"
float divide_ordinary(float a, float b) { return quotient_from_root(a, b, inversesqrt(abs(b))); }
#endif
double divide(double a, double b) { return a / b; }

// Drivers may round a root wrongly, and NVIDIA's does. One step of Newton's brings it next to the right one, and the
// exact signs of two products tell which of three it is; numbers near the smallest are scaled, lest the products
// vanish.
float exact_sqrt(float a) {
  const bool small = a < from_bits(0x26800000);           // 2^-50
  const float x = small ? a * from_bits(0x71800000) : a;  // 2^100
  if (!(x > 0.0) || isinf(x)) return sqrt(a);
  float root = sqrt(x);
  root = fma(fma(-root, root, x), 0.5 * inversesqrt(x), root);
  const float below = from_bits(bits_of(root) - 1);
  const float above = from_bits(bits_of(root) + 1);
  if (fma(-below, root, x) <= 0.0) {
    root = below;
  } else if (fma(-above, root, x) > 0.0) {
    root = above;
  }
  return small ? root * from_bits(0x26800000) : root;
}
double exact_sqrt(double a) { return sqrt(a); }
#define sqrt(a) exact_sqrt(a)

#if defined(EMULATE_FMA)
float sqrt_ordinary(float a) { return exact_sqrt(a); }
#else
float sqrt_ordinary(float a) { return root_from_root(a, inversesqrt(a)); }
#endif
