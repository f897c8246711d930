// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where ColorVideoVDP's kernels find things: include it after lang/dialect.h. A launch is told the picture's size and
// the rows of a band; the host asks the same functions. Before it, CHANNELS is 3 for still pictures and 4 for frames,
// and FIRST_KEPT is the first scale that lies in memory: 1 and 0. Of a scale there are the channels of the reference,
// then those of the distorted picture; behind the last scale lie the sums of tiles.

#define TILE_ROWS 64
#define COMPARED_COLUMNS 128  // of a group that compares
#define REDUCED_COLUMNS 126   // of a group that makes the second scale
#define REDUCED_ROWS 16       // scales are made in multiples of this
#define REACH 6               // of the blur, to each side

FUNCTION int scale_side(int side, int s) { return (side + (1 << s) - 1) >> s; }
// Floats from row to row, and of a plane.
FUNCTION int row_floats(int width, int s) { return (scale_side(width, s) + 3) / 4 * 4; }
FUNCTION int plane_floats(int width, int height, int s) { return row_floats(width, s) * scale_side(height, s); }
FUNCTION int floats_before(int width, int height, int s) {
  int floats = 0;
  for (int t = FIRST_KEPT; t < s; ++t) floats += 2 * CHANNELS * plane_floats(width, height, t);
  return floats;
}

// Of all subbands before s, where squares are kept.
FUNCTION int squares_before(int width, int height, int s) {
  int floats = 0;
  for (int t = 0; t < s; ++t) floats += CHANNELS * plane_floats(width, height, t);
  return floats;
}

FUNCTION int tiles_across(int width, int s) { return (scale_side(width, s) + 31) / 32; }
FUNCTION int tiles_down(int height, int s) { return (scale_side(height, s) + TILE_ROWS - 1) / TILE_ROWS; }
FUNCTION int tiles_before(int width, int height, int s) {
  int tiles = 0;
  for (int t = 0; t < s; ++t) tiles += tiles_across(width, t) * tiles_down(height, t);
  return tiles;
}

// How many rows of a scale there are when the picture's rows before `end` are there, which is a multiple of what a
// group makes, or all. A row needs two rows of the scale above on either side.
FUNCTION int ready_rows(int end, int height, int s) {
  int rows = end;
  int all = height;
  for (int t = 0; t < s; ++t) {
    const int next = (all + 1) / 2;
    rows = rows == all ? next : max(rows - 1, 0) / 2 / REDUCED_ROWS * REDUCED_ROWS;
    all = next;
  }
  return rows;
}
// And how many rows of tiles can be compared: with the blur's rows below, and what these look at in the next scale.
FUNCTION int ready_tiles(int end, int height, int s) {
  if (end == height) return tiles_down(height, s);
  const int here = max(ready_rows(end, height, s) - REACH, 0) / TILE_ROWS;
  const int next = max(ready_rows(end, height, s + 1) - REACH / 2 - 1, 0) / (TILE_ROWS / 2);
  return min(here, next);
}

// Groups down for the rows of a band. From the first scale to the second, each makes `rows_each` rows of a picture;
// from a later scale, 8 rows of a plane.
FUNCTION int reduce_groups(int begin, int end, int height, int rows_each) {
  return 2 * ((ready_rows(end, height, 1) - ready_rows(begin, height, 1) + rows_each - 1) / rows_each);
}
FUNCTION int reduce_kept_groups(int begin, int end, int height, int s) {
  return 2 * CHANNELS * ((ready_rows(end, height, s + 1) - ready_rows(begin, height, s + 1) + 7) / 8);
}
FUNCTION int compare_groups(int begin, int end, int height, int s) {
  return ready_tiles(end, height, s) - ready_tiles(begin, height, s);
}
