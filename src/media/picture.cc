// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/picture.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <avif/avif.h>
#include <fmt/format.h>

#include "base/guard.h"
#include "base/try.h"
#include "media/decoder.h"
#include "media/video.h"
#include "media/meaning_text.h"
#include "media/file.h"
#include "media/video_streams.h"

namespace acuity {
namespace {

using namespace std::string_view_literals;

// What files of raw video are called.
constexpr std::string_view kRawEndings[] = {".yuv", ".nv12", ".p010", ".raw"};

bool begins_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

bool is_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

bool is_png(Bytes file) { return begins_with(file, "\x89PNG\r\n\x1a\n"); }
bool is_jpeg(Bytes file) { return begins_with(file, "\xff\xd8\xff"); }
bool is_webp(Bytes file) {
  return begins_with(file, "RIFF") && file.size() >= 12 && begins_with(file.subspan(8), "WEBP");
}
bool is_avif(Bytes file) {
  const avifROData data{file.data(), file.size()};
  return avifPeekCompatibleFileType(&data) != 0;
}
bool is_jxl(Bytes file) { return begins_with(file, "\xff\x0a") || begins_with(file, "\0\0\0\x0cJXL \r\n\x87\n"sv); }
bool is_tiff(Bytes file) {
  // The last two are BigTIFF.
  return begins_with(file, "II*\0"sv) || begins_with(file, "MM\0*"sv) || begins_with(file, "II+\0"sv) ||
         begins_with(file, "MM\0+"sv);
}
bool is_pnm(Bytes file) {
  return file.size() >= 3 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7' &&
         (is_space(file[2]) || file[2] == '#');
}
bool is_pfm(Bytes file) {
  return (begins_with(file, "PF") || begins_with(file, "Pf")) && file.size() >= 3 && is_space(file[2]);
}
bool is_gif(Bytes file) { return begins_with(file, "GIF87a") || begins_with(file, "GIF89a"); }
bool is_exr(Bytes file) { return begins_with(file, "\x76\x2f\x31\x01"); }

// A format that holds one picture.
template <Result<Picture> (*decode)(const EncodedFile& encoded)>
OpenedFrames open_one(const EncodedFile& encoded) {
  class One : public PictureFrames {
   public:
    explicit One(const EncodedFile& encoded) : encoded_(encoded) {}
    Result<Picture> read(int64_t) override { return decode(encoded_); }

   private:
    EncodedFile encoded_;
  };
  return std::unique_ptr<PictureFrames>(std::make_unique<One>(encoded));
}

struct Format {
  const char* name;
  bool (*matches)(Bytes beginning);
  OpenedFrames (*open)(const EncodedFile& encoded);
  bool several = false;  // pictures may be in a file
};

constexpr Format kFormats[] = {
    {"PNG", is_png, open_png, true},
    {"JPEG", is_jpeg, open_one<decode_jpeg>},
    {"WebP", is_webp, open_webp, true},
    {"AVIF", is_avif, open_avif, true},
    {"JPEG XL", is_jxl, open_jxl, true},
    {"TIFF", is_tiff, open_tiff, true},
    {"PNM", is_pnm, open_one<decode_pnm>},
    {"PFM", is_pfm, open_one<decode_pfm>},
    {"GIF", is_gif, open_gif, true},
    {"OpenEXR", is_exr, open_one<decode_exr>},
    {"HEIC", is_heic, open_one<decode_heic>},
    {"JPEG 2000", is_jpeg2000, open_one<decode_jpeg2000>},
    {"BMP", is_bmp, open_one<decode_bmp>},
    {"TGA", is_tga, open_one<decode_tga>},  // last, for it has no mark at its beginning
};

const Format* find_format(Bytes beginning) {
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [&](const Format& format) { return format.matches(beginning); });
  return found == std::end(kFormats) ? nullptr : found;
}

Result<Picture> choose(PictureFrames& frames, const EncodedFile& encoded, std::optional<int64_t> frame) {
  const int64_t count = frames.count();
  if (count > 1 && !frame) {
    return unsupported(encoded, fmt::format("holds {} pictures", count),
                       fmt::format("choose one with --frame N, from 0 to {}", count - 1));
  }
  const int64_t chosen = frame.value_or(0);
  if (chosen < 0 || chosen >= count) {
    return unsupported(encoded,
                       fmt::format("has no picture {}: it holds {}, counted from 0", chosen,
                                   count == 1 ? "one" : std::to_string(count)),
                       count == 1 ? "leave out --frame" : "choose another with --frame");
  }
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, read_frame(frames, chosen, encoded.name));
  if (count > 1) picture.found.push_back(fmt::format("picture {} of {}, counted from 0", chosen, count));
  return picture;
}

Result<Picture> decode(const EncodedFile& encoded, std::optional<int64_t> frame) {
  std::unique_ptr<PictureFrames> frames;
  ACUITY_TRY_ASSIGN(frames, open_frames(encoded));
  return choose(*frames, encoded, frame);
}

