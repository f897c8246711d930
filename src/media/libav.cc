// SPDX-License-Identifier: BSD-2-Clause-Patent
// Containers and codecs, by libav. A frame is handed on only if its decoder found nothing wrong on the way to it: a
// decoder that hides damage makes scores of what nobody encoded.
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "base/try.h"
#include "media/libav_complaints.h"
#include "media/libav_frame.h"
#include "media/libav_library.h"
#include "media/video_sources.h"

namespace acuity {
namespace {

constexpr int kBufferBytes = 1 << 16;
constexpr int kMostThreads = 8;  // a decoder keeps a frame for each

int read_file(void* file, uint8_t* buffer, int size) {
  const size_t got = std::fread(buffer, 1, static_cast<size_t>(size), static_cast<std::FILE*>(file));
  if (got > 0) return static_cast<int>(got);
  return std::ferror(static_cast<std::FILE*>(file)) != 0 ? AVERROR(EIO) : AVERROR_EOF;
}

int64_t seek_file(void* opaque, int64_t place, int whence) {
  auto* file = static_cast<std::FILE*>(opaque);
  if ((whence & AVSEEK_SIZE) == 0) return fseeko(file, place, whence & ~AVSEEK_FORCE) == 0 ? ftello(file) : -1;
  const off_t here = ftello(file);
  if (here < 0 || fseeko(file, 0, SEEK_END) != 0) return -1;
  const off_t end = ftello(file);
  return fseeko(file, here, SEEK_SET) == 0 ? end : -1;
}

// Lists of other files, as in a playlist, are not followed: a file must not make us read another, or the network.
int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EACCES); }

// libav draws plain text as a film of a terminal.
bool is_text(const AVInputFormat& format) { return std::string_view(format.name) == "tty"; }

class LibavSource : public FrameSource {
 public:
  ~LibavSource() override {
    if (libav_ == nullptr) return;
    libav_->avcodec_free_context(&decoder_);
    libav_->avformat_close_input(&container_);
    if (reader_ != nullptr) libav_->av_freep(&reader_->buffer);
    libav_->avio_context_free(&reader_);
    libav_->av_packet_free(&packet_);
    libav_->av_frame_free(&decoded_);
  }

  Status open(File file, std::string_view name, const VideoOptions& options) {
    file_ = std::move(file);
    name_ = name;
    ACUITY_TRY_ASSIGN(libav_, quiet_libav());
    ACUITY_TRY(open_container());
    ACUITY_TRY(open_decoder());
    ACUITY_TRY_ASSIGN(waiting_, receive());
    if (!waiting_) return input("has no frames");
    return describe_stream(options);
  }

  Result<bool> next(VideoFrame& frame) override {
    if (!waiting_) ACUITY_TRY_ASSIGN(waiting_, receive());
    if (!waiting_) return false;
    waiting_ = false;
    if (decoded_->width != format_.width || decoded_->height != format_.height || decoded_->format != pixel_format_) {
      return input(fmt::format("changes at frame {} from {}x{} {} to {}x{} {}; split it there", index_, format_.width,
                               format_.height, pixel_name(pixel_format_), decoded_->width, decoded_->height,
                               pixel_name(decoded_->format)));
    }
    frame.index = index_++;
    frame.time = time();
    if (is_rgb_) {
      ACUITY_TRY_ASSIGN(frame.picture, copy_rgb(*libav_, *decoded_, format_));
    } else {
      frame.picture.reset();
      copy_planes(*libav_, *decoded_, format_, frame.samples);
    }
    libav_->av_frame_unref(decoded_);
    return true;
  }

 private:
  Status input(const std::string& what) const { return Status(StatusCode::input, fmt::format("'{}' {}", name_, what)); }

  Status damaged(const std::string& what) const {
    return input(
        fmt::format("is damaged near frame {}: {}; replace it with an intact copy, or use --shortest to keep "
                    "what comes before",
                    received_, what));
  }

  Status out_of_memory() const {
    return Status(StatusCode::out_of_memory, fmt::format("out of memory while reading '{}'", name_));
  }

  std::string text_of(int error) const { return libav_error(*libav_, error); }

