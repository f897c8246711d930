// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work that becomes a graph of the driver instead of being done. CUDA captures the recorded queue's stream and those
// that wait for it. HIP does not get along with several streams (hip/driver.cc): there one more stream captures the
// work of all queues, each piece of it after the nodes that its queue has come to. So no queue's stream ever captures,
// and a capture that fails leaves them as they were.
#ifndef ACUITY_DEVICE_GPU_CAPTURE_H
#define ACUITY_DEVICE_GPU_CAPTURE_H

#include <memory>
#include <set>
#include <vector>

#include "base/try.h"
#include "device/gpu/stream.h"

namespace acuity {

/// Used by one thread at a time.
class GraphCapture {
 public:
  using Nodes = std::vector<void*>;  // none twice

  explicit GraphCapture(std::shared_ptr<GpuContext> context) : context_(std::move(context)) {}
  ~GraphCapture();
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;

  /// Captures what is given to that stream, or what is submitted here if one stream captures for all.
  Status begin(std::shared_ptr<GpuStream> stream);
  Status end(void** graph);

  // The rest is for one stream that captures for all.

  /// Calls call(stream), which gives it one piece of work. That comes after these nodes, and takes their place.
  template <typename Call>
  Status submit(Nodes& after, const Call& call) {
    ACUITY_TRY(context_->call([&] {
      const DriverOutcome outcome = set_dependencies(after);
      return outcome.ok() ? call(stream_->handle()) : outcome;
    }));
    return advance(after);
  }
  /// Waits for what was recorded last in that event of the driver when the graph is launched.
  Status wait_outside(Nodes& after, void* event);
  static void join(Nodes& after, const Nodes& others);
  /// Whether these nodes come after all others.
  bool is_complete(const Nodes& after) const;

 private:
  const GraphFunctions& graphs() const { return context_->driver().graphs; }
  DriverOutcome set_dependencies(Nodes nodes) const;
  /// The node that was added last takes the place of those that it comes after.
  Status advance(Nodes& after);
  void replace(Nodes& after, const Nodes& added);

  std::shared_ptr<GpuContext> context_;
  std::shared_ptr<GpuStream> stream_;
  bool capturing_ = false;
  std::set<void*> last_;  // nodes that nothing comes after
};

}  // namespace acuity

#endif
