// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_capture.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kIllegalState = 401;
constexpr int kCaptureUnsupported = 900;
constexpr int kCaptureInvalidated = 901;
constexpr int kCaptureUnmatched = 903;
constexpr int kCaptureUnjoined = 904;
constexpr int kCaptureIsolation = 905;
constexpr int kCapturedEvent = 907;

struct Capture {
  void* origin = nullptr;
  FakeGraph graph;
  bool valid = true;
};

/// Where a stream or an event stands in a capture, and what it comes after.
struct Place {
  std::shared_ptr<Capture> capture;
  std::set<const FakeNode*> after;
  std::vector<void*> listed{};  // the same, for capture_info
};

std::map<void*, Place> streams;  // those that capture
std::map<void*, Place> events;   // last recorded in a capture, which may have ended
std::set<void*> outside;         // events recorded outside of all captures

void reach(const FakeNode* node, std::set<const FakeNode*>& reached) {
  if (!reached.insert(node).second) return;
  for (const FakeNode* before : node->after) reach(before, reached);
}

/// Whether they are nodes of the graph, and none twice.
bool are_nodes(const FakeGraph& graph, void* const* nodes, size_t count) {
  const auto is_node = [&](void* node) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](auto& known) { return known.get() == node; });
  };
  return std::all_of(nodes, nodes + count, is_node) && std::set<void*>(nodes, nodes + count).size() == count;
}

const FakeNode* add_node(FakeGraph& graph, std::function<void()> work, std::vector<const FakeNode*> after) {
  graph.nodes.push_back(std::make_unique<FakeNode>(FakeNode{std::move(work), std::move(after)}));
  return graph.nodes.back().get();
}

std::function<void()> wait_work(void* event, std::function<void()> missing) {
  return [event, missing = std::move(missing)] {
    if (!outside.contains(event)) missing();
  };
}

}  // namespace

std::vector<std::function<void()>> latest_first(const FakeGraph& graph) {
  std::vector<std::function<void()>> work;
  std::set<const FakeNode*> done;
  const auto is_next = [&](const auto& node) {
    return !done.contains(node.get()) &&
           std::all_of(node->after.begin(), node->after.end(), [&](auto* before) { return done.contains(before); });
  };
  while (work.size() < graph.nodes.size()) {
    const auto& next = *std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), is_next);
    done.insert(next.get());
    work.push_back(next->perform);
  }
  return work;
}

int begin_capture(void* stream) {
  if (streams.contains(stream)) return kIllegalState;
  streams[stream].capture = std::make_shared<Capture>();
  streams[stream].capture->origin = stream;
  return 0;
}

int end_capture(void* stream, void** graph) {
  *graph = nullptr;
  const auto found = streams.find(stream);
  if (found == streams.end()) return kIllegalState;
  const Place end = found->second;
  if (end.capture->origin != stream) return kCaptureUnmatched;
  std::erase_if(streams, [&](const auto& entry) { return entry.second.capture == end.capture; });
  std::set<const FakeNode*> reached;
  for (const FakeNode* node : end.after) reach(node, reached);
  if (!end.capture->valid) return kCaptureInvalidated;
  if (reached.size() != end.capture->graph.nodes.size()) return kCaptureUnjoined;
  *graph = new FakeGraph(std::move(end.capture->graph));
  return 0;
}

int submit(void* stream, std::function<void()> work) {
  const auto found = streams.find(stream);
  if (found == streams.end()) {
    work();
    return 0;
  }
  Place& place = found->second;
  if (!place.capture->valid) return kCaptureInvalidated;
  place.after = {add_node(place.capture->graph, std::move(work), {place.after.begin(), place.after.end()})};
  return 0;
}

int capture_event(void* event, void* stream) {
  events.erase(event);
  const auto found = streams.find(stream);
  if (found != streams.end()) {
    events[event] = found->second;
  } else {
    outside.insert(event);
  }
  return 0;
}

int capture_wait(void* stream, void* event) {
  const auto place = streams.find(stream);
  const auto awaited = events.find(event);
  if (awaited == events.end()) return place == streams.end() ? 0 : kCaptureIsolation;
  if (!streams.contains(awaited->second.capture->origin)) return kCapturedEvent;
  Place& joined = streams.try_emplace(stream, awaited->second).first->second;
  if (joined.capture != awaited->second.capture) return kCaptureIsolation;
  joined.after.insert(awaited->second.after.begin(), awaited->second.after.end());
  return 0;
}

int capture_wait_outside(void* stream, void* event, std::function<void()> missing) {
  if (!streams.contains(stream)) return kInvalidValue;
  return submit(stream, wait_work(event, std::move(missing)));
}

int capture_synchronize(void* stream) {
  const auto found = streams.find(stream);
  if (found == streams.end()) return 0;
  found->second.capture->valid = false;
  return kCaptureUnsupported;
}

bool is_capturing(void* stream) { return streams.contains(stream); }

int capture_info(void* stream, int* state, void** graph, void* const** nodes, size_t* count) {
  const auto found = streams.find(stream);
  *state = found == streams.end() ? 0 : found->second.capture->valid ? 1 : 2;
  if (*state != 1) return 0;
  Place& place = found->second;
  place.listed.clear();
  for (const FakeNode* node : place.after) place.listed.push_back(const_cast<FakeNode*>(node));
  if (graph != nullptr) *graph = &place.capture->graph;
  if (nodes != nullptr) *nodes = place.listed.data();
  if (count != nullptr) *count = place.listed.size();
  return 0;
}

int set_capture_dependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  const auto found = streams.find(stream);
  if (found == streams.end()) return kIllegalState;
  Place& place = found->second;
  if (flags > 1 || !are_nodes(place.capture->graph, nodes, count)) return kInvalidValue;
  if (flags == 1) place.after.clear();
  for (size_t i = 0; i < count; ++i) place.after.insert(static_cast<const FakeNode*>(nodes[i]));
  return 0;
}

int add_wait_node(void** node, void* graph, void* const* after, size_t count, void* event,
                  std::function<void()> missing) {
  const auto is_of_graph = [&](const auto& entry) { return &entry.second.capture->graph == graph; };
  if (std::none_of(streams.begin(), streams.end(), is_of_graph)) return kInvalidValue;
  auto& captured = *static_cast<FakeGraph*>(graph);
  if (event == nullptr || !are_nodes(captured, after, count)) return kInvalidValue;
  std::vector<const FakeNode*> before;
  for (size_t i = 0; i < count; ++i) before.push_back(static_cast<const FakeNode*>(after[i]));
  *node = const_cast<FakeNode*>(add_node(captured, wait_work(event, std::move(missing)), std::move(before)));
  return 0;
}

void reset_captures() {
  streams.clear();
  events.clear();
  outside.clear();
}
