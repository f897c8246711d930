// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where zensim's kernels find things: include it after math.h. A launch is told the picture's size and the rows of a
// band; the host asks the same functions.

#define SCALES 4
#define MINIMUM_SIDE 64
#define STRIP_ROWS 32
#define RING_MARGIN 48  // rows of earlier bands that are still looked at: a strip not yet complete, and its windows
#define BESIDE 8        // columns beside a row, which mirror it

FUNCTION int mirrored_side(int side) { return max(side, MINIMUM_SIDE); }

// Of a scale, with the columns that are added.
FUNCTION int scale_width(int width, int s) {
  const int rounded = (mirrored_side(width) + 15) / 16 * 16;
  return (rounded >= 512 && (rounded & 31) == 0 ? rounded + 16 : rounded) >> s;
}
FUNCTION int scale_height(int height, int s) { return mirrored_side(height) >> s; }

// Floats from row to row, and rows of a plane.
FUNCTION int stride_of(int width, int s) { return (scale_width(width, s) + 2 * BESIDE + 7) / 8 * 8; }
FUNCTION int ring_of(int height, int band, int s) {
  const int all = scale_height(height, s);
  return band < mirrored_side(height) ? min((band >> s) + RING_MARGIN, all) : all;
}
// Floats of one plane of all scales before s. Behind the last there are 64 more, which are read and not used.
FUNCTION int floats_before(int width, int height, int band, int s) {
  int floats = 0;
  for (int t = 0; t < s; ++t) floats += ring_of(height, band, t) * stride_of(width, t);
  return floats;
}

FUNCTION int strips_down(int height, int s) { return (scale_height(height, s) + STRIP_ROWS - 1) / STRIP_ROWS; }
FUNCTION int strips_before(int height, int s) {
  int strips = 0;
  for (int t = 0; t < s; ++t) strips += strips_down(height, t);
  return strips;
}

// Strips that have all rows they look at when there are the rows before `end` of the first scale, a multiple of 64 or
// all.
FUNCTION int ready_strips(int end, int height, int s) {
  if (end >= mirrored_side(height)) return strips_down(height, s);
  return (end >> s) < WINDOW_RADIUS ? 0 : ((end >> s) - WINDOW_RADIUS) / STRIP_ROWS;
}

// Where row y lies in a ring, if `first` lies at `slot` and is less than a ring's rows above.
FUNCTION int ring_row(int y, int first, int slot, int ring) {
  const int row = slot + (y - first);
  return row >= ring ? row - ring : row;
}
