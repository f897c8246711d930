// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/recording.h"

#include <utility>

#include "base/try.h"

namespace acuity {
namespace {

constexpr int kRelaxedCapture = 2;  // what other threads, or kernels loaded inside, do does not disturb it

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

  Status repeat() override {
    return context_->call([this] { return graphs().launch(executable_, stream_); });
  }

 private:
  const GraphFunctions& graphs() const { return context_->driver().graphs; }

  std::shared_ptr<GpuContext> context_;
  void* stream_;
  bool capturing_ = false;
  void* graph_ = nullptr;
  void* executable_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Recording>> record_graph(std::shared_ptr<GpuContext> context, void* stream,
                                                const std::function<Status()>& work) {
  if (!context->driver().graphs.complete()) return std::unique_ptr<Recording>();
  auto recording = std::make_unique<GpuRecording>(std::move(context), stream);
  ACUITY_TRY(recording->capture(work));
  // It takes megabytes on the device. Where they are lacking the work can still be given anew.
  if (!recording->instantiate().ok()) return std::unique_ptr<Recording>();
  return std::unique_ptr<Recording>(std::move(recording));
}

}  // namespace acuity
