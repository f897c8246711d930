// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels that show what the dialect does on a device, for kernels_check.cc.
#include "lang/dialect.h"

#include "device/pixels/pixels.h"

#if KERNEL_HERE(copy_pixels)
// What pixel_at finds from first_row on: three planes.
KERNEL(copy_pixels, 32, 8, samples_in samples, f32_in table, f32_out planes, int format, int table_last,
       int plane_stride, int first_row, int width, int height) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < height) {
    const int i = y * width + x;
    const Pixel pixel = pixel_at(samples, table, format, table_last, plane_stride, i + first_row * width);
    at(planes, i) = pixel.red;
    at(planes, width * height + i) = pixel.green;
    at(planes, 2 * width * height + i) = pixel.blue;
  }
}
#endif
