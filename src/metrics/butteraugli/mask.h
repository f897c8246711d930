// SPDX-License-Identifier: BSD-2-Clause-Patent
// The mask, row by row, from the blurred activity of the reference; cpu.cc includes this inside the namespace of a
// target, after subbands.h.

class Mask {
 public:
  // activity: that of the reference, as blurred so far.
  Mask(const Frame& frame, const Subbands& reference, const Ring& activity, int batch)
      : frame_(frame), reference_(reference), activity_(activity) {
    for (int y = 0; y < batch + 6 && !reference.is_prepared(); ++y) fill_row(activity.row(y), ERODED_NOTHING);
  }

  // Rows up to `limit`, exclusive.
  void close_activity(int limit);  // as erosion wants it around the picture
  void prepare_gains(int limit);

  // Calls use(x, activity, dc_gain, ac_gain) for the vectors of a row.
  template <typename Use>
  void for_row(int y, Use use) const;

 private:
  const Frame& frame_;
  const Subbands& reference_;
  const Ring& activity_;
  // The first row that each stage has still to make.
  int activity_done_ = frame_.cell.y_begin - kReachBlurredActivity;
  int gains_done_ = frame_.cell.y_begin;
};

inline void Mask::close_activity(int limit) {
  if (reference_.is_prepared()) return;
  for (int y = activity_done_; y < limit; ++y) {
    if (frame_.has_row(y)) {
      frame_.close_row(activity_.row(y), ERODED_NOTHING);
    } else {
      fill_row(activity_.row(y), ERODED_NOTHING);
    }
  }
  activity_done_ = std::max(activity_done_, limit);
}

template <typename Use>
HWY_INLINE void Mask::for_row(int y, Use use) const {
  const Columns own = frame_.columns(kReachMap);
  if (reference_.is_prepared()) {
    const float* activity = reference_.prepared_row(kPreparedActivity, y);
    const float* dc_gain = reference_.prepared_row(kPreparedDcGain, y);
    const float* ac_gain = reference_.prepared_row(kPreparedAcGain, y);
    for (int x = own.begin; x < own.end; x += kLanes) {
      use(x, load_unaligned(activity + x), load_unaligned(dc_gain + x), load_unaligned(ac_gain + x));
    }
    return;
  }
  const float* const activity[3] = {activity_.row(y - 3), activity_.row(y), activity_.row(y + 3)};
  for (int x = own.begin; x < own.end; x += kLanes) {
    const real here = load(activity[1] + x);
    real smallest = here, second = here + here, third = second;
    for (int i = 0; i < 3; ++i) {
      const Neighbours at(activity[i] + x);
      erode(at(-3), smallest, second, third);
      if (i != 1) erode(at(0), smallest, second, third);
      erode(at(3), smallest, second, third);
    }
    real dc_gain, ac_gain;
    mask_gains(eroded(smallest, second, third), dc_gain, ac_gain);
    use(x, here, dc_gain, ac_gain);
  }
}

inline void Mask::prepare_gains(int limit) {
  alignas(64) float gains[2][kStride];
  for (int y = gains_done_; y < limit; ++y) {
    for_row(y, [&](int x, real, real dc_gain, real ac_gain) HWY_ATTR {
      store(dc_gain, gains[0] + x);
      store(ac_gain, gains[1] + x);
    });
    reference_.prepare_row(kPreparedDcGain, y, gains[0]);
    reference_.prepare_row(kPreparedAcGain, y, gains[1]);
  }
  gains_done_ = std::max(gains_done_, limit);
}
