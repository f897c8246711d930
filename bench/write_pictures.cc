// SPDX-License-Identifier: BSD-2-Clause-Patent
// Writes the pictures of the benchmarks as PPM, for timing other programs on the very same pixels:
// write_pictures SIDE REFERENCE.ppm DISTORTED.ppm
#include <cstdio>
#include <cstdlib>

#include "draw.h"

namespace {

bool write(const acuity::bench::Drawing& drawing, const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  std::fprintf(file, "P6\n%d %d\n255\n", drawing.side, drawing.side);
  const bool written = std::fwrite(drawing.pixels.data(), 1, drawing.pixels.size(), file) == drawing.pixels.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int count, char** words) {
  const int side = count == 4 ? std::atoi(words[1]) : 0;
  if (side < 1 || side > 16384) {
    std::fprintf(stderr, "usage: write_pictures SIDE REFERENCE.ppm DISTORTED.ppm\n");
    return 2;
  }
  for (int i = 0; i < 2; ++i) {
    if (!write(acuity::bench::draw(side, i == 1), words[2 + i])) {
      std::fprintf(stderr, "write_pictures: %s could not be written\n", words[2 + i]);
      return 1;
    }
  }
  return 0;
}
