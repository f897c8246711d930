// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/samples.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
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

constexpr int kTogether = 64;  // pixels that are composited at once

// Samples of pixels with alpha, some at a time: quotients(value, alpha, begin, count) reads them as parts of the
// largest sample. Opaque ones come out as those of a picture without alpha, by opaque_value(i, value).
template <typename Quotients, typename OpaqueValue>
void composite(const Channel& channel, int count, float background, float* to, Quotients quotients,
               OpaqueValue opaque_value) {
  float value[kTogether], alpha[kTogether], composed[kTogether];
  for (int begin = 0; begin < count; begin += kTogether) {
    const int here = std::min(kTogether, count - begin);
    quotients(value, alpha, begin, here);
    settle_fractions(value, here);
    settle_fractions(alpha, here);
    bool opaque = true;
    for (int i = 0; i < here; ++i) {
      composed[i] = over(background, alpha[i], value[i]);
      opaque = opaque && alpha[i] == 1;
    }
    if (!opaque) channel.decode(composed, here, true);
    opaque_value(value, begin, here);
    for (int i = 0; i < here; ++i) to[begin + i] = alpha[i] == 1 ? value[i] : composed[i];
  }
}

template <typename Sample>
void load_codes_with_alpha(const Channel& channel, const Span& span, int maximum, float background, float* to) {
  const float* table = channel.table->data();
  const auto at = [&](const std::byte* from, int i) {
    return std::min<int>(sample_at<Sample>(from + i * span.stride), maximum);
  };
  const auto largest = static_cast<float>(maximum);
  composite(
      channel, span.count, background, to,
      [&](float* value, float* alpha, int begin, int count) {
        for (int i = 0; i < count; ++i) {
          value[i] = static_cast<float>(at(span.samples, begin + i)) / largest;
          alpha[i] = static_cast<float>(at(span.alpha, begin + i)) / largest;
        }
      },
      [&](float* value, int begin, int count) {
        for (int i = 0; i < count; ++i) value[i] = table[at(span.samples, begin + i)];
      });
}

void load_floats(const Channel& channel, const Span& span, int, float, float* to) {
  if (span.stride == sizeof(float)) {
    std::memcpy(to, span.samples, static_cast<size_t>(span.count) * sizeof(float));
  } else {
    for (int i = 0; i < span.count; ++i) to[i] = sample_at<float>(span.samples + i * span.stride);
  }
  channel.decode(to, span.count, false);
}

void load_floats_with_alpha(const Channel& channel, const Span& span, int, float background, float* to) {
  composite(
      channel, span.count, background, to,
      [&](float* value, float* alpha, int begin, int count) {
        for (int i = 0; i < count; ++i) {
          value[i] = sample_at<float>(span.samples + (begin + i) * span.stride);
          alpha[i] = sample_at<float>(span.alpha + (begin + i) * span.stride);
        }
      },
      [&](float* value, int begin, int count) {
        for (int i = 0; i < count; ++i) value[i] = sample_at<float>(span.samples + (begin + i) * span.stride);
        channel.decode(value, count, false);
      });
}

// The curve of a profile, in double.
void decode_by_profile(const Curve& curve, float* samples, int count, bool mixed) {
  float bytes[kTogether];
  for (int begin = 0; begin < count; begin += kTogether) {
    const int here = std::min(kTogether, count - begin);
    std::copy_n(samples + begin, here, bytes);
    find_bytes(bytes, here);
    for (int i = 0; i < here; ++i) {
      const double encoded = mixed || bytes[i] < 0 ? double{samples[begin + i]} : double{bytes[i]} / 255;
      samples[begin + i] = static_cast<float>(curve(encoded));
    }
  }
}

void append_codes(const Channel& channel, int depth, Table& table) {
  const int maximum = (1 << depth) - 1;
  const size_t first = table.size(), count = static_cast<size_t>(maximum) + 1;
  table.resize(first + count);
  float* values = table.data() + first;
  for (int code = 0; code <= maximum; ++code) {
    values[code] = static_cast<float>(code) / static_cast<float>(maximum);
  }
  if (channel.steps.curve == CURVE_SRGB_LIBJXL) {
    settle_fractions(values, maximum + 1);
    decode_samples(channel.steps, nullptr, values, maximum + 1);
  } else {
    decode_by_profile(channel.curve, values, maximum + 1, false);
  }
}

}  // namespace

void Channel::decode(float* samples, int count, bool mixed) const {
  if (steps.curve == CURVE_OF_PROFILE) return decode_by_profile(curve, samples, count, mixed);
  decode_samples(steps, mixed || !table ? nullptr : table->data(), samples, count);
}

Table make_table(const Channel& channel, int depth) {
  Table table;
  if (depth != kFloatTable) {
    append_codes(channel, depth, table);
  } else {
    for (const int each : {16, 12, 10}) append_codes(channel, each, table);
  }
  return table;
}

std::shared_ptr<const Table> shared_table(const Channel& channel, int depth) {
  constexpr size_t kMost = 64;  // a video may have another curve in each frame
  using Key = std::tuple<int, double, bool, int>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const Table>> tables;
  const Key key(channel.steps.curve, channel.parameter, channel.steps.to_codes, depth);
  const std::lock_guard lock(mutex);
  if (tables.size() >= kMost) {
    std::erase_if(tables, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  std::shared_ptr<const Table>& table = tables[key];
  if (!table) table = std::make_shared<const Table>(make_table(channel, depth));
  return table;
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
