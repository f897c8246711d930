// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of rows in kernels, in the order of frames/row_sums.h: from left to right in float. The rows are added up on the
// host, so that a frame sends back one float a row.
//
// A group has 32 x 8 threads and goes along eight rows, 32 columns at a time. Each thread finds the term of its pixel;
// then one thread a row adds them, in a chain that waits for each addition. Several sums have threads of their own.

#define CHAIN_COLUMNS 32
#define CHAIN_ROWS 8

/// Before the kernel: room for the terms of one sum. Rows lie in different banks of memory.
#define CHAIN(name) SHARED(real, name, 8 * 33)

#define PUT_TERM(name, term) name[local_y() * 33 + local_x()] = term;

/// After a barrier: adds the first `count` terms of the thread's row to `sum`.
#define ADD_TERMS(name, count, sum) \
  for (int k = 0; k < (count); ++k) sum = sum + name[local_y() * 33 + k];
