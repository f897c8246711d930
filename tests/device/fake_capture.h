// SPDX-License-Identifier: BSD-2-Clause-Patent
// Streams that record graphs, as CUDA describes it: what is given to a stream while it captures, and to streams that
// wait for an event captured, becomes nodes; the first stream must wait for all the others before it ends.
#ifndef ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H
#define ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

inline constexpr int kHost = 1;
inline constexpr int kDevice = 2;
inline constexpr int kUnified = 4;

/// CUDA_MEMCPY3D, field by field as NVIDIA's header has it.
struct FakeCopy {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void* srcHost;
  uint64_t srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void* dstHost;
  uint64_t dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;

  void perform() const;
};

enum FakeNodeType { kKernelNode = 0, kCopyNode = 1, kFillNode = 2 };

/// What a stream is given. Copies perform `copy`, everything else `work`.
struct FakeNode {
  FakeNodeType type = kKernelNode;
  std::function<void()> work;
  FakeCopy copy{};
  std::vector<const FakeNode*> after{};

  void perform() const { type == kCopyNode ? copy.perform() : work(); }
};

struct FakeGraph {
  std::vector<std::unique_ptr<FakeNode>> nodes;  // in an order that respects `after`
};

/// Its own copy of the nodes, known by the graph's.
struct FakeExecutable {
  explicit FakeExecutable(const FakeGraph& graph);
  std::vector<FakeNode> nodes;
  std::map<const void*, size_t> places;
};

// Each gives the driver's code, 0 for success.
int begin_capture(void* stream);
int end_capture(void* stream, void** graph);
/// Performs the node, or keeps it where the stream captures.
int submit(void* stream, FakeNode node);
int capture_event(void* event, void* stream);
int capture_wait(void* stream, void* event);
int capture_synchronize(void* stream);
void reset_captures();

#endif
