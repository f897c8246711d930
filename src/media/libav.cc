// SPDX-License-Identifier: BSD-2-Clause-Patent
// Containers and codecs, by libav. A frame is handed on only if its decoder found nothing wrong on the way to it: a
// decoder that hides damage makes scores of what nobody encoded.
#include <algorithm>
#include <cmath>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "base/try.h"
#include "media/libav_complaints.h"
#include "media/libav_cuda.h"
#include "media/libav_frame.h"
#include "media/libav_library.h"
#include "media/turn.h"
#include "media/video_streams.h"

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

// Whether a key frame of H.264 makes the decoder forget all frames before it. Where packets are not as in a transport
// stream, the container begins with such a one.
bool begins_anew(const AVPacket& packet) {
  constexpr int kIdr = 5;
  const std::span<const uint8_t> bytes(packet.data, static_cast<size_t>(packet.size));
  bool marked = false;
  for (size_t i = 0; i + 3 < bytes.size(); ++i) {
    if (bytes[i] != 0 || bytes[i + 1] != 0 || bytes[i + 2] != 1) continue;
    marked = true;
    if ((bytes[i + 3] & 31) == kIdr) return true;
  }
  return !marked;
}

// Whether a codec has limited range where a stream does not say.
bool is_limited_by_rule(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_VC1:
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
    case AV_CODEC_ID_PRORES:
    case AV_CODEC_ID_DNXHD:
      return true;
    default:
      return false;
  }
}

class LibavStream : public FrameStream {
 public:
  ~LibavStream() override {
    if (libav_ == nullptr) return;
    libav_->av_frame_free(&decoded_);  // before the decoder, which surfaces belong to
    libav_->avcodec_free_context(&decoder_);
    libav_->avformat_close_input(&container_);
    if (reader_ != nullptr) libav_->av_freep(&reader_->buffer);
    libav_->avio_context_free(&reader_);
    libav_->av_packet_free(&packet_);
  }

  Status open(File file, std::string_view name, const VideoOptions& options) {
    file_ = std::move(file);
    name_ = name;
    ACUITY_TRY_ASSIGN(libav_, libav());
    ACUITY_TRY(open_container(options));
    ACUITY_TRY(choose_stream(options.stream));
    ACUITY_TRY(open_decoder(options));
    Result<bool> received = receive();
    // The decoder gives up where no surface of the device is offered to it.
    if (surfaces_ && received.status().code() == StatusCode::input && decoder_->hwaccel == nullptr) {
      return refused(complaint_or("libav cannot decode its profile or format on the GPU"));
    }
    ACUITY_TRY_ASSIGN(waiting_, std::move(received));
    if (!waiting_)
      return input(has_key_frame_ ? "has no frames; use a video that has some"
                                  : "has no key frame, so nothing in it can be decoded; give the video from its start");
    return describe_stream(options);
  }

  Result<bool> next(VideoFrame& frame) override {
    if (!waiting_) ACUITY_TRY_ASSIGN(waiting_, receive());
    if (!waiting_) return false;
    waiting_ = false;
    if (shown_width() != stored_.width || shown_height() != stored_.height || stored_format() != pixel_format_) {
      return input(fmt::format("changes at frame {} from {}x{} {} to {}x{} {}; split it there", index_, stored_.width,
                               stored_.height, pixel_name(pixel_format_), shown_width(), shown_height(),
                               pixel_name(stored_format())));
    }
    if (const std::string changed = changed_meaning(); !changed.empty()) {
      return input(fmt::format("changes its {} at frame {}; split it there", changed, index_));
    }
    frame.index = index_++;
    frame.time = time();
    if (surfaces_) {
      ACUITY_TRY_ASSIGN(frame.there, surfaces_->take(*decoded_, frame_format(format_)));
    } else if (is_rgb_) {
      ACUITY_TRY_ASSIGN(frame.picture, copy_rgb(*libav_, *decoded_, stored_));
      frame.picture->view.colour = format_.colour;
      if (turn_ != 1) turn_planes(*frame.picture, turn_);
    } else {
      frame.picture.reset();
      copy_planes(*libav_, *decoded_, stored_, frame.samples);
      if (turn_ != 1) turn_frame(stored_, turn_, frame.samples);
    }
    libav_->av_frame_unref(decoded_);
    return true;
  }

