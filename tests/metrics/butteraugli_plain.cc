// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli_plain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "colour/rows.h"
#include "metrics/butteraugli/parameters.h"

namespace acuity::tests {
namespace {

// The dialect, one float at a time.
using real = float;
using whole = int32_t;
using truth = bool;
#define FUNCTION [[maybe_unused]] inline
#define INOUT(type) type&
#define SHIFT_RIGHT(value, bits) ((value) >> (bits))
#define SHIFT_LEFT(value, bits) static_cast<whole>(static_cast<uint32_t>(value) << (bits))
using std::abs;
using std::fma;
using std::max;
using std::min;
using std::sqrt;
real divide(real a, real b) { return a / b; }
real divide_ordinary(real a, real b) { return a / b; }
real sqrt_ordinary(real a) { return sqrt(a); }
real select(truth t, real a, real b) { return t ? a : b; }
whole select(truth t, whole a, whole b) { return t ? a : b; }
whole bits_of(real a) { return std::bit_cast<whole>(a); }
real from_bits(whole a) { return std::bit_cast<real>(a); }
real to_real(whole a) { return static_cast<real>(a); }
whole to_whole(real a) { return static_cast<whole>(a); }
#include "lang/exact.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/malta.h"
#include "metrics/butteraugli/math.h"

using butteraugli::Blur;
using butteraugli::Parameters;
using butteraugli::Size;

struct Plane {
  Size size;
  std::vector<float> values;

  explicit Plane(Size of = {}) : size(of), values(static_cast<size_t>(of.width) * static_cast<size_t>(of.height)) {}
  float& at(int x, int y) {
    return values[static_cast<size_t>(y) * static_cast<size_t>(size.width) + static_cast<size_t>(x)];
  }
  float at(int x, int y) const { return const_cast<Plane*>(this)->at(x, y); }
  float or_else(int x, int y, float outside) const {
    return x < 0 || y < 0 || x >= size.width || y >= size.height ? outside : at(x, y);
  }
};
using Three = std::array<Plane, 3>;

template <typename Pixel>
void each(Size size, Pixel pixel) {
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) pixel(x, y);
  }
}

template <typename Inside, typename Edge>
Plane blurred(const Plane& in, Blur blur, int radius, Inside inside, Edge edge) {
  Plane rows(in.size), out(in.size);
  const auto filter = [&](auto at, int place, int size) {
    return place >= radius && place < size - radius ? inside(at)
                                                    : edge(at, butteraugli::blur_edge_scale(blur, place, size));
  };
  each(in.size,
       [&](int x, int y) { rows.at(x, y) = filter([&](int i) { return in.or_else(x + i, y, 0); }, x, in.size.width); });
  each(in.size, [&](int x, int y) {
    out.at(x, y) = filter([&](int i) { return rows.or_else(x, y + i, 0); }, y, in.size.height);
  });
  return out;
}

#define PLAIN_BLUR(name, NAME, kind)                           \
  Plane name(const Plane& in) {                                \
    return blurred(                                            \
        in, Blur::kind, BLUR_##NAME##_RADIUS,                  \
        [](auto at) {                                          \
          real result;                                         \
          BLUR_##NAME(at, result) return result;               \
        },                                                     \
        [](auto at, real scale) {                              \
          real result;                                         \
          BLUR_##NAME##_EDGE(at, scale, result) return result; \
        });                                                    \
  }
PLAIN_BLUR(blur_low, LOW, low)
PLAIN_BLUR(blur_middle, MIDDLE, middle)
PLAIN_BLUR(blur_high, HIGH, high)
PLAIN_BLUR(blur_mask, MASK, mask)

int mirrored(int i, int size) { return i < 0 ? -1 - i : i >= size ? 2 * size - 1 - i : i; }

Plane soft_light(const Plane& in) {
  Plane rows(in.size), out(in.size);
  each(in.size, [&](int x, int y) {
    const auto at = [&](int i) { return in.at(mirrored(x + i, in.size.width), y); };
    rows.at(x, y) = blur_opsin(at(-2), at(-1), at(0), at(1), at(2));
  });
  each(in.size, [&](int x, int y) {
    const auto at = [&](int i) { return rows.at(x, mirrored(y + i, in.size.height)); };
    out.at(x, y) = blur_opsin(at(-2), at(-1), at(0), at(1), at(2));
  });
  return out;
}

