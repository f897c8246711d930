// SPDX-License-Identifier: BSD-2-Clause-Patent
// Streams that record graphs, as CUDA and HIP describe it: what is given to a stream while it captures, and to streams
// that wait for an event captured, becomes nodes; the first stream must wait for all the others before it ends.
#ifndef ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H
#define ACUITY_TESTS_DEVICE_FAKE_CAPTURE_H

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

/// What a stream is given.
struct FakeNode {
  std::function<void()> perform;
  std::vector<const FakeNode*> after{};
};

struct FakeGraph {
  std::vector<std::unique_ptr<FakeNode>> nodes;  // in the order they were given
};

/// A graph's work in an order that respects `after` and is otherwise as far as can be from the one it was given in.
std::vector<std::function<void()>> latest_first(const FakeGraph& graph);

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
bool is_capturing(void* stream);

// What a stream comes after, and changes to it, as HIP's functions.
int capture_info(void* stream, int* state, void** graph, void* const** nodes, size_t* count);
int set_capture_dependencies(void* stream, void** nodes, size_t count, unsigned flags);
/// As capture_wait_outside.
int add_wait_node(void** node, void* graph, void* const* after, size_t count, void* event,
                  std::function<void()> missing);
void reset_captures();

#endif