 private:
  Status input(const std::string& what) const { return Status(StatusCode::input, fmt::format("'{}' {}", name_, what)); }

  Status damaged(const std::string& what) const {
    return input(
        fmt::format("is damaged near frame {} ({}); replace it with an intact copy, or use --shortest to score the "
                    "frames before",
                    received_, what));
  }

  // Never another decoder in silence.
  Status refused(const std::string& why) const {
    return Status(StatusCode::device,
                  fmt::format("'{}' ({}) cannot be decoded by the GPU's own decoder: {}; use --decode cpu", name_,
                              libav_->avcodec_get_name(stream_->codecpar->codec_id), why));
  }

  Status out_of_memory() const {
    return Status(
        StatusCode::out_of_memory,
        fmt::format("out of memory while decoding '{}'; close other programs or use a machine with more memory",
                    name_));
  }

  std::string text_of(int error) const { return libav_error(*libav_, error); }

  std::string pixel_name(int format) const {
    const char* text = libav_->av_get_pix_fmt_name(static_cast<AVPixelFormat>(format));
    return text == nullptr ? "of no known format" : text;
  }

  Status open_container(const VideoOptions& options) {
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
    container_->opaque = &container_complaints_;
    const std::vector<uint8_t> beginning = peek(file_.get());
    // By content: with the name, libav would go by that. Where this fails it frees the container.
    const int error = libav_->avformat_open_input(&container_, "", nullptr, nullptr);
    if (error == AVERROR(ENOMEM)) return out_of_memory();
    if (error < 0 && is_known_to_libav(beginning)) {
      return input(
          fmt::format("is a damaged or truncated video file ({}); replace it with an intact copy", text_of(error)));
    }
    if (error < 0 || is_text(*container_->iformat)) return unrecognised(beginning, name_, options.raw_options);
    if (const int found = libav_->avformat_find_stream_info(container_, nullptr); found < 0) {
      if (found == AVERROR(ENOMEM)) return out_of_memory();
      return input(
          fmt::format("is a damaged or truncated video file ({}); replace it with an intact copy", text_of(found)));
    }
    return {};
  }

  // Of a surface only the right and the bottom have been cut off.
  bool is_surface() const { return decoded_->format == AV_PIX_FMT_CUDA; }
  int shown_width() const { return decoded_->width - (is_surface() ? static_cast<int>(decoded_->crop_left) : 0); }
  int shown_height() const { return decoded_->height - (is_surface() ? static_cast<int>(decoded_->crop_top) : 0); }
  int stored_format() const { return is_surface() ? surface_format(*decoded_) : decoded_->format; }

  // A picture attached to music is not a stream of video.
  Status choose_stream(std::optional<int> wanted) {
    std::vector<AVStream*> videos;
    for (unsigned i = 0; i < container_->nb_streams; ++i) {
      AVStream* stream = container_->streams[i];
      stream->discard = AVDISCARD_ALL;
      const bool attached = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
      if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !attached) videos.push_back(stream);
    }
    if (videos.empty()) return input("contains no video; give a file that does");
    const auto count = static_cast<int>(videos.size());
    if (wanted.value_or(0) >= count) {
      return input(fmt::format("has no video stream {}: it has {}, counted from 0; choose another with --stream",
                               *wanted, count));
    }
    const int best = libav_->av_find_best_stream(container_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    stream_ = wanted ? videos[static_cast<size_t>(*wanted)] : best < 0 ? videos.front() : container_->streams[best];
    stream_->discard = AVDISCARD_DEFAULT;
    const auto place = std::find(videos.begin(), videos.end(), stream_) - videos.begin();
    if (count > 1) {
      format_.state(
          fmt::format("video stream {} of {}, counted from 0{}", place, count, wanted ? "" : " (--stream chooses)"));
    }
    return {};
  }