struct Subbands {
  Three low, middle;
  std::array<Plane, 2> high, ultra;
  Plane activity;
};

Subbands subbands_of(const Three& light) {
  const Size size = light[0].size;
  const Three soft{soft_light(light[0]), soft_light(light[1]), soft_light(light[2])};
  Three xyb{Plane(size), Plane(size), Plane(size)};
  each(size, [&](int x, int y) {
    opsin_dynamics(light[0].at(x, y), light[1].at(x, y), light[2].at(x, y), soft[0].at(x, y), soft[1].at(x, y),
                   soft[2].at(x, y), 80.0f, xyb[0].at(x, y), xyb[1].at(x, y), xyb[2].at(x, y));
  });
  Subbands subbands;
  Three rest = xyb;
  for (size_t c = 0; c < 3; ++c) {
    subbands.low[c] = blur_low(xyb[c]);
    each(size, [&](int x, int y) { rest[c].at(x, y) = xyb[c].at(x, y) - subbands.low[c].at(x, y); });
    subbands.middle[c] = blur_middle(rest[c]);
  }
  std::array<Plane, 2> high{Plane(size), Plane(size)};
  each(size, [&](int x, int y) {
    low_values(subbands.low[0].at(x, y), subbands.low[1].at(x, y), subbands.low[2].at(x, y));
    const real soft_x = subbands.middle[0].at(x, y), soft_y = subbands.middle[1].at(x, y);
    split_middle(rest[0].at(x, y), rest[1].at(x, y), soft_x, soft_y, subbands.middle[0].at(x, y),
                 subbands.middle[1].at(x, y), high[0].at(x, y), high[1].at(x, y));
  });
  const Plane soft_x = blur_high(high[0]), soft_y = blur_high(high[1]);
  subbands.high = {Plane(size), Plane(size)};
  subbands.ultra = {Plane(size), Plane(size)};
  Plane busy(size);
  each(size, [&](int x, int y) {
    split_high_x(high[0].at(x, y), soft_x.at(x, y), subbands.high[0].at(x, y), subbands.ultra[0].at(x, y));
    split_high_y(high[1].at(x, y), soft_y.at(x, y), subbands.high[1].at(x, y), subbands.ultra[1].at(x, y));
    busy.at(x, y) = activity(subbands.high[0].at(x, y), subbands.high[1].at(x, y), subbands.ultra[0].at(x, y),
                             subbands.ultra[1].at(x, y));
  });
  subbands.activity = blur_mask(busy);
  return subbands;
}

Plane malta(bool nine, const Plane& a, const Plane& b, real symmetric, real one_sided, real norm) {
  Plane input(a.size), out(a.size);
  each(a.size, [&](int x, int y) { input.at(x, y) = malta_input(a.at(x, y), b.at(x, y), symmetric, one_sided, norm); });
  each(a.size, [&](int x, int y) {
    const auto at = [&](int dx, int dy) { return input.or_else(x + dx, y + dy, 0); };
    const auto row_at = [&](int dx, int dy) { return three(at(dx - 1, dy), at(dx, dy), at(dx + 1, dy)); };
    const auto column_at = [&](int dx, int dy) { return three(at(dx, dy - 1), at(dx, dy), at(dx, dy + 1)); };
    real result;
    if (nine) {
      MALTA_NINE(at, row_at, column_at, result)
    } else {
      MALTA_FIVE(at, result)
    }
    out.at(x, y) = result;
  });
  return out;
}

