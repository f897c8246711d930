// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the GPU. Planes have a word for each sample: its value, and FLAT where its surroundings are flat.
#include "lang/dialect.h"

#include "sums/whole_sums.h"

#define FLAT natural(32768u)
#define VALUE natural(32767u)

// ---------------------------------------------------------------------------------------------------------------------
// From a frame to 10-bit samples, marked where flat. A group marks a cell of 32 x 16 samples; it shares the samples
// within three columns and rows and one more.

#if KERNEL_HERE(mark_flats)
#define IMAGE_COLUMNS 39
#define IMAGE_ROWS 23
SHARED(natural, image_cell, IMAGE_ROWS* IMAGE_COLUMNS)
SHARED(natural, equal_cell, 22 * 38)
SHARED(natural, equal_across, 22 * 32)

FUNCTION natural ten_bits(whole code, int depth) {
  const int down = max(depth - 10, 0);
  const int half_step = down > 0 ? 1 << (down - 1) : 0;
  return to_natural(((code + half_step) >> down) << max(10 - depth, 0));
}

// Columns, then lines that samples are taken from are in `places`, where the frame is `is_scaled`. Every `step`-th
// sample goes to `image`.
KERNEL(mark_flats, 32, 8, samples_in samples, i32_in places, u32_out image, int row_bytes, int bits, int added_bits,
       int depth, int width, int height, int is_scaled, int smooth_samples, int step, int limit) {
  const int thread = local_y() * 32 + local_x();
  const int left = group_x() * 32 - 3;
  const int top = group_y() * 16 - 3;
  for (int n = thread; n < IMAGE_ROWS * IMAGE_COLUMNS; n += 256) {
    const int x = clamp(left + n % IMAGE_COLUMNS, 0, width - 1);
    const int y = clamp(top + n / IMAGE_COLUMNS, 0, height - 1);
    const int right = min(x + 1, width - 1);
    const int below = min(y + 1, height - 1);
    const int from_x = is_scaled != 0 ? at(places, x) : x;
    const int from_right = is_scaled != 0 ? at(places, right) : right;
    const int from_y = is_scaled != 0 ? at(places, width + y) : y;
    const int from_below = is_scaled != 0 ? at(places, width + below) : below;
    whole codes[4];
    if (bits == 8) {
      codes[0] = code8_at(samples, from_y * row_bytes + from_x);
      codes[1] = code8_at(samples, from_y * row_bytes + from_right);
      codes[2] = code8_at(samples, from_below * row_bytes + from_x);
      codes[3] = code8_at(samples, from_below * row_bytes + from_right);
    } else {
      codes[0] = code16_at(samples, from_y * (row_bytes / 2) + from_x);
      codes[1] = code16_at(samples, from_y * (row_bytes / 2) + from_right);
      codes[2] = code16_at(samples, from_below * (row_bytes / 2) + from_x);
      codes[3] = code16_at(samples, from_below * (row_bytes / 2) + from_right);
    }
    natural a = ten_bits(codes[0] << added_bits, depth);
    if (smooth_samples != 0) {
      const natural b = ten_bits(codes[1] << added_bits, depth);
      const natural c = ten_bits(codes[2] << added_bits, depth);
      const natural d = ten_bits(codes[3] << added_bits, depth);
      if (right > x && below > y) {
        a = (a + b + c + d) >> 2;
      } else if (right > x) {
        a = (a + b) >> 1;
      } else {
        a = (a + c) >> 1;  // in the corner, that is itself
      }
    }
    image_cell[n] = a;
  }
  barrier_group();
  for (int n = thread; n < 22 * 38; n += 256) {
    const int x = left + n % 38;
    const int y = top + n / 38;
    const int place = n / 38 * IMAGE_COLUMNS + n % 38;
    const natural sample_here = image_cell[place];
    const bool is_inside = x >= 0 && y >= 0 && x < width && y < height;
    const bool same_right = x >= width - 1 || image_cell[place + 1] == sample_here;
    const bool same_below = y >= height - 1 || image_cell[place + IMAGE_COLUMNS] == sample_here;
    equal_cell[n] = is_inside && same_right && same_below ? natural(1u) : natural(0u);
  }
  barrier_group();
  for (int n = thread; n < 22 * 32; n += 256) {
    natural sum = natural(0u);
    UNROLL for (int i = 0; i < 7; ++i) sum += equal_cell[n / 32 * 38 + n % 32 + i];
    equal_across[n] = sum;
  }
  barrier_group();
  const int out_width = (width + step - 1) / step;
  UNROLL for (int r = 0; r < 2; ++r) {
    const int row = local_y() + 8 * r;
    const int x = left + 3 + local_x();
    const int y = top + 3 + row;
    natural sum = natural(0u);
    UNROLL for (int i = 0; i < 7; ++i) sum += equal_across[(row + i) * 32 + local_x()];
    if (x < width && y < height && x % step == 0 && y % step == 0) {
      at(image, y / step * out_width + x / step) =
          image_cell[(row + 3) * IMAGE_COLUMNS + local_x() + 3] | (to_whole(sum) > limit ? FLAT : natural(0u));
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The modes of three by three samples, as levels, and the picture of the next scale.

#if KERNEL_HERE(filter_modes)
SHARED(natural, level_cell, 32 * 33)

FUNCTION natural mode_of(natural a, natural b, natural c) {
  return a == b || a == c ? a : (b == c ? b : min(min(a, b), c));
}

FUNCTION natural mode_across(u32_in image, int width, int x, int y) {
  const int row = y * width;
  const natural middle = at(image, row + x) & VALUE;
  const natural before = at(image, row + max(x - 1, 0)) & VALUE;
  const natural behind = at(image, row + min(x + 1, width - 1)) & VALUE;
  return x == 0 || x == width - 1 ? middle : mode_of(before, middle, behind);
}

// Levels are those of metrics/cambi/rows.h. They are stored column by column, as the next kernel reads them.
KERNEL(filter_modes, 32, 8, u32_in image, u32_out next, u32_out levels, int width, int height, natural first,
       natural count, natural first_level, natural none, int has_next) {
  UNROLL for (int r = 0; r < 4; ++r) {
    const int row = local_y() + 8 * r;
    const int x = min(group_x() * 32 + local_x(), width - 1);
    const int y = min(group_y() * 32 + row, height - 1);
    const natural own = at(image, y * width + x);
    const natural mode = mode_of(mode_across(image, width, x, max(y - 1, 0)), mode_across(image, width, x, y),
                                 mode_across(image, width, x, min(y + 1, height - 1)));
    const natural filtered = y == 0 || y == height - 1 ? own : mode | (own & FLAT);
    const natural level = (filtered & VALUE) - first;
    level_cell[row * 33 + local_x()] = (filtered & FLAT) != natural(0u) && level < count ? level + first_level : none;
    if (has_next != 0 && x % 2 == 0 && y % 2 == 0 && group_x() * 32 + local_x() < width &&
        group_y() * 32 + row < height) {
      at(next, y / 2 * ((width + 1) / 2) + x / 2) = filtered;
    }
  }
  barrier_group();
  UNROLL for (int r = 0; r < 4; ++r) {
    const int column = local_y() + 8 * r;
    const int x = group_x() * 32 + column;
    const int y = group_y() * 32 + local_x();
    if (x < width && y < height) at(levels, x * height + y) = level_cell[local_x() * 33 + column];
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Contrasts. A group of four times 32 threads makes those of a cell of 32 x 32 samples. Only levels that are at most
// some steps from one that a sample of the cell has are counted, one after the other by 32 threads each: first, 32 rows
// at a time, which samples of the rows that windows reach have that level, as bits; then a thread goes down a column of
// the cell, counts the bits of its window in each row, and adds them up. What the sum was when a row entered the window
// of a sample is taken from what it is when the last one has: that is the number in the window, and goes to the
// samples of the column that have a use for this level.

#if KERNEL_HERE(find_contrasts)
#define MOST_LEVELS 1216
#define MOST_ROWS 96
#define NO_LEVEL (-100000)
SHARED(natural, slots, 9 * 16 * 32)  // numbers of a sample's level, and of those above and below: two rows in a word
SHARED(whole, own_levels, 32 * 33)   // by row
SHARED(natural, flags, MOST_LEVELS)  // levels of the cell; then the bits: four times three words for each row
SHARED(whole, wanted_levels, MOST_LEVELS)
SHARED(natural, wanted_count, 1)

// Where the number of a level goes that is `offset` above that of a sample; negative: nowhere. Steps from first + 1 to
// first + 4 are looked for.
FUNCTION int slot_of(int offset, int first) {
  const int distance = abs(offset) - first;
  if (offset == 0) return 0;
  if (distance < 1 || distance > 4) return -1;
  return offset > 0 ? distance : distance + 4;
}

FUNCTION natural bits_between(int low, int high) {  // both included; parts outside of 0 to 31 are left out
  if (high < 0 || low > 31) return natural(0u);
  return (natural(4294967295u) >> (31 - min(high, 31))) & (natural(4294967295u) << max(low, 0));
}

// `steps` has for each step its weight, the lowest level it is seen from, and from how many. Contrasts of samples that
// do not count are -1.
KERNEL(find_contrasts, 32, 4, u32_in levels, i32_in steps, f32_in reciprocals, f32_out contrasts, int width, int height,
       int reach, int step_count, int lowest, int highest) {
  const int thread = local_y() * 32 + local_x();
  const int left = group_x() * 32;
  const int top = group_y() * 32;
  UNROLL for (int i = 0; i < 8; ++i) {
    const int column = local_y() * 8 + i;
    const int x = min(left + column, width - 1);
    const int y = min(top + local_x(), height - 1);
    const bool is_inside = left + column < width && top + local_x() < height;
    const whole level = to_whole(at(levels, x * height + y));
    own_levels[local_x() * 33 + column] = is_inside && level >= lowest && level <= highest ? level : NO_LEVEL;
  }
  const natural window_0 = bits_between(local_x(), local_x() + 2 * reach);
  const natural window_1 = bits_between(local_x() - 32, local_x() + 2 * reach - 32);
  const natural window_2 = bits_between(local_x() - 64, local_x() + 2 * reach - 64);
  real largest[8];
  UNROLL for (int i = 0; i < 8; ++i) largest[i] = real(0.0f);
  for (int first = 0; first < step_count; first += 4) {
    barrier_group();
    for (int i = thread; i < MOST_LEVELS; i += 128) flags[i] = natural(0u);
    for (int i = thread; i < 9 * 16 * 32; i += 128) slots[i] = natural(0u);
    if (thread == 0) wanted_count[0] = natural(0u);
    barrier_group();
    UNROLL for (int i = 0; i < 8; ++i) {
      const whole level = own_levels[(local_y() * 8 + i) * 33 + local_x()];
      if (level >= 0) flags[level] = natural(1u);
    }
    barrier_group();
    for (int i = thread; i < MOST_LEVELS; i += 128) {
      natural wanted = flags[i];
      UNROLL for (int d = 1; d <= 4; ++d) {
        if (i - first - d >= 0) wanted |= flags[i - first - d];
        if (i + first + d < MOST_LEVELS) wanted |= flags[i + first + d];
      }
      if (wanted != natural(0u)) wanted_levels[atomic_add(wanted_count[0], natural(1u))] = i;
    }
    barrier_group();
    const int count = to_whole(wanted_count[0]);
    for (int round = 0; round < count; round += 4) {
      const whole level = round + local_y() < count ? wanted_levels[round + local_y()] : NO_LEVEL;
      // The bits of one row after the other, 32 rows at once.
      for (int row = local_x(); row < 32 + 2 * reach; row += 32) {
        const int y = top - reach + row;
        const int from = clamp(y, 0, height - 1);
        for (int word = 0; word * 32 < 32 + 2 * reach; ++word) {
          const int x = left - reach + word * 32;
          natural bits = natural(0u);
          for (int i = max(-x, 0); i < min(32, width - x); ++i) {
            if (to_whole(at(levels, (x + i) * height + from)) == level) bits |= natural(1u) << i;
          }
          flags[(local_y() * 3 + word) * MOST_ROWS + row] = y == from ? bits : natural(0u);
        }
      }
      barrier_group();
      natural sum = natural(0u);
      for (int row = 0; row < 32 + 2 * reach; ++row) {
        if (row < 32) {
          const int slot = slot_of(level - own_levels[row * 33 + local_x()], first);
          if (slot >= 0)
            atomic_add(slots[(slot * 16 + row / 2) * 32 + local_x()], (natural(0u) - sum) << (row % 2 * 16));
        }
        const int at_row = local_y() * 3 * MOST_ROWS + row;
        sum += to_natural(count_ones(flags[at_row] & window_0));
        if (reach > 0) sum += to_natural(count_ones(flags[at_row + MOST_ROWS] & window_1));
        if (reach > 16) sum += to_natural(count_ones(flags[at_row + 2 * MOST_ROWS] & window_2));
        const int done = row - 2 * reach;
        if (done >= 0) {
          const int slot = slot_of(level - own_levels[done * 33 + local_x()], first);
          if (slot >= 0) atomic_add(slots[(slot * 16 + done / 2) * 32 + local_x()], sum << (done % 2 * 16));
        }
      }
      barrier_group();
    }
    barrier_group();
    UNROLL for (int i = 0; i < 8; ++i) {
      const int row = local_y() * 8 + i;
      const whole level = own_levels[row * 33 + local_x()];
      const int place = row / 2 * 32 + local_x();
      const int shift = row % 2 * 16;
      const natural own = (slots[place] >> shift) & natural(65535u);
      UNROLL for (int d = 1; d <= 4; ++d) {
        const natural above = (slots[place + d * 512] >> shift) & natural(65535u);
        const natural below = (slots[place + (d + 4) * 512] >> shift) & natural(65535u);
        const natural other = max(above, below);
        const int step = 3 * (first + d - 1);
        const natural from_lowest = to_natural(level - at(steps, step + 1));
        if (level >= 0 && from_lowest < to_natural(at(steps, step + 2)) && other > natural(0u)) {
          const whole product = at(steps, step) * to_whole(own) * to_whole(other);
          largest[i] = max(largest[i], to_real(product) * at(reciprocals, to_whole(own + other)));
        }
      }
    }
  }
  UNROLL for (int i = 0; i < 8; ++i) {
    const int row = local_y() * 8 + i;
    const bool counts = own_levels[row * 33 + local_x()] >= 0;
    if (left + local_x() < width && top + row < height) {
      at(contrasts, (top + row) * width + left + local_x()) = counts ? largest[i] : real(-1.0f);
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The sum of the largest contrasts of each scale, in 2^-24, which is exact. Contrasts that are not negative are ordered
// as their bits are: first buckets of them are counted by the upper 16, from just below 0.5 on; then, in the bucket
// that the smallest of the largest is in, those of each value. `scales` has for each scale where its contrasts begin,
// how many there are, and how many of them are wanted.

#define BUCKETS 2048
#define FIRST_BUCKET 16127
#define BUCKET_OF(contrast) max((bits_of(contrast) >> 16) - FIRST_BUCKET, 0)

#if KERNEL_HERE(clear_words)
KERNEL(clear_words, 256, 1, u32_out words, int count) {
  if (global_x() < count) at(words, global_x()) = natural(0u);
}
#endif

#if KERNEL_HERE(count_buckets)
SHARED(natural, bucket_counts, BUCKETS)

KERNEL(count_buckets, 256, 1, f32_in contrasts, i32_in scales, u32_out counts) {
  const int scale = group_y();
  const int offset = at(scales, 3 * scale);
  const int end = at(scales, 3 * scale + 1);
  for (int i = local_x(); i < BUCKETS; i += 256) bucket_counts[i] = natural(0u);
  barrier_group();
  natural zeros = natural(0u);
  UNROLL for (int n = 0; n < 16; ++n) {
    const int i = group_x() * 4096 + n * 256 + local_x();
    const real contrast = i < end ? at(contrasts, offset + i) : real(-1.0f);
    if (contrast == real(0.0f)) {
      zeros += natural(1u);
    } else if (contrast > real(0.0f)) {
      atomic_add(bucket_counts[BUCKET_OF(contrast)], natural(1u));
    }
  }
  if (zeros != natural(0u)) atomic_add(bucket_counts[0], zeros);
  barrier_group();
  for (int i = local_x(); i < BUCKETS; i += 256) {
    if (bucket_counts[i] != natural(0u)) atomic_add(at(counts, scale * BUCKETS + i), bucket_counts[i]);
  }
}
#endif

#if KERNEL_HERE(select_buckets)
SHARED(natural, parts, 256)

// For each scale the bucket in which the smallest of the largest is, and how many of those in there are wanted; -1
// where all contrasts are.
KERNEL(select_buckets, 256, 1, u32_in counts, i32_in scales, i32_out selected) {
  const int scale = group_x();
  natural part = natural(0u);
  UNROLL for (int i = 0; i < 8; ++i) part += at(counts, scale * BUCKETS + local_x() * 8 + i);
  parts[local_x()] = part;
  barrier_group();
  if (local_x() == 0) {
    const natural wanted = to_natural(at(scales, 3 * scale + 2));
    natural higher = natural(0u);
    int i = 255;
    while (i >= 0 && higher + parts[i] < wanted) {
      higher += parts[i];
      --i;
    }
    int bucket = 8 * i + 7;
    while (i >= 0 && higher + at(counts, scale * BUCKETS + bucket) < wanted) {
      higher += at(counts, scale * BUCKETS + bucket);
      --bucket;
    }
    at(selected, 2 * scale) = i < 0 ? -1 : bucket;
    at(selected, 2 * scale + 1) = to_whole(wanted - higher);
  }
}
#endif

// In 2^-24, given the bits of a float from 0.5 on; 0 for those of 0.
FUNCTION natural64 value_of(whole bits) {
  const whole exponent = bits >> 23;
  if (exponent < 126) return natural64(0UL);
  return to_natural64(to_natural((bits & 8388607) | 8388608)) << (exponent - 126);
}

#if KERNEL_HERE(sum_above)
#define NEEDS_sum_above ~, needs_int64
GROUP_SUMS(256)

// Adds what is in higher buckets, and counts the lower bits of those in the selected one.
KERNEL(sum_above, 256, 1, f32_in contrasts, i32_in scales, i32_in selected, u32_out fine_counts, i64_out sums) {
  const int scale = group_y();
  const int offset = at(scales, 3 * scale);
  const int end = at(scales, 3 * scale + 1);
  const int bucket = at(selected, 2 * scale);
  natural64 sum = natural64(0UL);
  UNROLL for (int n = 0; n < 16; ++n) {
    const int i = group_x() * 4096 + n * 256 + local_x();
    const real contrast = i < end ? at(contrasts, offset + i) : real(-1.0f);
    if (contrast > real(0.0f)) {
      const int place = BUCKET_OF(contrast);
      if (place > bucket) sum += value_of(bits_of(contrast));
      if (place == bucket) atomic_add(at(fine_counts, scale * 65536 + (bits_of(contrast) & 65535)), natural(1u));
    }
  }
  const whole64 of_group = group_sum(to_whole64(sum));
  if (local_x() == 0 && of_group != whole64(0L)) atomic_add_64(sums, scale, of_group);
}
#endif

#if KERNEL_HERE(sum_selected)
#define NEEDS_sum_selected ~, needs_int64
GROUP_SUMS(256)
SHARED(natural, fine_parts, 256)
SHARED(whole, last_part, 2)

// Adds the largest of the selected bucket, as many as are wanted. Those that are 0 are not counted one by one.
KERNEL(sum_selected, 256, 1, u32_in fine_counts, i32_in selected, i64_out sums) {
  const int scale = group_x();
  const int bucket = at(selected, 2 * scale);
  const int first = scale * 65536;
  natural part = natural(0u);
  for (int i = 0; i < 256; ++i) part += at(fine_counts, first + local_x() * 256 + i);
  fine_parts[local_x()] = part;
  barrier_group();
  if (local_x() == 0) {
    natural rest = to_natural(at(selected, 2 * scale + 1));
    int i = 255;
    while (i >= 0 && fine_parts[i] < rest) {
      rest -= fine_parts[i];
      --i;
    }
    last_part[0] = i;
    last_part[1] = to_whole(rest);
  }
  barrier_group();
  const int last = last_part[0];
  const natural rest = to_natural(last_part[1]);
  natural64 sum = natural64(0UL);
  const whole upper_bits = (bucket + FIRST_BUCKET) << 16;
  if (local_x() > last) {
    for (int i = 0; i < 256; ++i) {
      const int low = local_x() * 256 + i;
      sum += to_natural64(at(fine_counts, first + low)) * value_of(upper_bits | low);
    }
  }
  barrier_group();
  const int low = max(last, 0) * 256 + local_x();
  const natural here = last >= 0 ? at(fine_counts, first + low) : natural(0u);
  fine_parts[local_x()] = here;
  barrier_group();
  natural higher = natural(0u);
  for (int i = local_x() + 1; i < 256; ++i) higher += fine_parts[i];
  const natural taken = higher < rest ? min(here, rest - higher) : natural(0u);
  sum += to_natural64(taken) * value_of(upper_bits | low);
  const whole64 of_group = group_sum(to_whole64(sum));
  if (local_x() == 0 && bucket >= 0) atomic_add_64(sums, scale, of_group);
}
#endif
#undef FLAT
#undef VALUE
#undef BUCKETS
