// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where the colour samples of frames lie, for kernels: include it after lang/dialect.h.

// The values of ChromaPlacement, and none for grey.
#define PLACED_ALL 0
#define PLACED_COSITED 1
#define PLACED_BETWEEN 2
#define PLACED_NONE 3

// The colour samples on both sides of a pixel, along a row or column that has `count` of them: the nearer one, the
// other, and how many quarters the other weighs.
FUNCTION int nearer_sample(int placement, int pixel) { return placement == PLACED_ALL ? pixel : pixel / 2; }
FUNCTION int other_sample(int placement, int pixel, int count) {
  if (placement == PLACED_ALL) return pixel;
  const int odd = pixel % 2;
  return placement == PLACED_COSITED ? min(pixel / 2 + 1, count - 1) : clamp(pixel / 2 - 1 + 2 * odd, 0, count - 1);
}
FUNCTION int other_quarters(int placement, int pixel) {
  if (placement == PLACED_ALL) return 0;
  return placement == PLACED_COSITED ? pixel % 2 * 2 : 1;
}
