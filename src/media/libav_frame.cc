// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/libav_frame.h"

#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "media/planes.h"

namespace acuity {
namespace {

// Samples of one component as libav describes it, written without gaps; above 8 bits in two bytes.
void copy_component(const AVPixFmtDescriptor& pixels, const AVFrame& frame, int component, int width, int height,
                    uint8_t* out) {
  const AVComponentDescriptor& place = pixels.comp[component];
  const bool wide = place.depth > 8;
  const bool two_bytes = place.depth + place.shift > 8;
  const bool swapped = two_bytes && (pixels.flags & AV_PIX_FMT_FLAG_BE) != 0;
  const auto row_bytes = static_cast<size_t>(width) * (wide ? 2 : 1);
  const bool as_it_is = place.shift == 0 && place.step == (wide ? 2 : 1) && wide == two_bytes && !swapped;
  const unsigned mask = (1u << place.depth) - 1;
  for (int y = 0; y < height; ++y, out += row_bytes) {
    const uint8_t* in =
        frame.data[place.plane] + static_cast<ptrdiff_t>(y) * frame.linesize[place.plane] + place.offset;
    if (as_it_is) {
      std::memcpy(out, in, row_bytes);
      continue;
    }
    for (int x = 0; x < width; ++x, in += place.step) {
      unsigned sample = in[0];
      if (two_bytes) sample = swapped ? in[0] << 8 | in[1] : in[0] | in[1] << 8;
      sample = (sample >> place.shift) & mask;
      if (wide) {
        out[2 * x] = static_cast<uint8_t>(sample & 255);
        out[2 * x + 1] = static_cast<uint8_t>(sample >> 8);
      } else {
        out[x] = static_cast<uint8_t>(sample);
      }
    }
  }
}

std::optional<Subsampling> subsampling_of(const AVPixFmtDescriptor& pixels) {
  if (pixels.nb_components < 3) return Subsampling::grey;
  const int across = pixels.log2_chroma_w, down = pixels.log2_chroma_h;
  if (across == 1 && down == 1) return Subsampling::yuv420;
  if (across == 1 && down == 0) return Subsampling::yuv422;
  if (across == 0 && down == 0) return Subsampling::yuv444;
  return {};
}

// Y'CbCr that is none of these is refused: another equation would give another picture.
Status read_matrix(int matrix, std::string_view name, SampleFacts& said) {
  if (matrix == AVCOL_SPC_UNSPECIFIED) return {};
  said.matrix = matrix_of(matrix);
  if (said.matrix) return {};
  return Status(StatusCode::input, fmt::format("'{}' has colour matrix {} of H.273, which is not supported; convert it "
                                               "to BT.709 or BT.2020 with non-constant luminance",
                                               name, matrix));
}

void read_siting(int siting, std::string_view name, VideoFormat& format, SampleFacts& said) {
  const bool other = siting == AVCHROMA_LOC_TOP || siting == AVCHROMA_LOC_BOTTOMLEFT || siting == AVCHROMA_LOC_BOTTOM;
  if (other && format.subsampling == Subsampling::yuv420) {
    format.warnings.push_back(
        fmt::format("'{}' states that its chroma is sited {}, which is not supported: it is read as if nothing were "
                    "stated; --siting chooses the nearest",
                    name,
                    siting == AVCHROMA_LOC_TOP          ? "top"
                    : siting == AVCHROMA_LOC_BOTTOMLEFT ? "bottom-left"
                                                        : "bottom"));
  }
  if (siting == AVCHROMA_LOC_LEFT) said.siting = Siting::left;
  if (siting == AVCHROMA_LOC_CENTER) said.siting = Siting::centre;
  if (siting == AVCHROMA_LOC_TOPLEFT) said.siting = Siting::top_left;
}

Status describe_rgb(const AVFrame& frame, std::string_view name, VideoFormat& format) {
  ACUITY_TRY_ASSIGN(format.colour, colour_from_cicp(frame.color_primaries, frame.color_trc, 0,
                                                    frame.color_range != AVCOL_RANGE_MPEG, name));
  format.rgb = true;
  format.full_range = true;
  format.says.primaries = frame.color_primaries != AVCOL_PRI_UNSPECIFIED;
  format.says.transfer = frame.color_trc != AVCOL_TRC_UNSPECIFIED;
  format.found.push_back(fmt::format("{}-bit RGB", format.depth));
  return {};
}

}  // namespace

Result<PixelKind> describe_pixels(const Libav& libav, const AVFrame& frame, AVPixelFormat pixel_format,
                                  std::string_view name, VideoFormat& format, SampleFacts& said) {
  const AVPixFmtDescriptor* pixels = libav.av_pix_fmt_desc_get(pixel_format);
  const auto refuse = [&] {
    return Status(
        StatusCode::input,
        fmt::format("'{}' has frames of pixel format {}, which is not supported; convert it to 4:2:0, 4:2:2, 4:4:4, "
                    "grey or RGB of 8 to 16 bits",
                    name, pixels == nullptr ? "unknown" : pixels->name));
  };
  constexpr uint64_t kUnreadable = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                   AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  if (pixels == nullptr || (pixels->flags & kUnreadable) != 0) return refuse();
  if (std::string_view(pixels->name).starts_with("xyz")) return refuse();  // of cinemas; not all versions have a flag
  format.depth = pixels->comp[0].depth;
  if (format.depth < 8 || format.depth > 16) return refuse();
  for (int c = 0; c < pixels->nb_components; ++c) {
    if (pixels->comp[c].depth != format.depth) return refuse();
  }
  if ((pixels->flags & AV_PIX_FMT_FLAG_ALPHA) != 0) {
    format.warnings.push_back(fmt::format("'{}' has transparency, which is ignored", name));
  }
  if ((pixels->flags & AV_PIX_FMT_FLAG_RGB) != 0) {
    ACUITY_TRY(describe_rgb(frame, name, format));
    return PixelKind::rgb;
  }
  const std::optional<Subsampling> subsampling = subsampling_of(*pixels);
  if (!subsampling) return refuse();
  format.subsampling = *subsampling;
  const bool jpeg = std::string_view(pixels->name).starts_with("yuvj");
  if (frame.color_range != AVCOL_RANGE_UNSPECIFIED || jpeg)
    said.full_range = jpeg || frame.color_range == AVCOL_RANGE_JPEG;
  if (format.subsampling != Subsampling::grey) ACUITY_TRY(read_matrix(frame.colorspace, name, said));
  if (frame.color_primaries != AVCOL_PRI_UNSPECIFIED) said.primaries = frame.color_primaries;
  if (frame.color_trc != AVCOL_TRC_UNSPECIFIED) said.transfer = frame.color_trc;
  read_siting(frame.chroma_location, name, format, said);
  return PixelKind::yuv;
}

void copy_planes(const Libav& libav, const AVFrame& frame, const VideoFormat& format, SampleBytes& samples) {
  const AVPixFmtDescriptor& pixels = *libav.av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  samples.resize(format.frame_bytes());
  uint8_t* out = samples.data();
  for (int c = 0; c < (format.subsampling == Subsampling::grey ? 1 : 3); ++c) {
    const int width = c == 0 ? format.width : format.chroma_width();
    const int height = c == 0 ? format.height : format.chroma_height();
    copy_component(pixels, frame, c, width, height, out);
    out += static_cast<size_t>(width) * static_cast<size_t>(height) * (format.depth > 8 ? 2 : 1);
  }
}

Result<std::shared_ptr<Picture>> copy_rgb(const Libav& libav, const AVFrame& frame, const VideoFormat& format) {
  const AVPixFmtDescriptor& pixels = *libav.av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const size_t sample = format.depth > 8 ? 2 : 1;
  const size_t plane = static_cast<size_t>(format.width) * static_cast<size_t>(format.height) * sample;
  auto picture = std::make_shared<Picture>();
  picture->pixels = std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[3 * plane]);
  if (picture->pixels == nullptr) return Status(StatusCode::out_of_memory, "out of memory for a frame");
  ImageView& view = picture->view;
  view.width = format.width;
  view.height = format.height;
  view.type = format.depth > 8 ? SampleType::u16 : SampleType::u8;
  view.depth = format.depth;
  view.channels = Channels::rgb;
  view.pixel_stride = static_cast<ptrdiff_t>(sample);
  view.row_stride = static_cast<ptrdiff_t>(sample) * format.width;
  view.colour = format.colour;
  for (size_t c = 0; c < 3; ++c) {
    std::byte* out = picture->pixels.get() + c * plane;
    copy_component(pixels, frame, static_cast<int>(c), format.width, format.height, reinterpret_cast<uint8_t*>(out));
    view.planes[c] = out;
  }
  return picture;
}

}  // namespace acuity
