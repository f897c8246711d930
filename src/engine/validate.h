// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything that can be wrong with a view is found here, once, so that no metric has to look.
#ifndef ACUITY_ENGINE_VALIDATE_H
#define ACUITY_ENGINE_VALIDATE_H

#include <string_view>

#include "acuity/frame.h"
#include "acuity/image.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "base/threads.h"
#include "device/pixels/finite.h"
#include "engine/options.h"

namespace acuity {

/// Whether it describes samples that can be read. `role` is "reference" or "distorted", for messages, or empty.
Status validate_layout(const ImageView& view, std::string_view role);

/// Whether the planes of a frame can be read. `which` is for messages: "reference frame 5".
Status validate_planes(const FrameView& frame, const SurfaceLayout& layout, std::string_view which);
/// Whether a frame of an Input can be.
Status validate_frame(const FrameView& frame, const FrameFormat& format, const SurfaceLayout& layout,
                      std::string_view role);

/// Whether all samples, which are floats, are numbers.
Status validate_finite(const ImageView& view, std::string_view role, const Threads& threads);
/// The same of samples that are on a device.
Status validate_finite(const ImageView& view, std::string_view role, DevicePool& pool, const Resident& samples);

/// Whether it has the size that is expected.
Status validate_view_size(const ImageView& view, std::string_view role, int width, int height);

/// Whether a metric with these options can work on pictures of this size at all.
Status validate_size(const MetricInfo& metric, const OptionValues& options, int width, int height);

}  // namespace acuity

#endif
