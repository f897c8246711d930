// SPDX-License-Identifier: BSD-2-Clause-Patent
// Decoding on NVIDIA GPUs, by libav with the decoder of the GPU. Frames stay on the device.
#ifndef ACUITY_MEDIA_LIBAV_CUDA_H
#define ACUITY_MEDIA_LIBAV_CUDA_H

#include <memory>

#include "acuity/input.h"
#include "base/task_threads.h"
#include "base/threads.h"
#include "device/pool.h"
#include "media/libav_library.h"

namespace acuity {

/// The decoder of a codec that libav can hand to the GPU; null if there is none.
const AVCodec* find_cuda_decoder(const Libav& libav, AVCodecID codec);

/// Used by one thread at a time.
class CudaSurfaces {
 public:
  /// A failure names what is missing.
  static Result<std::unique_ptr<CudaSurfaces>> create(const Libav& libav, std::shared_ptr<Device> device);
  ~CudaSurfaces();
  CudaSurfaces(const CudaSurfaces&) = delete;
  CudaSurfaces& operator=(const CudaSurfaces&) = delete;

  const std::string& device() const { return device_->info().id; }
  /// Before the decoder is opened: it decodes on the device, or not at all.
  Status attach(AVCodecContext& decoder) const;
  /// The samples of a decoded frame, in device memory of ours: the decoder may have its surface back, of which it has
  /// few. `format` states the size to show and the depth of the video.
  Result<Input> take(const AVFrame& frame, const FrameFormat& format);

 private:
  struct Driver;
  CudaSurfaces(const Libav& libav, std::shared_ptr<Device> device);
  Status open();

  const Libav& libav_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<DevicePool> pool_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Driver> driver_;
  AVBufferRef* context_ = nullptr;  // libav's name for the device
  Threads threads_{1};
  TaskThreads tasks_;
};

/// The format of a decoded frame's samples on the device, such as NV12.
AVPixelFormat surface_format(const AVFrame& frame);

}  // namespace acuity

#endif
