// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli's line filters ("Malta"), in the kernel dialect: sums along sixteen lines through a pixel, squared and
// added up. AT(dx, dy) is the value of malta_input at that distance from the pixel. What lines have in common is added
// once; all terms are squares, so the order does not show in scores.

// One more line.
FUNCTION real add_line(real total, real line) { return fma(line, line, total); }

// Five samples a line, for the high and the middle subband. Eight inner triples serve sixteen lines.
#define MALTA_FIVE(AT, result)                                        \
  {                                                                   \
    const real centre = AT(0, 0);                                     \
    const real across = (AT(-2, 0) + AT(2, 0)) + centre;              \
    const real along = (AT(0, -2) + AT(0, 2)) + centre;               \
    const real falling = (AT(-2, -2) + AT(2, 2)) + centre;            \
    const real rising = (AT(2, -2) + AT(-2, 2)) + centre;             \
    real line = across + (AT(-4, 0) + AT(4, 0));                      \
    real total = line * line;                                         \
    total = add_line(total, along + (AT(0, -4) + AT(0, 4)));          \
    total = add_line(total, falling + (AT(-3, -3) + AT(3, 3)));       \
    total = add_line(total, rising + (AT(3, -3) + AT(-3, 3)));        \
    const real steep_falling = (AT(-1, -2) + AT(1, 2)) + centre;      \
    total = add_line(total, steep_falling + (AT(-1, -4) + AT(1, 4))); \
    total = add_line(total, steep_falling + (AT(-2, -3) + AT(2, 3))); \
    total = add_line(total, steep_falling + (AT(-2, -4) + AT(2, 4))); \
    const real steep_rising = (AT(1, -2) + AT(-1, 2)) + centre;       \
    total = add_line(total, steep_rising + (AT(1, -4) + AT(-1, 4)));  \
    total = add_line(total, steep_rising + (AT(2, -3) + AT(-2, 3)));  \
    total = add_line(total, steep_rising + (AT(2, -4) + AT(-2, 4)));  \
    const real flat_falling = (AT(-2, -1) + AT(2, 1)) + centre;       \
    total = add_line(total, flat_falling + (AT(-4, -1) + AT(4, 1)));  \
    total = add_line(total, flat_falling + (AT(-3, -2) + AT(3, 2)));  \
    total = add_line(total, flat_falling + (AT(-4, -2) + AT(4, 2)));  \
    const real flat_rising = (AT(2, -1) + AT(-2, 1)) + centre;        \
    total = add_line(total, flat_rising + (AT(4, -1) + AT(-4, 1)));   \
    total = add_line(total, flat_rising + (AT(3, -2) + AT(-3, 2)));   \
    result = add_line(total, flat_rising + (AT(4, -2) + AT(-4, 2)));  \
  }

// Three neighbours in a row or in a column: lines of nine samples are made of three such.
FUNCTION real three(real before, real centre, real after) { return (before + after) + centre; }

// Nine or seven samples a line, for the ultra-high subband. ROW(dx, dy) and COLUMN(dx, dy) are the sums by three()
// around the sample at that distance, along x and along y, of samples that are 0 outside the picture. Four of the
// sixteen lines occur twice.
#define MALTA_NINE(AT, ROW, COLUMN, result)                                                 \
  {                                                                                         \
    const real centre = AT(0, 0);                                                           \
    const real row = ROW(0, 0);                                                             \
    const real column = COLUMN(0, 0);                                                       \
    const real flat_falling = (ROW(-3, -1) + ROW(3, 1)) + row;                              \
    const real flat_rising = (ROW(3, -1) + ROW(-3, 1)) + row;                               \
    const real steep_falling = (COLUMN(-1, -3) + COLUMN(1, 3)) + column;                    \
    const real steep_rising = (COLUMN(1, -3) + COLUMN(-1, 3)) + column;                     \
    real total = flat_falling * flat_falling;                                               \
    total = add_line(total, flat_rising);                                                   \
    total = add_line(total, steep_falling);                                                 \
    total = add_line(total, steep_rising);                                                  \
    total = total + total;                                                                  \
    total = add_line(total, (ROW(-3, 0) + ROW(3, 0)) + row);                                \
    total = add_line(total, (COLUMN(0, -3) + COLUMN(0, 3)) + column);                       \
    const real falling = (AT(-1, -1) + AT(1, 1)) + centre;                                  \
    total = add_line(total, falling + ((AT(-2, -2) + AT(2, 2)) + (AT(-3, -3) + AT(3, 3)))); \
    total = add_line(total, falling + ((AT(-1, -2) + AT(1, 2)) + (AT(-2, -3) + AT(2, 3)))); \
    total = add_line(total, falling + ((AT(-2, -1) + AT(2, 1)) + (AT(-3, -2) + AT(3, 2)))); \
    const real rising = (AT(1, -1) + AT(-1, 1)) + centre;                                   \
    total = add_line(total, rising + ((AT(2, -2) + AT(-2, 2)) + (AT(3, -3) + AT(-3, 3))));  \
    total = add_line(total, rising + ((AT(1, -2) + AT(-1, 2)) + (AT(2, -3) + AT(-2, 3))));  \
    result = add_line(total, rising + ((AT(2, -1) + AT(-2, 1)) + (AT(3, -2) + AT(-3, 2)))); \
  }
