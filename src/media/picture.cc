// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/picture.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include <avif/avif.h>
#include <fmt/format.h>

#include "media/decoder.h"

namespace acuity {
namespace {

using namespace std::string_view_literals;

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
bool is_exr(Bytes file) { return begins_with(file, "\x76\x2f\x31\x01"); }

struct Format {
  const char* name;
  bool (*matches)(Bytes file);
  Result<Picture> (*decode)(const Source& source);
};

constexpr Format kFormats[] = {
    {"PNG", is_png, decode_png},    {"JPEG", is_jpeg, decode_jpeg},  {"WebP", is_webp, decode_webp},
    {"AVIF", is_avif, decode_avif}, {"JPEG XL", is_jxl, decode_jxl}, {"TIFF", is_tiff, decode_tiff},
    {"PNM", is_pnm, decode_pnm},    {"PFM", is_pfm, decode_pfm},     {"OpenEXR", is_exr, decode_exr},
};

Status unrecognised(const Source& source) {
  const Bytes start = source.bytes.first(std::min<size_t>(source.bytes.size(), 8));
  std::string text;
  for (const uint8_t byte : start) text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '.';
  std::string names;
  for (const Format& format : kFormats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return Status(StatusCode::input,
                fmt::format("'{}' is not a picture in a known format: it begins with {:02x} (\"{}\"); {} are read{}",
                            source.name, fmt::join(start, " "), text, names,
                            text.starts_with("YUV4MPEG") ? "; to score it as video, add --sync index" : ""));
}

Status too_many_bytes(std::string_view name, int64_t limit) {
  return Status(StatusCode::too_big,
                fmt::format("'{}' is larger than the limit of {} bytes for a file; raise the limit or "
                            "use a smaller file",
                            name, limit));
}

struct CloseFile {
  // Standard input is not ours to close.
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

Status unreadable(std::string_view name, int error) {
  const std::string reason = error == ENOENT   ? "there is no such file"
                             : error == EISDIR ? "it is a directory, not a picture"
                                               : std::generic_category().message(error);
  return Status(StatusCode::input, fmt::format("cannot read '{}': {}; give the path of a picture file", name, reason));
}

// Pipes and standard input neither tell their size nor let themselves be rewound, so the end is where reading stops.
Result<std::vector<uint8_t>> read_bytes(const std::string& path, std::string_view name, int64_t limit) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(name, errno);
  int64_t next = int64_t{1} << 16;
  std::error_code unknown;
  const uintmax_t size = path == "-" ? 0 : std::filesystem::file_size(path, unknown);
  if (!unknown && size > 0) {
    if (size > static_cast<uintmax_t>(limit)) return too_many_bytes(name, limit);
    next = static_cast<int64_t>(size) + 1;  // one more, to see the end
  }
  std::vector<uint8_t> bytes;
  for (;;) {
    const size_t have = bytes.size();
    bytes.resize(have + static_cast<size_t>(next));
    const size_t got = std::fread(bytes.data() + have, 1, static_cast<size_t>(next), file.get());
    const int error = errno;
    bytes.resize(have + got);
    if (std::ferror(file.get()) != 0) return unreadable(name, error);
    const auto total = static_cast<int64_t>(bytes.size());
    if (total > limit) return too_many_bytes(name, limit);
    if (got < static_cast<size_t>(next)) return bytes;
    next = std::min(total, limit - total + 1);
  }
}

Status out_of_memory(std::string_view name) {
  return Status(StatusCode::internal, fmt::format("out of memory while reading '{}'", name));
}

}  // namespace

bool begins_a_picture(Bytes beginning) {
  return std::any_of(std::begin(kFormats), std::end(kFormats),
                     [&](const Format& format) { return format.matches(beginning); });
}

Status damaged(const Source& source, std::string_view format, std::string_view what) {
  return Status(StatusCode::input,
                fmt::format("'{}' is a damaged or truncated {} file: {}; replace it with an intact copy", source.name,
                            format, what));
}

Status unsupported(const Source& source, std::string_view what, std::string_view advice) {
  return Status(StatusCode::input, fmt::format("'{}' {}; {}", source.name, what, advice));
}

Result<Picture> decode_picture(std::span<const uint8_t> file, std::string_view name, const PictureLimits& limits) {
  const Source source{file, name, limits};
  try {
    if (file.empty()) {
      return Status(StatusCode::input, fmt::format("'{}' is empty; a picture file was expected", name));
    }
    if (static_cast<int64_t>(file.size()) > limits.maximum_file_bytes) {
      return too_many_bytes(name, limits.maximum_file_bytes);
    }
    for (const Format& format : kFormats) {
      if (format.matches(file)) return format.decode(source);
    }
    return unrecognised(source);
  } catch (const std::bad_alloc&) {
    return out_of_memory(name);
  } catch (const std::exception& error) {
    return Status(StatusCode::internal, fmt::format("reading '{}' failed: {}", name, error.what()));
  }
}

Result<Picture> read_picture(const std::string& path, const PictureLimits& limits) {
  const std::string name = path == "-" ? "standard input" : path;
  try {
    const Result<std::vector<uint8_t>> bytes = read_bytes(path, name, limits.maximum_file_bytes);
    if (!bytes.ok()) return bytes.status();
    return decode_picture(*bytes, name, limits);
  } catch (const std::bad_alloc&) {
    return out_of_memory(name);
  }
}

}  // namespace acuity
