// SPDX-License-Identifier: BSD-2-Clause-Patent
// Draws YUV4MPEG2 streams for tests.
#ifndef ACUITY_TESTS_SUPPORT_Y4M_H
#define ACUITY_TESTS_SUPPORT_Y4M_H

#include <string>

#include "media/video.h"

namespace acuity::test {

struct Drawing {
  int width = 64;
  int height = 48;
  int frames = 3;
  std::string tag = "420jpeg";
  std::string rate = "25:1";
  int damage = 0;          // how far samples are off, at most
  std::string extra = {};  // more header fields, with a blank before each
};

inline Subsampling subsampling_of(const std::string& tag) {
  return tag.starts_with("420")   ? Subsampling::yuv420
         : tag.starts_with("422") ? Subsampling::yuv422
         : tag.starts_with("444") ? Subsampling::yuv444
                                  : Subsampling::grey;
}

/// The samples of all frames, in one string a frame.
inline std::string draw_frame(const Drawing& drawing, int frame, int depth) {
  VideoFormat format;
  format.width = drawing.width;
  format.height = drawing.height;
  format.subsampling = subsampling_of(drawing.tag);
  format.depth = depth;
  const size_t count = format.frame_bytes() / (depth > 8 ? 2 : 1);
  std::string text;
  unsigned noise = 12345;
  for (size_t i = 0; i < count; ++i) {
    noise = noise * 1664525u + 1013904223u;
    const int off =
        drawing.damage == 0 ? 0 : static_cast<int>((noise >> 16) % static_cast<unsigned>(drawing.damage + 1));
    const int place = static_cast<int>(i) + 7 * frame;
    const int value = (40 + place % drawing.width + place / drawing.width + off) % 200 + 16;
    const int scaled = (value << (depth - 8)) + (depth > 8 ? place % 3 : 0);
    text += static_cast<char>(scaled & 255);
    if (depth > 8) text += static_cast<char>(scaled >> 8);
  }
  return text;
}

inline std::string draw_y4m(const Drawing& drawing) {
  const size_t digits = drawing.tag.find(drawing.tag.starts_with("mono") ? "o" : "p", 3);
  int depth = 8;
  if (digits != std::string::npos && digits + 1 < drawing.tag.size() && isdigit(drawing.tag[digits + 1]) != 0) {
    depth = std::stoi(drawing.tag.substr(digits + 1));
  }
  std::string text = "YUV4MPEG2 W" + std::to_string(drawing.width) + " H" + std::to_string(drawing.height) + " F" +
                     drawing.rate + " Ip A1:1 C" + drawing.tag + drawing.extra + "\n";
  for (int i = 0; i < drawing.frames; ++i) text += "FRAME\n" + draw_frame(drawing, i, depth);
  return text;
}

}  // namespace acuity::test

#endif
