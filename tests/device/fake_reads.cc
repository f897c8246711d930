// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace {

std::map<uintptr_t, size_t> memory_filled;                  // and how far
using FakeReads = std::map<uint64_t, std::set<uintptr_t>>;  // by the launch's number
std::map<void*, FakeReads> stream_reads, event_reads;
uint64_t launches = 0;

}  // namespace

void note_filled(uintptr_t begin, size_t bytes) {
  size_t& filled = memory_filled[begin];
  filled = std::max(filled, bytes);
}

void forget_filled(uintptr_t begin) { memory_filled.erase(begin); }

void note_read(void* stream, const std::vector<uintptr_t>& begins) {
  std::set<uintptr_t>& read = stream_reads[stream][launches++];
  for (const uintptr_t begin : begins) {
    if (memory_filled.contains(begin)) read.insert(begin);
  }
}

void note_event_recorded(void* event, void* stream) { event_reads[event] = stream_reads[stream]; }

void note_event_awaited(void* stream, void* event) {
  const FakeReads& before = event_reads[event];
  stream_reads[stream].insert(before.begin(), before.end());
}

void note_synchronized(void* stream) {
  // Exactly these are done: another stream may have launches since that belong to other work.
  const FakeReads done = std::exchange(stream_reads[stream], {});
  for (auto& [other, reads] : stream_reads) {
    std::erase_if(reads, [&](const auto& entry) { return done.contains(entry.first); });
  }
}

std::optional<float> number_of_read(void* stream) {
  std::set<uintptr_t> memory;
  for (const auto& [launch, read] : stream_reads[stream]) memory.insert(read.begin(), read.end());
  if (memory.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (const uintptr_t begin : memory) {
    const auto filled = memory_filled.find(begin);
    if (filled == memory_filled.end()) continue;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < filled->second; ++i) {
      hash = (hash ^ reinterpret_cast<const unsigned char*>(begin)[i]) * 1099511628211u;
    }
    sum += hash;
  }
  return 1 + static_cast<float>(sum >> 44) / (1 << 20);
}

void reset_reads() {
  memory_filled.clear();
  stream_reads.clear();
  event_reads.clear();
}