Status out_of_memory(std::string_view name) {
  return Status(StatusCode::out_of_memory, fmt::format("out of memory while reading '{}'", name));
}

}  // namespace

bool begins_a_picture(Bytes beginning) { return find_format(beginning) != nullptr; }

std::string_view picture_format(Bytes beginning) {
  const Format* format = find_format(beginning);
  return format != nullptr ? format->name : "";
}

bool may_hold_several(Bytes beginning) {
  const Format* format = find_format(beginning);
  return format != nullptr && format->several;
}

Status unrecognised(Bytes beginning, std::string_view name, std::string_view raw_options) {
  const Bytes start = beginning.first(std::min<size_t>(beginning.size(), 8));
  std::string text;
  for (const uint8_t byte : start) text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '.';
  std::string names;
  for (const Format& format : kFormats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  const bool raw = std::any_of(std::begin(kRawEndings), std::end(kRawEndings),
                               [&](std::string_view ending) { return name.ends_with(ending); });
  return Status(
      StatusCode::input,
      fmt::format(
          "'{}' is not a picture or video in a known format: it begins with {:02x} (\"{}\"); {}", name,
          fmt::join(start, " "), text,
          raw ? fmt::format("for raw YUV, give {}", raw_options)
              : fmt::format("pictures may be {}, videos YUV4MPEG2 or any format of FFmpeg's libraries", names)));
}

OpenedFrames open_frames(const EncodedFile& encoded) {
  try {
    if (encoded.bytes.empty()) {
      return Status(StatusCode::input, fmt::format("'{}' is empty; a picture or video was expected", encoded.name));
    }
    const Format* format = find_format(encoded.bytes);
    return format == nullptr ? unrecognised(encoded.bytes, encoded.name, VideoOptions().raw_options)
                             : format->open(encoded);
  } catch (const std::bad_alloc&) {
    return out_of_memory(encoded.name);
  }
}

Result<Picture> read_frame(PictureFrames& frames, int64_t index, std::string_view name) {
  try {
    Result<Picture> picture = frames.read(index);
    if (!picture.ok()) return picture;
    drop_full_alpha(*picture);
    for (std::string& text : assumed_colour(picture->view.colour, picture->says_transfer, picture->says_primaries)) {
      picture->assumed.push_back(std::move(text));
    }
    return picture;
  } catch (const std::bad_alloc&) {
    return out_of_memory(name);
  } catch (const std::exception& error) {
    return Status(StatusCode::internal, fmt::format("reading '{}' failed: {}", name, error.what()));
  }
}

Status damaged(const EncodedFile& encoded, std::string_view format, std::string_view what) {
  return Status(StatusCode::input,
                fmt::format("'{}' is a damaged or truncated {} file: {}; replace it with an intact copy", encoded.name,
                            format, what));
}

Status unsupported(const EncodedFile& encoded, std::string_view what, std::string_view advice) {
  return Status(StatusCode::input, fmt::format("'{}' {}; {}", encoded.name, what, advice));
}

Result<Picture> decode_picture(std::span<const uint8_t> file, std::string_view name, const PictureLimits& limits,
                               std::optional<int64_t> frame) {
  return guarded<Result<Picture>>(
      [&]() -> Result<Picture> {
        if (static_cast<int64_t>(file.size()) > limits.maximum_file_bytes) {
          return Status(StatusCode::too_big, fmt::format("'{}' is larger than the limit of {} bytes for a file", name,
                                                         limits.maximum_file_bytes));
        }
        return decode({file, name, limits}, frame);
      },
      "decoding a picture");
}

Result<FileBytes> read_picture_file(std::FILE* file, std::string_view name, const PictureLimits& limits) {
  try {
    // What is no picture may be large, or have no end.
    const std::vector<uint8_t> beginning = peek(file);
    if (!beginning.empty() && !begins_a_picture(beginning)) {
      if (!begins_a_video(beginning)) return unrecognised(beginning, name, VideoOptions().raw_options);
      return Status(
          StatusCode::input,
          fmt::format("'{}' is a video, and a picture was expected; to score it as video, add --sync index", name));
    }
    const size_t header = is_pnm(beginning) ? pnm_header_bytes(beginning) : 0;
    return read_bytes(file, name, limits.maximum_file_bytes, header);
  } catch (const std::bad_alloc&) {
    return out_of_memory(name);
  }
}

Result<Picture> decode_encoded(const EncodedFile& encoded, std::optional<int64_t> frame) {
  return decode(encoded, frame);
}

Result<Picture> read_picture(const std::string& path, const PictureLimits& limits, std::optional<int64_t> frame) {
  return guarded<Result<Picture>>(
      [&]() -> Result<Picture> {
        const std::string name = name_of_file(path);
        File file;
        ACUITY_TRY_ASSIGN(file, open_file(path));
        FileBytes read;
        ACUITY_TRY_ASSIGN(read, read_picture_file(file.get(), name, limits));
        return decode({read.bytes, name, limits, read.memory}, frame);
      },
      "reading a picture");
}

}  // namespace acuity
