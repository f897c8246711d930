// SPDX-License-Identifier: BSD-2-Clause-Patent
// How often each level occurs in the window around a sample, and the contrast that follows from it.
//
// The table has, for each column, how often each level occurs in the rows of the window. It lies in blocks of levels,
// and in a block column by column, so that the counts of the levels next to a sample are two short runs of bytes, and
// moving the window by a column means adding the two of the column that comes and taking away those of the one that
// goes.
#ifndef ACUITY_METRICS_CAMBI_COUNTS_H
#define ACUITY_METRICS_CAMBI_COUNTS_H

#include <cstdint>
#include <vector>

#include "metrics/cambi/contrast.h"
#include "metrics/cambi/rows.h"

namespace acuity::cambi {

/// Windows of more samples than this are refused.
inline constexpr int kMostInWindow = 4225;

/// Levels of samples, and what a step from one to another is worth.
struct Steps {
  explicit Steps(const Contrast& contrast);

  struct Group {  // of four steps
    int weights[4] = {};
    uint16_t lowest[4] = {};  // levels from which the step can be seen: from here on ...
    uint16_t count[4] = {};   // ... so many
  };
  std::vector<Group> groups;
  int block_log = 3;  // of the number of levels in a block
  Levels levels;
  int lowest = 0;   // levels with a step that can be seen are among those from here ...
  int highest = 0;  // ... to here, if there are any
};

/// The table, and what is taken out of it for the samples of a row.
struct CountTable {
  uint8_t* bytes = nullptr;
  ptrdiff_t columns = 0;  // those beside the picture included
  int width = 0;
  int reach = 0;
};
struct Collected {
  uint16_t* levels = nullptr;
  uint16_t* counts = nullptr;
  uint16_t* neighbours = nullptr;  // for each group of steps, four a sample
  ptrdiff_t group_stride = 0;
};

class Counts {
 public:
  /// For pictures up to that width, and windows that reach as far at most. `steps` stay the caller's.
  Counts(const Steps& steps, int most_width, int most_reach);

  /// Begins a picture: nothing is in the window. `reach` is how far the window extends to each side.
  void begin(int width, int reach);
  /// A row of levels enters the window, another leaves it; either may be null.
  void move(const uint16_t* entering, const uint16_t* leaving);
  /// Contrasts of the row of levels in the middle, for those between Steps::lowest and highest, without gaps. Returns
  /// how many.
  int contrasts(const uint16_t* levels, float* out);

  size_t bytes() const;

 private:
  const Steps& steps_;
  CountTable table_;
  Collected collected_;
  std::vector<uint8_t> bytes_;
  std::vector<uint16_t> no_levels_, collection_;
};

/// The reciprocals that contrasts are made with: rounded to nine decimal digits first, as libvmaf's table is.
const float* reciprocals();

}  // namespace acuity::cambi

#endif
