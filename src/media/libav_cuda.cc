// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/libav_cuda.h"

#include <fmt/format.h>

#include "base/try.h"
#include "device/gpu/driver.h"
#include "engine/input.h"

namespace acuity {
namespace {

constexpr int kHeldFrames = 2;  // surfaces that the decoder cannot use: the frame in hand, and the one before

// As libavutil/hwcontext_cuda.h has it, which cannot be included without CUDA's headers.
struct CudaDeviceContext {
  void* context;
  void* stream;
  void* internal;
};

bool decodes_on_cuda(const Libav& libav, const AVCodec* codec) {
  constexpr int kOwnDecoder = AV_CODEC_HW_CONFIG_METHOD_INTERNAL;  // another interface to the same hardware
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* config = libav.avcodec_get_hw_config(codec, i);
    if (config == nullptr) return false;
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA && (config->methods & kOwnDecoder) == 0 &&
        (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0) {
      return true;
    }
  }
}

// Without it, libav would decode on the CPU.
AVPixelFormat choose_cuda(AVCodecContext*, const AVPixelFormat* offered) {
  for (; *offered != AV_PIX_FMT_NONE; ++offered) {
    if (*offered == AV_PIX_FMT_CUDA) return AV_PIX_FMT_CUDA;
  }
  return AV_PIX_FMT_NONE;
}

}  // namespace

// The primary context, which Device uses as well, and a stream in it for the decoder.
struct CudaSurfaces::Driver {
  DriverFunction<int*, int> device_at;
  DriverFunction<void**, int> retain;
  DriverFunction<int> release;
  DriverFunction<void*> push;
  DriverFunction<void**> pop;
  DriverFunction<void**, unsigned> create_stream;
  DriverFunction<void*> destroy_stream;
  DriverFunction<void*> synchronize;
  int device = 0;
  void* context = nullptr;
  void* stream = nullptr;

  template <typename Function>
  DriverOutcome in_context(const Function& function) const {
    const DriverOutcome pushed = push(context);
    if (!pushed.ok()) return pushed;
    const DriverOutcome outcome = function();
    void* popped = nullptr;
    pop(&popped);
    return outcome;
  }

  Status open(int index) {
    Result<DriverLibrary> opened = DriverLibrary::open("ACUITY_CUDA_DRIVER", {"libcuda.so.1"});
    if (!opened.ok()) return opened.status();
    DriverLibrary& library = *opened;
    library.bind(device_at, "cuDeviceGet");
    library.bind(retain, "cuDevicePrimaryCtxRetain");
    library.bind(release, "cuDevicePrimaryCtxRelease_v2");
    library.bind(push, "cuCtxPushCurrent_v2");
    library.bind(pop, "cuCtxPopCurrent_v2");
    library.bind(create_stream, "cuStreamCreate");
    library.bind(destroy_stream, "cuStreamDestroy_v2");
    library.bind(synchronize, "cuStreamSynchronize");
    ACUITY_TRY(library.complete());
    DriverOutcome outcome = device_at(&device, index);
    if (outcome.ok()) outcome = retain(&context, device);
    if (outcome.ok()) outcome = in_context([this] { return create_stream(&stream, kNonBlockingStream); });
    return failure(outcome);
  }

  ~Driver() {
    if (stream != nullptr) in_context([this] { return destroy_stream(stream); });
    if (context != nullptr) release(device);
  }

  Status wait() const {
    return failure(in_context([this] { return synchronize(stream); }));
  }

  static Status failure(const DriverOutcome& outcome) {
    if (outcome.ok()) return {};
    return {StatusCode::device, fmt::format("{} failed with error {} of CUDA", outcome.function, outcome.code)};
  }
};

