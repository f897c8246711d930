// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/samples.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <type_traits>

namespace acuity {
namespace {

constexpr ptrdiff_t kCacheLine = 64;

template <typename Sample>
Sample sample_at(const std::byte* from) {
  Sample sample;
  std::memcpy(&sample, from, sizeof(sample));
  return sample;
}

template <typename Sample>
void load_codes(const Channel& channel, const Span& span, int maximum, float, float* to) {
  const float* table = channel.table->data();
  const std::byte* from = span.samples;
  // Metrics read short spans of many rows before they come to the next span of this one, too far apart for the
  // processor to foresee: ask for it now.
  const std::byte* following = from + span.count * span.stride;
  for (ptrdiff_t line = 0; line < span.count * span.stride; line += kCacheLine) __builtin_prefetch(following + line);
  // Packed RGB and planes are nearly all there is; a stride the compiler knows makes twice as fast a loop.
  const auto look_up = [&](auto stride) {
#pragma GCC unroll 8
    for (int i = 0; i < span.count; ++i) {
      // Bytes cannot exceed their maximum; a 16-bit sample can lie outside the depth its view declares.
      const int code = sample_at<Sample>(from + i * stride);
      to[i] = table[sizeof(Sample) == 1 ? code : std::min(code, maximum)];
    }
  };
  constexpr auto kPacked = std::integral_constant<ptrdiff_t, 3 * sizeof(Sample)>();
  constexpr auto kPlanar = std::integral_constant<ptrdiff_t, sizeof(Sample)>();
  if (span.stride == kPacked) {
    look_up(kPacked);
  } else if (span.stride == kPlanar) {
    look_up(kPlanar);
  } else {
    look_up(span.stride);
  }
}

float over(float background, float alpha, float value) { return alpha * value + (1.f - alpha) * background; }

// Opaque samples are looked up, so that they come out as those of a picture without alpha.
template <typename Sample>
void load_codes_with_alpha(const Channel& channel, const Span& span, int maximum, float background, float* to) {
  const float* table = channel.table->data();
  const float scale = 1.0f / static_cast<float>(maximum);
  bool opaque = true;
  for (int i = 0; i < span.count; ++i) {
    const int code = std::min<int>(sample_at<Sample>(span.samples + i * span.stride), maximum);
    const int alpha = std::min<int>(sample_at<Sample>(span.alpha + i * span.stride), maximum);
    to[i] = over(background, static_cast<float>(alpha) * scale, static_cast<float>(code) * scale);
    opaque = opaque && alpha == maximum;
  }
  if (!opaque) channel.decode(to, span.count);
  for (int i = 0; i < span.count; ++i) {
    if (sample_at<Sample>(span.alpha + i * span.stride) < maximum) continue;
    to[i] = table[std::min<int>(sample_at<Sample>(span.samples + i * span.stride), maximum)];
  }
}

void load_floats(const Channel& channel, const Span& span, int, float, float* to) {
  if (span.stride == sizeof(float)) {  // as frames of video have it
    std::memcpy(to, span.samples, static_cast<size_t>(span.count) * sizeof(float));
  } else {
    for (int i = 0; i < span.count; ++i) to[i] = sample_at<float>(span.samples + i * span.stride);
  }
  channel.decode(to, span.count);
}

void load_floats_with_alpha(const Channel& channel, const Span& span, int, float background, float* to) {
  for (int i = 0; i < span.count; ++i) {
    to[i] = over(background, sample_at<float>(span.alpha + i * span.stride),
                 sample_at<float>(span.samples + i * span.stride));
  }
  channel.decode(to, span.count);
}

}  // namespace

void Channel::decode(float* samples, int count) const {
  if (steps.curve != CURVE_OF_PROFILE) return decode_samples(steps, samples, count);
  for (int i = 0; i < count; ++i) samples[i] = static_cast<float>(curve(samples[i]));
}

// Codes are divided in double, so that equal fractions of different depths give equal results; libjxl multiplies by a
// float reciprocal.
Table make_table(const Channel& channel, int depth) {
  const int maximum = (1 << depth) - 1;
  const bool libjxl = channel.steps.curve == CURVE_SRGB_LIBJXL;
  Table table(static_cast<size_t>(maximum) + 1);
  for (int code = 0; code <= maximum; ++code) {
    table[static_cast<size_t>(code)] = libjxl ? static_cast<float>(code) * (1.0f / static_cast<float>(maximum))
                                              : static_cast<float>(channel.curve(static_cast<double>(code) / maximum));
  }
  if (libjxl) channel.decode(table.data(), maximum + 1);
  return table;
}

std::shared_ptr<const Table> srgb_table(const Channel& channel, int depth) {
  struct Slot {
    std::once_flag once;
    std::shared_ptr<const Table> table;
  };
  static std::array<std::array<Slot, 17>, 4> slots;
  Slot& slot = slots[static_cast<size_t>(channel.steps.curve)][static_cast<size_t>(depth)];
  std::call_once(slot.once, [&] { slot.table = std::make_shared<const Table>(make_table(channel, depth)); });
  return slot.table;
}

Load load_for(const ImageView& view) {
  switch (view.type) {
    case SampleType::u8:
      return view.has_alpha() ? load_codes_with_alpha<uint8_t> : load_codes<uint8_t>;
    case SampleType::u16:
      return view.has_alpha() ? load_codes_with_alpha<uint16_t> : load_codes<uint16_t>;
    case SampleType::f32:
      break;
  }
  return view.has_alpha() ? load_floats_with_alpha : load_floats;
}

}  // namespace acuity
