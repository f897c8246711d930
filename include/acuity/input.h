// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures to be scored, and memory to put them in.
//
//   auto memory = acuity::HostMemory::allocate("cuda:0", bytes);     // page-locked: the fastest way to that GPU
//   decode_into(memory->data());
//   acuity::Input picture(view_of(memory->data()), memory->owner());
//   scorer->score(picture, other);                                   // uploads the picture
//   another_scorer->score(picture, another);                         // finds it on the GPU
#ifndef ACUITY_INPUT_H
#define ACUITY_INPUT_H

#include <cstddef>
#include <memory>
#include <string>

#include "acuity/export.h"
#include "acuity/frame.h"
#include "acuity/image.h"
#include "acuity/status.h"

namespace acuity {

/// A picture. Copies of an Input are the same picture. A device gets its samples at most once, when the first metric
/// asks for them there, and keeps them as long as a copy of the Input exists; what the host makes of a frame is kept as
/// well. So make a new Input when the pixels have changed: with the old one, scores may still be those of the pixels
/// before. May be used from several threads.
class ACUITY_API Input {
 public:
  Input() noexcept = default;  ///< no picture
  /// Pixels in your memory. They must neither change nor go away until every call and every Job that got this Input
  /// is finished.
  Input(const ImageView& view) noexcept;  // NOLINT(google-explicit-constructor): a view is a picture
  /// The same. `owner` keeps the memory alive: the pixels must not change as long as the Input holds it.
  Input(const ImageView& view, std::shared_ptr<const void> owner) noexcept;
  /// A frame of video, as its stream stores it. It goes to a GPU as it is, and becomes RGB there. Its samples must
  /// neither change nor go away, as above; `frame.owner` keeps them alive.
  Input(const FrameView& frame, const FrameFormat& format) noexcept;
  /// A copy of the pixels.
  static Result<Input> copy(const ImageView& view);
  /// Pixels that are on a GPU already, such as "cuda:0": the planes of the view are device addresses (of CUDA, HIP, or
  /// a Vulkan buffer). What writes them must be done. All channels lie at equal distances. Such a picture can be scored
  /// on that device only, in a process that has the device open in the same context: CUDA's and HIP's primary one.
  static Input on_device(const ImageView& view, std::string device,
                         std::shared_ptr<const void> owner = nullptr) noexcept;
  /// A frame that is on a GPU already, as its decoder left it. The planes of the view are device addresses, and
  /// `frame.owner` keeps them alive: it is released when no Input and no work on the device needs them. The device must
  /// be named and what writes the samples must be done, as above. Samples that are larger than their depth allows count
  /// as the largest that it allows.
  static Input on_device(const FrameView& frame, const FrameFormat& format, const SurfaceLayout& layout,
                         std::string device) noexcept;

  bool has_picture() const noexcept { return state_ != nullptr; }
  /// As it was given; of a frame, what it becomes: RGB or grey floats, without planes. Only if has_picture().
  const ImageView& view() const noexcept;

  struct State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Memory of the host that a GPU reads at full speed, without a copy before. Allocating it is slow: use it again.
class ACUITY_API HostMemory {
 public:
  /// `device` as in ScorerOptions: page-locked memory for a GPU, ordinary memory for "cpu".
  static Result<HostMemory> allocate(const std::string& device, size_t bytes);

  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  /// What keeps it alive, for an Input.
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace acuity

#endif
