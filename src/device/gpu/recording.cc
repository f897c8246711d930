// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/recording.h"

#include <utility>
#include <vector>

#include "base/try.h"

namespace acuity {
namespace {

constexpr int kRelaxedCapture = 2;  // what other threads, or kernels loaded inside, do does not disturb it
constexpr int kCopyNode = 1;
constexpr int kHostMemory = 1;

uint64_t address_of(HostBytes bytes) { return reinterpret_cast<uintptr_t>(bytes.data()); }

/// What a copy's address counts from. Drivers give host memory as such or as unified memory, whose addresses differ
/// from those of every device.
uint64_t& base(GraphCopySide& side) { return side.memory_type == kHostMemory ? side.host : side.device; }

class GpuRecording : public Recording {
 public:
  GpuRecording(std::shared_ptr<GpuContext> context, void* stream) : context_(std::move(context)), stream_(stream) {}
  ~GpuRecording() override {
    // An executable graph in flight is freed by the driver when it is done.
    context_->call_last([this] {
      if (capturing_) graphs().end_capture(stream_, &graph_);
      if (executable_ != nullptr) graphs().destroy_executable(executable_);
      if (graph_ != nullptr) graphs().destroy(graph_);
    });
  }

  Status capture(const std::function<Status()>& work) {
    ACUITY_TRY(context_->call([this] { return graphs().begin_capture(stream_, kRelaxedCapture); }));
    capturing_ = true;  // and ended with this object if the work fails
    ACUITY_TRY(work());
    capturing_ = false;
    return context_->call([this] { return graphs().end_capture(stream_, &graph_); });
  }

  Status instantiate() {
    return context_->call([this] { return graphs().instantiate(&executable_, graph_, 0); });
  }

  Status find_uploads(std::span<const HostBytes> inputs) {
    return context_->call([&] {
      size_t count = 0;
      DriverOutcome outcome = graphs().get_nodes(graph_, nullptr, &count);
      std::vector<void*> nodes(count);
      if (outcome.ok() && count != 0) outcome = graphs().get_nodes(graph_, nodes.data(), &count);
      for (size_t i = 0; i < nodes.size() && outcome.ok(); ++i) outcome = note_if_upload(nodes[i], inputs);
      return outcome;
    });
  }

  Status repeat(std::span<const HostBytes> inputs) override {
    return context_->call([&] {
      for (Upload& upload : uploads_) {
        GraphCopy moved = upload.copy;
        base(moved.from) = address_of(inputs[upload.input]) + upload.offset;
        if (base(moved.from) == base(upload.copy.from)) continue;
        const DriverOutcome outcome = graphs().set_copy(executable_, upload.node, &moved, context_->handle());
        if (!outcome.ok()) return outcome;
        upload.copy = moved;
      }
      return graphs().launch(executable_, stream_);
    });
  }

 private:
  struct Upload {
    void* node;
    GraphCopy copy;  // as it was last set
    size_t input;
    uint64_t offset;  // in that input
  };

  const GraphFunctions& graphs() const { return context_->driver().graphs; }

  DriverOutcome note_if_upload(void* node, std::span<const HostBytes> inputs) {
    int type = 0;
    DriverOutcome outcome = graphs().node_type(node, &type);
    if (!outcome.ok() || type != kCopyNode) return outcome;
    GraphCopy copy;
    outcome = graphs().get_copy(node, &copy);
    if (!outcome.ok()) return outcome;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint64_t offset = base(copy.from) - address_of(inputs[i]);
      if (offset < inputs[i].size()) uploads_.push_back({node, copy, i, offset});
    }
    return outcome;
  }

  std::shared_ptr<GpuContext> context_;
  void* stream_;
  bool capturing_ = false;
  void* graph_ = nullptr;  // kept because the uploads are nodes of it
  void* executable_ = nullptr;
  std::vector<Upload> uploads_;
};

}  // namespace

Result<std::unique_ptr<Recording>> record_graph(std::shared_ptr<GpuContext> context, void* stream,
                                                std::span<const HostBytes> inputs,
                                                const std::function<Status()>& work) {
  if (!context->driver().graphs.complete()) return std::unique_ptr<Recording>();
  auto recording = std::make_unique<GpuRecording>(std::move(context), stream);
  ACUITY_TRY(recording->capture(work));
  // It takes megabytes on the device. Where they are lacking the work can still be given anew.
  if (!recording->instantiate().ok()) return std::unique_ptr<Recording>();
  ACUITY_TRY(recording->find_uploads(inputs));
  return std::unique_ptr<Recording>(std::move(recording));
}

}  // namespace acuity
