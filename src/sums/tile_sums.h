// SPDX-License-Identifier: BSD-2-Clause-Patent
// The last step of the reduction contract (sums/tiles.h) in kernels whose groups are 32 threads wide, one a column
// of a tile. Such a kernel says SHUFFLES before.

// Adds up the columns by halves, as sum_tile_columns does: `sum` becomes the tile's, in every thread. All threads of
// the group must come here, as to a barrier.
#define SUM_TILE_COLUMNS(sum) sum = sum_of_32(sum);