  std::string pixel_name(int format) const {
    const char* text = libav_->av_get_pix_fmt_name(static_cast<AVPixelFormat>(format));
    return text == nullptr ? "of no known format" : text;
  }

  Status open_container() {
    packet_ = libav_->av_packet_alloc();
    decoded_ = libav_->av_frame_alloc();
    container_ = libav_->avformat_alloc_context();
    auto* buffer = static_cast<unsigned char*>(libav_->av_malloc(kBufferBytes));
    const bool seekable = ftello(file_.get()) >= 0 && fseeko(file_.get(), 0, SEEK_CUR) == 0;
    reader_ = libav_->avio_alloc_context(buffer, kBufferBytes, 0, file_.get(), read_file, nullptr,
                                         seekable ? seek_file : nullptr);
    if (packet_ == nullptr || decoded_ == nullptr || container_ == nullptr || reader_ == nullptr) {
      return out_of_memory();
    }
    container_->pb = reader_;
    container_->flags |= AVFMT_FLAG_CUSTOM_IO;
    container_->io_open = refuse_to_open;
    const std::vector<uint8_t> beginning = peek(file_.get());
    // By content: with the name, libav would go by that. Where this fails it frees the container.
    const int error = libav_->avformat_open_input(&container_, "", nullptr, nullptr);
    if (error == AVERROR(ENOMEM)) return out_of_memory();
    if (error < 0 && is_known_to_libav(beginning)) {
      return input(fmt::format("cannot be read: {}; replace it with an intact copy", text_of(error)));
    }
    if (error < 0 || is_text(*container_->iformat)) return unrecognised(beginning, name_);
    if (const int found = libav_->avformat_find_stream_info(container_, nullptr); found < 0) {
      if (found == AVERROR(ENOMEM)) return out_of_memory();
      return input(fmt::format("cannot be read: {}; replace it with an intact copy", text_of(found)));
    }
    return {};
  }

