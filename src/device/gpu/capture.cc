// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/capture.h"

#include <algorithm>
#include <utility>

namespace acuity {
namespace {

constexpr int kRelaxedCapture = 2;  // what other threads, or kernels loaded inside, do does not disturb it
constexpr int kCaptureActive = 1;
constexpr unsigned kReplaceDependencies = 1;
constexpr int kErrorCaptureInvalidated = 901;

}  // namespace

GraphCapture::~GraphCapture() {
  if (!capturing_) return;
  context_->call_last([this] {
    void* graph = nullptr;
    if (graphs().one_stream) set_dependencies({last_.begin(), last_.end()});
    graphs().end_capture(stream_->handle(), &graph);
    if (graph != nullptr) graphs().destroy(graph);
  });
}

Status GraphCapture::begin(std::shared_ptr<GpuStream> stream) {
  stream_ = std::move(stream);
  ACUITY_TRY(context_->call([this] { return graphs().begin_capture(stream_->handle(), kRelaxedCapture); }));
  capturing_ = true;  // and ended with this object if the work fails
  return {};
}

Status GraphCapture::end(void** graph) {
  capturing_ = false;
  return context_->call([&] {
    // HIP ends no capture that leaves nodes behind which its stream does not come after.
    const DriverOutcome outcome =
        graphs().one_stream ? set_dependencies({last_.begin(), last_.end()}) : DriverOutcome{};
    const DriverOutcome ended = graphs().end_capture(stream_->handle(), graph);
    return outcome.ok() ? ended : outcome;
  });
}

Status GraphCapture::wait_outside(Nodes& after, void* event) {
  void* node = nullptr;
  ACUITY_TRY(context_->call([&] {
    int state = 0;
    void* graph = nullptr;
    const DriverOutcome outcome = graphs().capture_info(stream_->handle(), &state, nullptr, &graph, nullptr, nullptr);
    return outcome.ok() ? graphs().add_wait(&node, graph, after.data(), after.size(), event) : outcome;
  }));
  replace(after, {node});
  return {};
}

void GraphCapture::join(Nodes& after, const Nodes& others) {
  for (void* node : others) {
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  }
}

bool GraphCapture::is_complete(const Nodes& after) const {
  return std::all_of(last_.begin(), last_.end(),
                     [&](void* node) { return std::find(after.begin(), after.end(), node) != after.end(); });
}

DriverOutcome GraphCapture::set_dependencies(Nodes nodes) const {
  return graphs().set_dependencies(stream_->handle(), nodes.data(), nodes.size(), kReplaceDependencies);
}

Status GraphCapture::advance(Nodes& after) {
  Nodes added;
  ACUITY_TRY(context_->call([&] {
    int state = 0;
    void* graph = nullptr;
    void* const* nodes = nullptr;
    size_t count = 0;
    DriverOutcome outcome = graphs().capture_info(stream_->handle(), &state, nullptr, &graph, &nodes, &count);
    if (outcome.ok() && state != kCaptureActive) outcome.code = kErrorCaptureInvalidated;
    if (outcome.ok()) added.assign(nodes, nodes + count);
    return outcome;
  }));
  replace(after, added);
  return {};
}

void GraphCapture::replace(Nodes& after, const Nodes& added) {
  for (void* node : after) last_.erase(node);
  last_.insert(added.begin(), added.end());
  after = added;
}

}  // namespace acuity
