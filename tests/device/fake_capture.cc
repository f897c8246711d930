// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/fake_capture.h"

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
};

std::map<void*, Place> streams;  // those that capture
std::map<void*, Place> events;   // last recorded in a capture, which may have ended
std::set<void*> outside;         // events recorded outside of all captures

void reach(const FakeNode* node, std::set<const FakeNode*>& reached) {
  if (!reached.insert(node).second) return;
  for (const FakeNode* before : node->after) reach(before, reached);
}

}  // namespace

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
  auto& nodes = place.capture->graph.nodes;
  nodes.push_back(std::make_unique<FakeNode>(FakeNode{std::move(work), {place.after.begin(), place.after.end()}}));
  place.after = {nodes.back().get()};
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
  return submit(stream, [event, missing = std::move(missing)] {
    if (!outside.contains(event)) missing();
  });
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
  outside.clear();
}
