// SPDX-License-Identifier: BSD-2-Clause-Patent
// Streams that record graphs, as CUDA describes it: what is given to a stream while it captures, and to streams that
// wait for an event captured, becomes nodes; the first stream must wait for all the others before it ends.
#ifndef ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H
#define ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H

#include <functional>
#include <memory>
#include <vector>

/// What a stream is given.
struct FakeNode {
  std::function<void()> perform;
  std::vector<const FakeNode*> after{};
};

struct FakeGraph {
  std::vector<std::unique_ptr<FakeNode>> nodes;  // in an order that respects `after`
};

// Each gives the driver's code, 0 for success.
int begin_capture(void* stream);
int end_capture(void* stream, void** graph);
/// Performs the node, or keeps it where the stream captures.
int submit(void* stream, std::function<void()> work);
int capture_event(void* event, void* stream);
int capture_wait(void* stream, void* event);
/// For an event recorded outside. `missing` is called when the graph is launched and nobody has recorded the event.
int capture_wait_outside(void* stream, void* event, std::function<void()> missing);
int capture_synchronize(void* stream);
void reset_captures();

#endif
