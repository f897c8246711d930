// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures at another size, with the same bits on every machine and whatever the number of threads.
//
// The samples are scaled as the file holds them, before any curve makes light of them: so do viewers, and so does
// libswscale with video. Transparent pictures are premultiplied meanwhile, so that what cannot be seen does not bleed.
#ifndef ACUITY_MEDIA_SCALE_H
#define ACUITY_MEDIA_SCALE_H

#include <string>
#include <vector>

#include "acuity/picture.h"
#include "base/threads.h"
#include "media/video.h"

namespace acuity {

/// Which samples of a line make each sample of one of another length: as many for each, beginning with first[i] and
/// with weights[i * taps], whose sum is 1.
struct ScaleWeights {
  int taps = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

ScaleWeights scale_weights(Scaler scaler, int from, int to);

/// A picture at another size: with 16 bits where its samples are integers, with floats where they are floats. What was
/// done is added to what was found. `name` is for messages.
Result<Picture> scaled(const Picture& picture, int width, int height, Scaler scaler, const Threads& threads,
                       std::string_view name);

/// The failure of two sides that differ in size.
Status unequal_sizes(const std::string& reference_name, int width, int height, const std::string& distorted_name,
                     int distorted_width, int distorted_height);

/// "scaled from 192x144 to 384x288 (bicubic)".
std::string describe_scaling(int from_width, int from_height, int width, int height, Scaler scaler);

}  // namespace acuity

#endif