Plane scale_map(const Three& reference, const Three& distorted) {
  const Subbands a = subbands_of(reference), b = subbands_of(distorted);
  const Parameters p = butteraugli::make_parameters(1, 1);
  const std::array<std::array<Plane, 3>, 2> lines{
      {{malta(true, a.ultra[0], b.ultra[0], p.malta_ultra_x.symmetric, p.malta_ultra_x.one_sided, ULTRA_X_NORM),
        malta(false, a.high[0], b.high[0], p.malta_high_x.symmetric, p.malta_high_x.one_sided, HIGH_X_NORM),
        malta(false, a.middle[0], b.middle[0], MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM)},
       {malta(true, a.ultra[1], b.ultra[1], p.malta_ultra_y.symmetric, p.malta_ultra_y.one_sided, ULTRA_Y_NORM),
        malta(false, a.high[1], b.high[1], p.malta_high_y.symmetric, p.malta_high_y.one_sided, HIGH_Y_NORM),
        malta(false, a.middle[1], b.middle[1], MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM)}}};
  Plane map(a.activity.size);
  each(map.size, [&](int x, int y) {
    real smallest = a.activity.at(x, y), second = smallest + smallest, third = second;
    for (int dy = -3; dy <= 3; dy += 3) {
      for (int dx = -3; dx <= 3; dx += 3) {
        if (dx != 0 || dy != 0) erode(a.activity.or_else(x + dx, y + dy, ERODED_NOTHING), smallest, second, third);
      }
    }
    const auto difference = [&](const Plane& of_a, const Plane& of_b) { return of_a.at(x, y) - of_b.at(x, y); };
    const real dc = low_difference(difference(a.low[0], b.low[0]), difference(a.low[1], b.low[1]),
                                   difference(a.low[2], b.low[2]), p.xmul);
    const real middle = middle_difference(difference(a.middle[0], b.middle[0]), difference(a.middle[1], b.middle[1]),
                                          difference(a.middle[2], b.middle[2]), p.xmul);
    const real of_x =
        high_difference(a.high[0].at(x, y), b.high[0].at(x, y), p.pixel_high_x.symmetric, p.pixel_high_x.one_sided);
    const real of_y =
        high_difference(a.high[1].at(x, y), b.high[1].at(x, y), p.pixel_high_y.symmetric, p.pixel_high_y.one_sided);
    real ac = pixel_difference(middle, of_x, of_y, p.xmul);
    for (const Plane& plane : lines[0]) ac = fma(plane.at(x, y), p.xmul, ac);
    for (const Plane& plane : lines[1]) ac = ac + plane.at(x, y);
    real dc_gain, ac_gain;
    mask_gains(eroded(smallest, second, third), dc_gain, ac_gain);
    map.at(x, y) = masked_difference(dc_gain, ac_gain, dc, ac, difference(a.activity, b.activity));
  });
  return map;
}

Three light_of(const ImageView& view) {
  const WorkingSpace space{.encoding = WorkingSpace::Encoding::linear, .srgb_curve = WorkingSpace::SrgbCurve::libjxl};
  const Rows rows = *Rows::create(view, space, std::nullopt);
  const Size size{view.width, view.height};
  Three light{Plane(size), Plane(size), Plane(size)};
  for (int y = 0; y < size.height; ++y) {
    rows.read(y, 0, size.width, &light[0].at(0, y), &light[1].at(0, y), &light[2].at(0, y));
  }
  return light;
}

Three halved(const Three& light) {
  const Size from = light[0].size, size = butteraugli::half(from);
  Three result{Plane(size), Plane(size), Plane(size)};
  for (size_t c = 0; c < 3; ++c) {
    each(size, [&](int x, int y) {
      const auto at = [&](int i, int j) { return light[c].or_else(2 * x + i, 2 * y + j, 0); };
      const real factor = 0.25f * (2 * x + 1 == from.width ? 2.0f : 1.0f) * (2 * y + 1 == from.height ? 2.0f : 1.0f);
      result[c].at(x, y) = halve(at(0, 0), at(1, 0), at(0, 1), at(1, 1), factor);
    });
  }
  return result;
}

}  // namespace

std::vector<float> plain_butteraugli(const ImageView& reference, const ImageView& distorted) {
  const Three a = light_of(reference), b = light_of(distorted);
  Plane map = scale_map(a, b);
  if (butteraugli::large_enough(butteraugli::half(map.size))) {
    const Plane of_half = scale_map(halved(a), halved(b));
    each(map.size, [&](int x, int y) { map.at(x, y) = both_resolutions(map.at(x, y), of_half.at(x / 2, y / 2)); });
  }
  return map.values;
}

}  // namespace acuity::tests
