// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/recording.h"

#include <utility>

#include "base/try.h"

namespace acuity {
namespace {

class GpuRecording : public Recording {
 public:
  GpuRecording(std::shared_ptr<GpuContext> context, std::shared_ptr<GpuStream> stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}
  ~GpuRecording() override {
    context_->call_last([this] {
      if (executable_ != nullptr) {
        if (graphs().frees_at_once) context_->driver().synchronize_stream(stream_->handle());
        graphs().destroy_executable(executable_);
      }
      if (graph_ != nullptr) graphs().destroy(graph_);
    });
  }

  Status end(GraphCapture& capture) { return capture.end(&graph_); }

  Status instantiate() {
    return context_->call([this] { return graphs().instantiate(&executable_, graph_, 0); });
  }

  Status replay() override {
    return context_->call([this] { return graphs().launch(executable_, stream_->handle()); });
  }

 private:
  const GraphFunctions& graphs() const { return context_->driver().graphs; }

  std::shared_ptr<GpuContext> context_;
  std::shared_ptr<GpuStream> stream_;  // the queue's, which may be gone before this
  void* graph_ = nullptr;
  void* executable_ = nullptr;
};

/// The stream that captures the queue's work, or null without memory for it.
Result<std::shared_ptr<GpuStream>> capturing_stream(const std::shared_ptr<GpuContext>& context, const GpuQueue& queue) {
  if (!context->driver().graphs.one_stream) return queue.stream();
  if (queue.is_captured()) return context->failure("this queue's work is being recorded already");
  Result<std::shared_ptr<GpuStream>> stream = GpuStream::create(context);
  if (stream.status().code() == StatusCode::device_memory) return std::shared_ptr<GpuStream>();
  return stream;
}

}  // namespace

Result<std::unique_ptr<Recording>> record_graph(const std::shared_ptr<GpuContext>& context, GpuQueue& queue,
                                                const std::function<Status()>& work) {
  const GraphFunctions& graphs = context->driver().graphs;
  if (!graphs.complete()) return std::unique_ptr<Recording>();
  Result<std::shared_ptr<GpuStream>> stream = capturing_stream(context, queue);
  if (!stream.ok()) return stream.status();
  if (*stream == nullptr) return std::unique_ptr<Recording>();

  auto capture = std::make_shared<GraphCapture>(context);
  ACUITY_TRY(capture->begin(std::move(*stream)));
  if (graphs.one_stream) queue.join_capture(capture);
  ACUITY_TRY(work());
  if (!capture->is_complete(queue.after())) {
    return context->failure("the recording ended without waiting for the work of one of its queues");
  }
  auto recording = std::make_unique<GpuRecording>(context, queue.stream());
  ACUITY_TRY(recording->end(*capture));
  capture.reset();  // its queues do their work again

  // It takes megabytes on the device. Where they are lacking the work can still be given anew.
  if (!recording->instantiate().ok()) return std::unique_ptr<Recording>();
  return std::unique_ptr<Recording>(std::move(recording));
}

}  // namespace acuity