const AVCodec* find_cuda_decoder(const Libav& libav, AVCodecID codec) {
  const AVCodec* usual = libav.avcodec_find_decoder(codec);
  if (usual != nullptr && decodes_on_cuda(libav, usual)) return usual;
  void* place = nullptr;
  while (const AVCodec* candidate = libav.av_codec_iterate(&place)) {
    if (candidate->id == codec && libav.av_codec_is_decoder(candidate) != 0 && decodes_on_cuda(libav, candidate)) {
      return candidate;
    }
  }
  return nullptr;
}

CudaSurfaces::CudaSurfaces(const Libav& libav, std::shared_ptr<Device> device)
    : libav_(libav), device_(std::move(device)), pool_(DevicePool::of(device_)) {}

CudaSurfaces::~CudaSurfaces() { libav_.av_buffer_unref(&context_); }

Result<std::unique_ptr<CudaSurfaces>> CudaSurfaces::create(const Libav& libav, std::shared_ptr<Device> device) {
  std::unique_ptr<CudaSurfaces> surfaces(new CudaSurfaces(libav, std::move(device)));
  ACUITY_TRY(surfaces->open());
  return surfaces;
}

Status CudaSurfaces::open() {
  driver_ = std::make_unique<Driver>();
  ACUITY_TRY(driver_->open(device_->info().index));
  ACUITY_TRY_ASSIGN(queue_, device_->create_queue());
  context_ = libav_.av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
  if (context_ == nullptr) {
    return {StatusCode::device, "this libavutil was built without CUDA"};
  }
  auto* described = static_cast<CudaDeviceContext*>(reinterpret_cast<AVHWDeviceContext*>(context_->data)->hwctx);
  described->context = driver_->context;
  described->stream = driver_->stream;
  if (libav_.av_hwdevice_ctx_init(context_) < 0) {
    return {StatusCode::device, "libavutil cannot load the functions it needs of the driver's library libcuda.so.1"};
  }
  return {};
}

Status CudaSurfaces::attach(AVCodecContext& decoder) const {
  decoder.hw_device_ctx = libav_.av_buffer_ref(context_);
  if (decoder.hw_device_ctx == nullptr) return {StatusCode::out_of_memory, "out of memory for a decoder"};
  decoder.get_format = choose_cuda;
  decoder.extra_hw_frames = kHeldFrames;
  decoder.thread_count = 1;  // the GPU does the work; threads would only hold surfaces
  return {};
}

AVPixelFormat surface_format(const AVFrame& frame) {
  if (frame.hw_frames_ctx == nullptr) return AV_PIX_FMT_NONE;
  return reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format;
}

Result<Input> CudaSurfaces::take(const AVFrame& frame, const FrameFormat& format) {
  const AVPixFmtDescriptor* pixels = libav_.av_pix_fmt_desc_get(surface_format(frame));
  if (pixels == nullptr) return Status(StatusCode::device, "the GPU's decoder gave a frame of no known format");
  const AVComponentDescriptor& luma = pixels->comp[0];
  const int components = format.planes_count();
  const SurfaceLayout layout{.chroma_pairs = components > 1 && pixels->comp[1].plane == pixels->comp[2].plane,
                             .high_bits = format.depth > 8 && (luma.depth != format.depth || luma.shift != 0)};
  FrameView view{format};
  const auto left = static_cast<int64_t>(frame.crop_left), top = static_cast<int64_t>(frame.crop_top);
  for (int p = 0; p < (layout.chroma_pairs ? 2 : components); ++p) {
    const AVComponentDescriptor& component = pixels->comp[p];
    const auto at = static_cast<size_t>(p);
    const int64_t x = p > 0 ? left >> pixels->log2_chroma_w : left, y = p > 0 ? top >> pixels->log2_chroma_h : top;
    view.row_strides[at] = frame.linesize[component.plane];
    view.planes[at] =
        reinterpret_cast<const std::byte*>(frame.data[component.plane]) + y * view.row_strides[at] + x * component.step;
  }
  ACUITY_TRY(driver_->wait());
  return take_surface(Input::on_device(view, format, layout, device()), pool_, *queue_, {&threads_, &tasks_});
}

}  // namespace acuity