  Status open_decoder() {
    const AVCodec* codec = nullptr;
    const int found = libav_->av_find_best_stream(container_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (found == AVERROR_DECODER_NOT_FOUND)
      return input("holds video of a codec that this libavcodec has no decoder for");
    if (found < 0) return input("holds no video; give a file that does");
    stream_ = container_->streams[found];
    for (unsigned i = 0; i < container_->nb_streams; ++i) {
      if (container_->streams[i] != stream_) container_->streams[i]->discard = AVDISCARD_ALL;
    }
    decoder_ = libav_->avcodec_alloc_context3(codec);
    if (decoder_ == nullptr || libav_->avcodec_parameters_to_context(decoder_, stream_->codecpar) < 0) {
      return out_of_memory();
    }
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    decoder_->thread_count = std::clamp(cores, 1, kMostThreads);
    decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER;
    decoder_->opaque = &complaints_;
    decoder_->pkt_timebase = stream_->time_base;
    if (const int error = libav_->avcodec_open2(decoder_, codec, nullptr); error < 0) {
      return input(fmt::format("holds {} that cannot be decoded: {}", codec->long_name, text_of(error)));
    }
    return {};
  }

  // The next frame into decoded_; false at the end.
  Result<bool> receive() {
    for (;;) {
      const int received = libav_->avcodec_receive_frame(decoder_, decoded_);
      if (received == AVERROR(EAGAIN)) {
        ACUITY_TRY(send());
        continue;
      }
      if (received < 0 && received != AVERROR_EOF) return damaged(complaint_or(text_of(received)));
      if (std::string heard = complaint_or(""); !heard.empty()) return damaged(heard);
      if (received == AVERROR_EOF) return false;
      if (decoded_->decode_error_flags != 0 || (decoded_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
        return damaged("the decoder filled in what was missing");
      }
      ++received_;
      return true;
    }
  }

  // The next packet to the decoder, or word of the end.
  Status send() {
    int error = 0;
    do {
      libav_->av_packet_unref(packet_);
      error = libav_->av_read_frame(container_, packet_);
    } while (error == 0 && packet_->stream_index != stream_->index);
    if (std::ferror(file_.get()) != 0) return input("could not be read to its end");
    if (error < 0 && error != AVERROR_EOF) return damaged(text_of(error));
    if (error == 0 && (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) return damaged("part of a packet is missing");
    const int sent = libav_->avcodec_send_packet(decoder_, error == 0 ? packet_ : nullptr);
    libav_->av_packet_unref(packet_);
    if (sent < 0 && sent != AVERROR_EOF) return damaged(complaint_or(text_of(sent)));
    return {};
  }

  std::string complaint_or(std::string otherwise) {
    std::string heard = complaints_.first();
    return heard.empty() ? otherwise : heard;
  }

  std::optional<double> time() const {
    if (decoded_->best_effort_timestamp != AV_NOPTS_VALUE) {
      return static_cast<double>(decoded_->best_effort_timestamp) * av_q2d(stream_->time_base);
    }
    const FrameRate& rate = format_.rate;
    if (rate.denominator == 0) return {};
    return static_cast<double>(index_) * static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
  }

  Status describe_stream(const VideoOptions& options) {
    pixel_format_ = decoded_->format;
    format_.container = fmt::format("{}, {}", container_->iformat->long_name, decoder_->codec->long_name);
    format_.width = decoded_->width;
    format_.height = decoded_->height;
    const AVRational rate = libav_->av_guess_frame_rate(container_, stream_, nullptr);
    if (rate.num > 0 && rate.den > 0) format_.rate = {rate.num, rate.den};
    if (stream_->nb_frames > 0) format_.frames = stream_->nb_frames;
    if (stream_->duration > 0) {
      format_.seconds = static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
    } else if (container_->duration > 0) {
      format_.seconds = static_cast<double>(container_->duration) / AV_TIME_BASE;
    }
    const double average = av_q2d(stream_->avg_frame_rate), base = av_q2d(stream_->r_frame_rate);
    if (average > 0 && base > 0 && std::abs(average - base) > 1e-3 * base) {
      format_.found.push_back(fmt::format("variable frame rate, {:.3f} frames a second on average", average));
    }
    if (decoded_->interlaced_frame != 0)
      format_.found.emplace_back("interlaced: fields are scored woven, as whole frames");
    const AVRational aspect = stream_->sample_aspect_ratio;
    if (aspect.num > 0 && aspect.num != aspect.den) {
      format_.found.push_back(fmt::format("pixels of {}:{}, scored as they are stored", aspect.num, aspect.den));
    }
    SampleFacts said;
    Result<PixelKind> kind = describe_pixels(*libav_, *decoded_, name_, format_, said);
    if (!kind.ok()) return kind.status();
    is_rgb_ = *kind == PixelKind::rgb;
    return is_rgb_ ? Status() : complete_format(format_, said, options.limits, name_);
  }

  const Libav* libav_ = nullptr;
  File file_;
  std::string name_;
  AVIOContext* reader_ = nullptr;
  AVFormatContext* container_ = nullptr;
  AVStream* stream_ = nullptr;
  AVCodecContext* decoder_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* decoded_ = nullptr;
  Complaints complaints_;
  int pixel_format_ = 0;
  bool is_rgb_ = false;
  bool waiting_ = false;  // decoded_ holds a frame nobody has had
  int64_t received_ = 0;
  int64_t index_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameSource>> open_libav(File file, std::string_view name, const VideoOptions& options) {
  auto source = std::make_unique<LibavSource>();
  ACUITY_TRY(source->open(std::move(file), name, options));
  return std::unique_ptr<FrameSource>(std::move(source));
}

bool is_known_to_libav(Bytes beginning) {
  const Result<const Libav*> functions = quiet_libav();
  if (!functions.ok()) return false;
  std::vector<unsigned char> bytes(beginning.begin(), beginning.end());
  bytes.resize(beginning.size() + AVPROBE_PADDING_SIZE);
  AVProbeData probe{};
  probe.filename = "";
  probe.buf = bytes.data();
  probe.buf_size = static_cast<int>(beginning.size());
  int score = 0;
  const AVInputFormat* format = (*functions)->av_probe_input_format3(&probe, 1, &score);
  return format != nullptr && !is_text(*format) && score > AVPROBE_SCORE_RETRY;
}

}  // namespace acuity
