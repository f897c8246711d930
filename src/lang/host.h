// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels as the host sees them: including a file of kernels after this declares a typed Kernel for each. The bodies
// are checked by the compiler and never compiled into anything.
#ifndef ACUITY_LANG_HOST_H
#define ACUITY_LANG_HOST_H

#include "device/kernel.h"

namespace acuity::kernel_dialect {

template <typename Signature>
struct KernelOf;
template <typename... Arguments>
struct KernelOf<void(Arguments...)> {
  using type = Kernel<Arguments...>;
};

using real = float;
using whole = int;
using truth = bool;
struct real4 {
  float x, y, z, w;
};
using f32_in = DeviceArray<const float>;
using f32_out = DeviceArray<float>;
using f32x4_in = DeviceArray<const real4>;  // four floats at once, at multiples of 16 bytes
using f32x4_out = DeviceArray<real4>;
using samples_in = DeviceArray<const unsigned char>;

template <typename T>
T& at(DeviceArray<T> buffer, int index);
real4 to_real4(real x, real y, real z, real w);
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
template <typename T>
T select(bool test, T yes, T no);
real divide(real a, real b);
real divide_ordinary(real a, real b);
real fma(real a, real b, real c);
real sqrt(real a);
real sqrt_ordinary(real a);
real abs(real a);
real min(real a, real b);
real max(real a, real b);
whole min(whole a, whole b);
whole max(whole a, whole b);
whole clamp(whole a, whole low, whole high);
whole bits_of(real a);
real from_bits(whole a);
real to_real(whole a);
whole to_whole(real a);

}  // namespace acuity::kernel_dialect

// Kernels are included inside a namespace that says `using namespace kernel_dialect` and names its KernelFile
// kKernelFile.
#define FUNCTION inline
#define INOUT(type) type&
#define UNROLL
#define KERNEL_HERE(name) 1
#define SHARED(type, name, count) extern type name[count];
#define SHUFFLES(threads)
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) ((value) << (bits))
#define KERNEL(name, width, height, ...)                                                            \
  void name##_body(__VA_ARGS__);                                                                    \
  inline constexpr KernelOf<decltype(name##_body)>::type name{{kKernelFile, #name, width, height}}; \
  inline void name##_body(__VA_ARGS__)

#endif
