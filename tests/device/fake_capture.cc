// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_capture.h"

#include <cstring>
#include <set>

static_assert(sizeof(FakeCopy) == 200);

namespace {

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
};

std::map<void*, Place> streams;  // those that capture
std::map<void*, Place> events;   // last recorded in a capture, which may have ended

void reach(const FakeNode* node, std::set<const FakeNode*>& reached) {
  if (!reached.insert(node).second) return;
  for (const FakeNode* before : node->after) reach(before, reached);
}

}  // namespace

void FakeCopy::perform() const {
  const void* from = srcMemoryType == kHost ? srcHost : reinterpret_cast<const void*>(srcDevice);
  void* to = dstMemoryType == kHost ? dstHost : reinterpret_cast<void*>(dstDevice);
  std::memcpy(to, from, WidthInBytes);
}

FakeExecutable::FakeExecutable(const FakeGraph& graph) {
  for (const auto& node : graph.nodes) {
    places[node.get()] = nodes.size();
    nodes.push_back(*node);
  }
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

int submit(void* stream, FakeNode node) {
  const auto found = streams.find(stream);
  if (found == streams.end()) {
    node.perform();
    return 0;
  }
  Place& place = found->second;
  if (!place.capture->valid) return kCaptureInvalidated;
  node.after.assign(place.after.begin(), place.after.end());
  auto& nodes = place.capture->graph.nodes;
  nodes.push_back(std::make_unique<FakeNode>(std::move(node)));
  place.after = {nodes.back().get()};
  return 0;
}

int capture_event(void* event, void* stream) {
  events.erase(event);
  if (const auto found = streams.find(stream); found != streams.end()) events[event] = found->second;
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

int capture_synchronize(void* stream) {
  const auto found = streams.find(stream);
  if (found == streams.end()) return 0;
  found->second.capture->valid = false;
  return kCaptureUnsupported;
}

void reset_captures() {
  streams.clear();
  events.clear();
}
