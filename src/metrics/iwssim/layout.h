// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where things are on a GPU, and what can be done when; in the kernel dialect. Kernels and the host ask the same
// functions. Include it after the dialect.

#define SCALES 5
#define TILE_ROWS 64
#define WINDOW_MARGIN 10  // samples that a side loses to the window
#define PRODUCT_MARGIN 2  // and to the neighbourhoods of products
#define BAND_ROWS 256     // rows of the picture that levels and subbands are made in

FUNCTION int side_of(int side, int s) { return (side + (1 << s) - 1) >> s; }
FUNCTION int stride_of(int width, int s) { return (side_of(width, s) + 31) / 32 * 32; }

// A pyramid is first what is compared, the planes: subbands, and the last level; of MS-SSIM all levels. Luma takes the
// place of the first. Behind them lie the levels that subbands are made of.
FUNCTION int plane_floats(int width, int height, int s) { return stride_of(width, s) * side_of(height, s); }
FUNCTION int plane_at(int width, int height, int s) {
  int floats = 0;
  for (int t = 0; t < s; ++t) floats += plane_floats(width, height, t);
  return floats;
}
FUNCTION int level_at(int width, int height, int s) {
  if (s == 0 || s == SCALES - 1) return plane_at(width, height, s);
  return plane_at(width, height, SCALES) + plane_at(width, height, s) - plane_at(width, height, 1);
}
FUNCTION int pyramid_floats(int width, int height) {
  return plane_at(width, height, SCALES) + plane_at(width, height, SCALES - 1) - plane_at(width, height, 1);
}

// Tiles of a scale that loses `margin` samples a side, and of those before it.
FUNCTION int tiles_across(int width, int s, int margin) { return (side_of(width, s) - margin + 31) / 32; }
FUNCTION int tiles_down(int height, int s, int margin) {
  return (side_of(height, s) - margin + TILE_ROWS - 1) / TILE_ROWS;
}
FUNCTION int tiles_before(int width, int height, int s, int margin) {
  int tiles = 0;
  for (int t = 0; t < s; ++t) tiles += tiles_across(width, t, margin) * tiles_down(height, t, margin);
  return tiles;
}

// What can be done when luma is there before row `end`. A band's last level wants 16 rows of the third below it, which
// want 67 rows of luma; its subbands look at the levels of the band below.
FUNCTION int levelled_bands(int end, int height) {
  if (end == height) return (height + BAND_ROWS - 1) / BAND_ROWS;
  return end < 67 ? 0 : (end - 67) / BAND_ROWS;
}
FUNCTION int split_bands(int end, int height) {
  if (end == height) return (height + BAND_ROWS - 1) / BAND_ROWS;
  const int bands = levelled_bands(end, height);
  return bands == 0 ? 0 : bands - 1;
}
FUNCTION int compared_tiles(int end, int height, int s) {
  if (end == height) return tiles_down(height, s, WINDOW_MARGIN);
  const int rows = split_bands(end, height) * BAND_ROWS >> s;
  return rows < WINDOW_MARGIN ? 0 : (rows - WINDOW_MARGIN) / TILE_ROWS;
}
FUNCTION int compare_groups(int begin, int end, int height, int s) {
  return compared_tiles(end, height, s) - compared_tiles(begin, height, s);
}

// A neighbourhood's parent lies up to a row and a half below it, as the next scale counts them.
FUNCTION int summed_tiles(int end, int height, int s) {
  if (end == height) return tiles_down(height, s, PRODUCT_MARGIN);
  const int rows = split_bands(end, height) * BAND_ROWS >> s;
  return rows < 4 ? 0 : (rows - 4) / TILE_ROWS;
}
FUNCTION int sum_groups(int begin, int end, int height, int s) {
  return summed_tiles(end, height, s) - summed_tiles(begin, height, s);
}

// Beyond the ends samples are mirrored, those at the ends not doubled.
FUNCTION int reflected(int i, int length) {
  const int distance = max(i, -i);
  return distance < length ? distance : 2 * (length - 1) - distance;
}

// Where the parents of a scale's columns, and then of its rows, lie: first sample and fraction of each.
#define PARENT_SCALES 3
FUNCTION int parents_at(int width, int height, int s) {
  int floats = 0;
  for (int t = 0; t < s; ++t) floats += 2 * (side_of(width, t) + side_of(height, t));
  return floats;
}
