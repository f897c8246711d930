// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory of pictures that is used again. The system takes back what is freed and gives out fresh pages one by one,
// which costs a twentieth of the time to score a small JPEG file.
#ifndef ACUITY_BASE_RECYCLED_MEMORY_H
#define ACUITY_BASE_RECYCLED_MEMORY_H

#include <cstddef>

namespace acuity {

/// While one of these lives, what free_large() gets is kept for the next allocate_large() of about that size: at most
/// so many bytes, the latest. Several add up. All of it is freed with the last.
class RecycledMemory {
 public:
  explicit RecycledMemory(size_t most_bytes);
  ~RecycledMemory();
  RecycledMemory(const RecycledMemory&) = delete;
  RecycledMemory& operator=(const RecycledMemory&) = delete;

  /// Kept now, and the most that was since the first of those that live was made; of all of them together.
  struct Bytes {
    size_t now = 0;
    size_t most = 0;
  };
  static Bytes kept();

 private:
  const size_t most_bytes_;
};

/// For large_memory.cc: memory that was kept, with the size that it was kept with, or null.
std::byte* take_recycled(size_t bytes, size_t& size) noexcept;
/// Keeps it; false: it is not kept. Nobody has it any more.
bool keep_recycled(std::byte* memory, size_t size) noexcept;

}  // namespace acuity

#endif
