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
#define truth bool
#define real4 vec4

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer f32_in { float data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer f32_out { float data[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer f32x4_in { vec4 data[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer f32x4_out { vec4 data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer samples_in { uint data[]; };

#define at(buffer, index) buffer.data[index]
// Bytes and half-words are cut out of words, which needs no optional feature of the device.
int code8_at(samples_in buffer_, int index) { return int((buffer_.data[index >> 2] >> ((index & 3) * 8)) & 255u); }
int code16_at(samples_in buffer_, int index) { return int((buffer_.data[index >> 1] >> ((index & 1) * 16)) & 65535u); }
#define float_at(buffer, index) uintBitsToFloat(buffer.data[index])

#define to_real4(x, y, z, w) vec4(x, y, z, w)
#define select(test, yes, no) ((test) ? (yes) : (no))
#define bits_of(a) floatBitsToInt(a)
#define from_bits(a) intBitsToFloat(a)
#define to_real(a) float(a)
#define to_whole(a) int(a)
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))

#define local_x() int(gl_LocalInvocationID.x)
#define local_y() int(gl_LocalInvocationID.y)
#define group_x() int(gl_WorkGroupID.x)
#define group_y() int(gl_WorkGroupID.y)
#define global_x() int(gl_GlobalInvocationID.x)
#define global_y() int(gl_GlobalInvocationID.y)
#define barrier_group() barrier()

// How many threads a sub-group has, and which, differs from driver to driver: they meet in shared memory instead.
#define SHUFFLES(threads)                       \
  shared float shuffled[threads];               \
  float shuffle_xor(float value, int mask) {    \
    const int i = int(gl_LocalInvocationIndex); \
    barrier();                                  \
    shuffled[i] = value;                        \
    barrier();                                  \
    return shuffled[i ^ mask];                  \
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
#else
float divide(float a, float b) { return a / b; }
#endif

// Drivers may round a root wrongly, and NVIDIA's does. One step of Newton's brings it next to the right one, and the
// exact signs of two products tell which of three it is; numbers near the smallest are scaled, lest the products
// vanish.
float exact_sqrt(float a) {
  const bool small = a < from_bits(0x26800000);           // 2^-50
  const float x = small ? a * from_bits(0x71800000) : a;  // 2^100
  if (!(x > 0.0) || isinf(x)) return sqrt(a);
  float root = sqrt(x);
  root = fma(fma(-root, root, x), 0.5 / root, root);
  const float below = from_bits(bits_of(root) - 1);
  const float above = from_bits(bits_of(root) + 1);
  if (fma(-below, root, x) <= 0.0) {
    root = below;
  } else if (fma(-above, root, x) > 0.0) {
    root = above;
  }
  return small ? root * from_bits(0x26800000) : root;
}
#define sqrt(a) exact_sqrt(a)
#define divide_ordinary(a, b) divide(a, b)
#define sqrt_ordinary(a) exact_sqrt(a)