  Status open_decoder(const VideoOptions& options) {
    const PictureLimits& limits = options.limits;
    const AVCodecParameters& parameters = *stream_->codecpar;
    const AVCodec* codec = libav_->avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr)
      return input("contains video of a codec that this libavcodec cannot decode; convert it first");
    if (options.decoder) {
      codec = find_cuda_decoder(*libav_, parameters.codec_id);
      if (codec == nullptr) return refused("libav cannot decode this codec on it");
      Result<std::unique_ptr<CudaSurfaces>> surfaces = CudaSurfaces::create(*libav_, options.decoder);
      if (!surfaces.ok()) return refused(surfaces.status().message());
      surfaces_ = std::move(*surfaces);
    }
    const EncodedFile limited{{}, name_, limits};
    if (parameters.width > 0 && parameters.height > 0) {
      ACUITY_TRY(check_size(limited, parameters.width, parameters.height));
    }
    decoder_ = libav_->avcodec_alloc_context3(codec);
    if (decoder_ == nullptr || libav_->avcodec_parameters_to_context(decoder_, stream_->codecpar) < 0) {
      return out_of_memory();
    }
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    decoder_->thread_count = std::clamp(cores, 1, kMostThreads);
    decoder_->max_pixels = limits.maximum_pixels;
    decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER;
    decoder_->opaque = &complaints_;
    decoder_->pkt_timebase = stream_->time_base;
    if (surfaces_) ACUITY_TRY(surfaces_->attach(*decoder_));
    if (const int error = libav_->avcodec_open2(decoder_, codec, nullptr); error < 0) {
      // A thread that could not be started is "try again".
      if (error == AVERROR(ENOMEM) || error == AVERROR(EAGAIN)) return out_of_memory();
      return input(
          fmt::format("contains {} that cannot be decoded ({}); convert it first", codec->long_name, text_of(error)));
    }
    return {};
  }

  // What the samples of a frame mean.
  struct Meaning {
    AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
    AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
    AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
    AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  };
  Meaning meaning_of_frame() const {
    return {decoded_->color_range, decoded_->colorspace, decoded_->color_primaries, decoded_->color_trc};
  }

  // What the frame states otherwise than the first did: all are read by the word of the first, and where streams were
  // joined that gives other colours.
  std::string changed_meaning() const {
    const Meaning now = meaning_of_frame();
    const auto changed = [](auto before, auto after, auto unstated) {
      return before != after && before != unstated && after != unstated;
    };
    if (changed(first_.range, now.range, AVCOL_RANGE_UNSPECIFIED)) return "range";
    if (changed(first_.matrix, now.matrix, AVCOL_SPC_UNSPECIFIED)) return "matrix";
    if (changed(first_.primaries, now.primaries, AVCOL_PRI_UNSPECIFIED)) return "primaries";
    if (changed(first_.transfer, now.transfer, AVCOL_TRC_UNSPECIFIED)) return "transfer function";
    return "";
  }

  // The next frame into decoded_; false at the end.
  Result<bool> receive() {
    for (;;) {
      const int received = libav_->avcodec_receive_frame(decoder_, decoded_);
      if (received == AVERROR(EAGAIN)) {
        ACUITY_TRY(send());
        continue;
      }
      if (received < 0 && received != AVERROR_EOF) return failed(received);
      if (complaints_.is_of_memory()) return out_of_memory();
      if (std::string heard = complaint_or(""); !heard.empty()) return damaged(heard);
      if (received == AVERROR_EOF) {
        const std::string cut_off = container_complaints_.first();
        return cut_off.empty() ? Result<bool>(false) : damaged(cut_off);
      }
      if (decoded_->decode_error_flags != 0 || (decoded_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
        return damaged("the decoder replaced missing data");
      }
      if (surfaces_ && !is_surface()) return refused("it gave a frame that is not on the device");
      ++received_;
      return true;
    }
  }

  Status failed(int error) {
    if (error == AVERROR(ENOMEM) || complaints_.is_of_memory()) return out_of_memory();
    return damaged(complaint_or(text_of(error)));
  }

  // Whether a packet is of use. Before the first key frame nothing can be decoded. Where that is none that forgets what
  // was before, nor can frames that come after it and are shown before it; decoders of other codecs know them.
  bool is_wanted() {
    if (packet_->stream_index != stream_->index) return false;
    if (!has_key_frame_ && (packet_->flags & AV_PKT_FLAG_KEY) != 0) {
      has_key_frame_ = true;
      if (decoder_->codec_id == AV_CODEC_ID_H264 && !begins_anew(*packet_)) {
        first_shown_ = packet_->pts;
        complaints_.ignore("mmco: unref short failure");  // of frames before the beginning; it changes no pixel
      }
      return true;
    }
    const bool leads = packet_->pts != AV_NOPTS_VALUE && first_shown_ && packet_->pts < *first_shown_;
    if (has_key_frame_ && !leads) return true;
    ++left_out_;
    return false;
  }

  // The next packet to the decoder, or word of the end.
  Status send() {
    int error = 0;
    do {
      libav_->av_packet_unref(packet_);
      error = libav_->av_read_frame(container_, packet_);
    } while (error == 0 && !is_wanted());
    if (std::ferror(file_.get()) != 0)
      return input("could not be read to its end; check the disk or copy the file again");
    if (error < 0 && error != AVERROR_EOF) return failed(error);
    if (error == 0 && (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) return damaged("part of a packet is missing");
    const int sent = libav_->avcodec_send_packet(decoder_, error == 0 ? packet_ : nullptr);
    libav_->av_packet_unref(packet_);
    if (sent < 0 && sent != AVERROR_EOF) return failed(sent);
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
    pixel_format_ = stored_format();
    first_ = meaning_of_frame();
    format_.container = fmt::format("{}, {}", container_->iformat->long_name, decoder_->codec->long_name);
    format_.width = shown_width();
    format_.height = shown_height();
    const AVRational rate = libav_->av_guess_frame_rate(container_, stream_, nullptr);
    const bool pictures = std::string_view(container_->iformat->name).ends_with("_pipe");  // which have no rate
    if (!pictures && rate.num > 0 && rate.den > 0) format_.rate = {rate.num, rate.den};
    if (stream_->nb_frames > 0) format_.frames = stream_->nb_frames;
    if (stream_->duration > 0) {
      format_.seconds = static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
    } else if (container_->duration > 0) {
      format_.seconds = static_cast<double>(container_->duration) / AV_TIME_BASE;
    }
    const double average = av_q2d(stream_->avg_frame_rate), base = av_q2d(stream_->r_frame_rate);
    if (average > 0 && base > 0 && std::abs(average - base) > 1e-3 * base) {
      format_.found.push_back(fmt::format("variable frame rate, {:.3f} frames per second on average", average));
    }
    format_.interlaced = decoded_->interlaced_frame != 0;
    if (*format_.interlaced) format_.state("interlaced: both fields are scored together, as whole frames");
    if (left_out_ > 0 || first_shown_) {
      format_.warnings.push_back(
          fmt::format("'{}' begins in the middle of a group of pictures: it is read from its first key frame, so its "
                      "frames may need to be shifted (--offset)",
                      name_));
    }
    SampleFacts said;
    const auto pixels = static_cast<AVPixelFormat>(decoded_->format);
    Result<PixelKind> kind =
        describe_pixels(*libav_, *decoded_, surfaces_ ? decoder_->sw_pix_fmt : pixels, name_, format_, said);
    if (!kind.ok()) return kind.status();
    is_rgb_ = *kind == PixelKind::rgb;
    if (!said.full_range && is_limited_by_rule(decoder_->codec_id)) said.full_range = false;
    if (!is_rgb_) ACUITY_TRY(complete_format(format_, said, options.limits, name_));
    if (surfaces_) {
      if (is_rgb_) return refused("its frames are RGB");
      format_.device = surfaces_->device();
      format_.state(fmt::format("decoded by the decoder of {}; frames stay on the device", format_.device));
    }
    stored_ = format_;
    turn();
    if (surfaces_ && turn_ != 1) return refused("its display matrix turns it, which is done on the CPU");
    const AVRational aspect = libav_->av_guess_sample_aspect_ratio(container_, stream_, decoded_);
    state_pixel_aspect(format_, swaps_sides(turn_) ? aspect.den : aspect.num,
                       swaps_sides(turn_) ? aspect.num : aspect.den);
    return {};
  }

  // As players show it. The container's word counts before that of the stream inside.
  void turn() {
    const auto* matrix =
        reinterpret_cast<const int32_t*>(libav_->av_stream_get_side_data(stream_, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
    if (matrix == nullptr) {
      const AVFrameSideData* data = libav_->av_frame_get_side_data(decoded_, AV_FRAME_DATA_DISPLAYMATRIX);
      if (data != nullptr) matrix = reinterpret_cast<const int32_t*>(data->data);
    }
    const int orientation = matrix == nullptr ? 1 : orientation_of_matrix(matrix);
    if (orientation == 1) return;
    if (orientation == 0) {
      format_.warnings.push_back(fmt::format(
          "'{}' asks players to turn it by an angle other than 90, 180 or 270 degrees, which is not done", name_));
      return;
    }
    turn_ = orientation;
    turn_format(format_, turn_);
    format_.state(fmt::format("{}, as its display matrix states", describe_turn(turn_)));
    if (!is_rgb_ && format_.subsampling != stored_.subsampling) {
      format_.found.emplace_back("4:2:2 brought to 4:4:4, because turning moves the subsampling from rows to columns");
    }
  }

  const Libav* libav_ = nullptr;
  File file_;
  std::string name_;
  AVIOContext* reader_ = nullptr;
  AVFormatContext* container_ = nullptr;
  AVStream* stream_ = nullptr;
  std::unique_ptr<CudaSurfaces> surfaces_;  // where the GPU decodes
  AVCodecContext* decoder_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* decoded_ = nullptr;
  Complaints complaints_, container_complaints_;
  VideoFormat stored_;  // before it is turned
  int turn_ = 1;        // an EXIF orientation
  int pixel_format_ = 0;
  Meaning first_;
  bool is_rgb_ = false;
  bool has_key_frame_ = false;
  std::optional<int64_t> first_shown_;  // when the first key frame is, where frames after it may refer to others before
  int64_t left_out_ = 0;                // packets
  bool waiting_ = false;                // decoded_ holds a frame nobody has had
  int64_t received_ = 0;
  int64_t index_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameStream>> open_libav(File file, std::string_view name, const VideoOptions& options) {
  auto opened = std::make_unique<LibavStream>();
  ACUITY_TRY(opened->open(std::move(file), name, options));
  return std::unique_ptr<FrameStream>(std::move(opened));
}

bool is_known_to_libav(Bytes beginning, bool surely) {
  const Result<const Libav*> functions = libav();
  if (!functions.ok()) return false;
  std::vector<unsigned char> bytes(beginning.begin(), beginning.end());
  bytes.resize(beginning.size() + AVPROBE_PADDING_SIZE);
  AVProbeData probe{};
  probe.filename = "";
  probe.buf = bytes.data();
  probe.buf_size = static_cast<int>(beginning.size());
  int score = 0;
  const AVInputFormat* format = (*functions)->av_probe_input_format3(&probe, 1, &score);
  return format != nullptr && !is_text(*format) && score >= (surely ? AVPROBE_SCORE_MAX : AVPROBE_SCORE_RETRY + 1);
}

}  // namespace acuity
