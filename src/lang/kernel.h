// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the host knows of a kernel: its name, its group size, the layout of its arguments, and where its compiled code
// is.
#ifndef ACUITY_LANG_KERNEL_H
#define ACUITY_LANG_KERNEL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace acuity {

enum class Backend { cuda, hip, vulkan };

/// A file of kernels compiled for one target (CUDA, HIP), or one kernel (Vulkan), embedded in the library.
struct KernelCode {
  Backend backend;
  const char*
      target;  // "sm_75" (PTX, or a cubin when the data starts with ELF), "gfx90a", "spirv", "spirv_emulated_fma"
  const char* kernel;  // Vulkan: which one; otherwise empty
  std::span<const unsigned char> data;
};

/// A file of kernels, compiled for all targets.
struct KernelFile {
  const char* name;
  std::span<const KernelCode> codes;
};

/// What only some devices have, as bits. A kernel says what it needs by the macro NEEDS_<kernel> of the dialect.
enum Need : uint32_t {
  needs_int64 = 1,      // 64-bit integers
  needs_double = 2,     // doubles, rounded as IEEE 754 requires
  needs_storage16 = 4,  // 16-bit integers in buffers
  needs_storage8 = 8,   // bytes in buffers
};

/// A kernel as queues see it. Arguments are one block of memory, each at its natural alignment: buffers are 64-bit
/// addresses, numbers 32 or 64 bit; at most 128 bytes.
struct KernelInfo {
  const KernelFile* file;
  const char* name;
  int group_width;
  int group_height;
  uint32_t needs = 0;  // bits of Need
};

inline constexpr size_t kMaximumArgumentBytes = 128;

/// The address of an array in device memory, as a kernel takes it.
template <typename T>
struct DeviceArray {
  uint64_t address = 0;
  bool operator==(const DeviceArray&) const = default;
};

/// A kernel with its argument types, so that a wrong argument does not compile.
template <typename... Arguments>
struct Kernel : KernelInfo {};

/// Arguments packed as the kernel reads them.
class ArgumentBlock {
 public:
  template <typename T>
  void add(const T& value) {
    size_ = (size_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (size_ + sizeof(T) <= kMaximumArgumentBytes) std::memcpy(bytes_ + size_, &value, sizeof(T));
    size_ += sizeof(T);  // past the maximum too, so that a launch can tell and refuse
  }
  const unsigned char* data() const { return bytes_; }
  size_t size() const { return size_; }

 private:
  alignas(8) unsigned char bytes_[kMaximumArgumentBytes] = {};
  size_t size_ = 0;
};

}  // namespace acuity

#endif
