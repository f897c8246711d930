// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/y4m.h"

#include <charconv>

#include <fmt/format.h>

#include "media/video_streams.h"

namespace acuity {
namespace {

Status bad_header(std::string_view name, const std::string& what) {
  return Status(StatusCode::input,
                fmt::format("'{}' has a damaged YUV4MPEG2 header: {}; create the stream again", name, what));
}

bool whole(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

bool ratio(std::string_view text, FrameRate& rate) {
  const size_t colon = text.find(':');
  return colon != std::string_view::npos && whole(text.substr(0, colon), rate.numerator) &&
         whole(text.substr(colon + 1), rate.denominator) && rate.numerator < int64_t{1} << 32 &&
         rate.denominator < int64_t{1} << 32;
}

// The part of a tag after what it begins with, or nothing.
bool cut(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

Status read_colour_tag(std::string_view tag, std::string_view name, VideoFormat& format, SampleFacts& said) {
  const std::string_view whole_tag = tag;
  const auto refuse = [&] {
    return Status(StatusCode::input,
                  fmt::format("'{}' has samples of kind C{}, which is not supported; convert it to 4:2:0, 4:2:2, 4:4:4 "
                              "or mono of 8 to 16 bits",
                              name, whole_tag));
  };
  if (cut(tag, "mono")) {
    format.subsampling = Subsampling::grey;
  } else if (cut(tag, "420")) {
    format.subsampling = Subsampling::yuv420;
  } else if (cut(tag, "422")) {
    format.subsampling = Subsampling::yuv422;
  } else if (cut(tag, "444")) {
    format.subsampling = Subsampling::yuv444;
  } else {
    return refuse();
  }
  if (tag.empty()) {
    if (whole_tag == "420") said.siting = Siting::centre;  // the same as 420jpeg, by the format's own definition
    return {};
  }
  if (format.subsampling == Subsampling::yuv420) {
    if (tag == "jpeg") said.siting = Siting::centre;
    if (tag == "mpeg2") said.siting = Siting::left;
    if (tag == "paldv") {
      said.siting = Siting::top_left;
      format.assumed.emplace_back("both colour planes sited top-left (PAL DV has them on alternate lines)");
    }
    if (said.siting) return {};
  }
  if (format.subsampling != Subsampling::grey && !cut(tag, "p")) return refuse();
  int64_t depth = 0;
  if (!whole(tag, depth) || depth < 8 || depth > 16) return refuse();
  format.depth = static_cast<int>(depth);
  return {};
}

Status read_interlacing(std::string_view tag, std::string_view name, VideoFormat& format) {
  if (tag == "p") {
    format.interlaced = false;
    format.found.emplace_back("progressive");
  } else if (tag == "?") {
    format.assumed.emplace_back("progressive");
  } else if (tag == "t" || tag == "b" || tag == "m") {
    format.interlaced = true;
    format.state("interlaced: both fields are scored together, as whole frames");
  } else {
    return bad_header(name, fmt::format("interlacing '{}' is none of p, t, b, m and ?", tag));
  }
  return {};
}

}  // namespace

Status read_y4m_header(std::string_view line, std::string_view name, VideoFormat& format, SampleFacts& said) {
  format.container = kY4mMagic;
  bool kind_is_told = false;
  int64_t width = 0;
  int64_t height = 0;
  line.remove_prefix(kY4mMagic.size());
  while (!line.empty()) {
    const size_t blank = line.find(' ');
    std::string_view word = line.substr(0, blank);
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
    if (word.empty()) continue;
    const char letter = word.front();
    const std::string_view value = word.substr(1);
    if (letter == 'W' && !whole(value, width)) return bad_header(name, fmt::format("width '{}'", value));
    if (letter == 'H' && !whole(value, height)) return bad_header(name, fmt::format("height '{}'", value));
    if (letter == 'F' && !ratio(value, format.rate)) return bad_header(name, fmt::format("frame rate '{}'", value));
    if (letter == 'A') {
      FrameRate aspect;
      if (!ratio(value, aspect)) return bad_header(name, fmt::format("pixel aspect '{}'", value));
      state_pixel_aspect(format, aspect.numerator, aspect.denominator);
    }
    if (letter == 'I') {
      if (Status read = read_interlacing(value, name, format); !read.ok()) return read;
    }
    if (letter == 'C') {
      kind_is_told = true;
      if (Status read = read_colour_tag(value, name, format, said); !read.ok()) return read;
    }
    if (word == "XCOLORRANGE=FULL") said.full_range = true;
    if (word == "XCOLORRANGE=LIMITED") said.full_range = false;
  }
  if (width < 1 || height < 1 || width > 1 << 20 || height > 1 << 20) {
    return bad_header(name, fmt::format("its size is {} x {}", width, height));
  }
  format.width = static_cast<int>(width);
  format.height = static_cast<int>(height);
  if (format.rate.numerator == 0) format.rate = {};  // 0:0 is how the format says "not known"
  if (!kind_is_told) {
    said.siting = Siting::centre;
    format.assumed.emplace_back(
        "8-bit 4:2:0 with chroma sited in the centre (C420jpeg, what a header without C means)");
  }
  return {};
}

}  // namespace acuity
