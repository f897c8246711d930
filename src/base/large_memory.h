// SPDX-License-Identifier: BSD-2-Clause-Patent
// Aligned memory. Where there is much of it, it is made of large pages, which nothing else lies on, and may get a
// companion: something that goes just before the memory does.
#ifndef ACUITY_BASE_LARGE_MEMORY_H
#define ACUITY_BASE_LARGE_MEMORY_H

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace acuity {

/// Memory whose content is unspecified, aligned for any vector; null where there is none left.
std::byte* allocate_large(size_t bytes) noexcept;
void free_large(std::byte* memory) noexcept;

/// The whole pages that this address lies on with nothing else; empty where there are none.
std::span<std::byte> large_pages_of(const void* address) noexcept;
/// Keeps something until just before free_large() frees these pages.
void keep_with(std::span<std::byte> pages, std::shared_ptr<const void> companion);

/// For vectors of samples. Elements that are not given a value have none, so that the first touch of the memory is that
/// of whoever fills it.
template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): as allocators do

  T* allocate(size_t count) {
    std::byte* memory = allocate_large(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) noexcept { free_large(reinterpret_cast<std::byte*>(memory)); }

  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) U;
    } else {
      ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
  }

  template <typename U>
  bool operator==(const LargeAllocator<U>&) const {
    return true;
  }
};

}  // namespace acuity

#endif
