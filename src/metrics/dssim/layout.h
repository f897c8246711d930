// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where the arrays of DSSIM lie on the GPU, how far a band of rows can be worked on, and how kernels that walk down
// columns find and blur samples there: for the files of kernels, after metrics/dssim/math.h.

// A launch is told the picture's size and the rows of a band; the host asks the same functions.

#define SCALES 5
#define TILE_ROWS 64
#define BLUR_ROWS 32    // of a group of blur_chroma
#define RING_MARGIN 80  // rows of earlier bands that are still looked at: a tile not yet complete, and two blurs

FUNCTION bool has_scale(int width, int height, int s) {
  return s == 0 || (s < SCALES && (width < height ? width : height) >> (s - 1) >= 8);
}

// Floats a row, and rows a plane, of Lab.
FUNCTION int stride_of(int width, int s) { return ((width + 63) / 64 * 64) >> s; }
FUNCTION int ring_of(int height, int band, int s) { return band < height ? (band >> s) + RING_MARGIN : height >> s; }

// Floats of one plane of Lab of all scales before s.
FUNCTION int floats_before(int width, int height, int band, int s) {
  int floats = 0;
  for (int t = 0; t < s; ++t) floats += ring_of(height, band, t) * stride_of(width, t);
  return floats;
}

// Errors, and tiles, of all scales before s.
FUNCTION int errors_before(int width, int height, int s) {
  int errors = 0;
  for (int t = 0; t < s; ++t) errors += (width >> t) * (height >> t);
  return errors;
}
FUNCTION int tiles_across(int width, int s) { return ((width >> s) + 31) / 32; }
FUNCTION int tiles_down(int height, int s) { return ((height >> s) + TILE_ROWS - 1) / TILE_ROWS; }
FUNCTION int tiles_before(int width, int height, int s) {
  int tiles = 0;
  for (int t = 0; t < s; ++t) tiles += tiles_across(width, t) * tiles_down(height, t);
  return tiles;
}

// How far a scale can be worked on when the picture's rows before `end`, a multiple of 16 or all, have become Lab: rows
// with two below them for the blur of chroma, rows of tiles with four below them for the errors.
FUNCTION int blurred_rows(int end, int height, int s) {
  if (end == height) return height >> s;
  return end >> s < 2 ? 0 : (end >> s) - 2;
}
FUNCTION int scored_tiles(int end, int height, int s) {
  if (end == height) return tiles_down(height, s);
  return end >> s < 4 ? 0 : ((end >> s) - 4) / TILE_ROWS;
}

// Groups down for the rows of a band. Four columns of threads blur a and b of one or both pictures.
FUNCTION int blur_groups(int begin, int end, int height, int pictures, int s) {
  const int blocks = (blurred_rows(end, height, s) - blurred_rows(begin, height, s) + BLUR_ROWS - 1) / BLUR_ROWS;
  return (blocks * pictures + 1) / 2;
}
FUNCTION int score_groups(int begin, int end, int height, int s) {
  return scored_tiles(end, height, s) - scored_tiles(begin, height, s);
}

// The scale that a group down works on, which becomes its number there.
FUNCTION int scale_of_scores(INOUT(int) group, int begin, int end, int height) {
  int s = 0;
  for (int n = score_groups(begin, end, height, 0); group >= n; n = score_groups(begin, end, height, s)) {
    group -= n;
    ++s;
  }
  return s;
}

// Where row y lies in a ring, if `first` lies at `slot` and is less than a ring's rows above.
FUNCTION int ring_row(int y, int first, int slot, int ring) {
  const int row = slot + (y - first);
  return row >= ring ? row - ring : row;
}

// Whether 32 columns of this many rows, and what blurs of them look at, are inside, and these rows lie one after the
// other in the ring; row y - 2 lies at `slot` then.
FUNCTION bool is_inside(int columns, int rows, int y, int count, int slot, int ring) {
  const int x = group_x() * 32;
  return x >= 2 && x + 34 <= columns && y >= 2 && y + count + 2 <= rows && slot + count + 4 <= ring;
}

#define INSIDE 0
#define FIRST 1
#define LAST 2
FUNCTION int place_of(int i, int count) { return i == 0 ? FIRST : i == count - 1 ? LAST : INSIDE; }

// The blur of the third of five samples; those that do not exist repeat the outermost.
FUNCTION real blur_at(int place, real a, real b, real c, real d, real e) {
  const real edge = select(place == FIRST, blur_first(c, d, e), blur_last(a, b, c));
  return select(place == INSIDE, blur_inside(a, b, c, d, e), edge);
}

// How a kernel that walks down columns finds and blurs samples: where it knows that all of them are inside and that
// their rows lie one after the other, and where it does not. PREPARED places are in planes of the whole picture.
#define INSIDE_ROW(a, b, c, d, e) blur_inside(a, b, c, d, e)
#define INSIDE_COLUMN(a, b, c, d, e) blur_inside(a, b, c, d, e)
#define INSIDE_PLACE(t, y) (slot + (y) - first) * stride + x - 2 + (t)
#define INSIDE_PREPARED(t, y) (y) * stride + x - 2 + (t)
#define ANY_ROW(a, b, c, d, e) blur_at(place_of(x, columns), a, b, c, d, e)
#define ANY_COLUMN(a, b, c, d, e) blur_at(place_of(y, rows), a, b, c, d, e)
#define ANY_PLACE(t, y) ring_row(clamp(y, 0, last), first, slot, ring) * stride + column[t]
#define ANY_PREPARED(t, y) clamp(y, 0, last) * stride + column[t]

// Kernels that blur moments work on a tile with each group, on a column of sixteen of its rows with each thread. A
// window that turns holds the last five rows of all moments, blurred along the row.
#define WALK_ROWS 16
#define IN_WINDOW(age, moment) window[(moment) * 5 + (age) % 5]
#define BLUR_COLUMN(BLUR, k, moment)                                                                           \
  BLUR(IN_WINDOW(k + 1, moment), IN_WINDOW(k + 2, moment), IN_WINDOW(k + 3, moment), IN_WINDOW(k + 4, moment), \
       IN_WINDOW(k, moment))

// The sum of a tile's errors, when all its threads have come here.
#define STORE_TILE(tile_errors, tiles)                                                                \
  barrier_group();                                                                                    \
  real sum = real(0.0f);                                                                              \
  if (local_y() == 0 && group_x() * 32 < columns) {                                                   \
    for (int y = 0; y < min(rows - top, TILE_ROWS); ++y) sum = sum + tile_errors[y * 32 + local_x()]; \
  }                                                                                                   \
  SUM_TILE_COLUMNS(sum)                                                                               \
  if (local_x() == 0 && local_y() == 0 && group_x() * 32 < columns) {                                 \
    at(tiles, tiles_before(width, height, s) + tile_row * tiles_across(width, s) + group_x()) = sum;  \
  }
