// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/display.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/library_power.h"
#include "base/powers.h"

namespace acuity::cvvdp {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInch = 0.0254;
constexpr double kDefaultContrast = 500, kDistanceOfFieldOfView = 3;

// The C library's functions of angles differ between processors in the last bit; these do not.
double arc_tangent(double x) {
  int doublings = 0;
  for (; std::fabs(x) > 0.05; ++doublings) x /= 1 + std::sqrt(1 + x * x);
  double sum = 0;
  for (int i = 15; i >= 1; i -= 2) sum = 1.0 / i - x * x * sum;
  return std::ldexp(x * sum, doublings);
}

// For angles from 0 to below pi / 2.
double tangent(double angle) {
  const double x = angle / 16;
  double sine = 1, cosine = 1;
  for (int i = 16; i >= 2; i -= 2) {
    sine = 1 - x * x / (i * (i + 1)) * sine;
    cosine = 1 - x * x / (i * (i - 1)) * cosine;
  }
  double result = x * sine / cosine;
  for (int doubling = 0; doubling < 4; ++doubling) result = 2 * result / (1 - result * result);
  return result;
}

using Matrix = std::array<float, 9>;

// Products as the reference takes them, in 32-bit floats, each product added without a rounding of its own.
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      float& sum = result[3 * row + column];
      for (size_t k = 0; k < 3; ++k) sum = std::fma(a[3 * row + k], b[3 * k + column], sum);
    }
  }
  return result;
}

Matrix to_channels(const std::array<double, 9>& to_xyz) {
  // Cones of CIE 2006, and the opponent channels at the white of D65.
  constexpr Matrix kCones = {0.187596268556126f,  0.585168649077728f,  -0.026384263306304f,
                             -0.133397430663221f, 0.405505777260049f,  0.034502127690364f,
                             0.000244379021663f,  -0.000542995890619f, 0.019406849066323f};
  constexpr Matrix kOpponents = {1, 1, 0, 1, -2.311130179947035f, 0, -1, -1, 50.977571328718781f};
  Matrix xyz;
  std::transform(to_xyz.begin(), to_xyz.end(), xyz.begin(), [](double value) { return static_cast<float>(value); });
  return product(product(kOpponents, kCones), xyz);
}

const ColourSpace* find_colour_space(std::string_view name) {
  const std::span<const ColourSpace> all = colour_spaces();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ColourSpace& space) { return space.name == name; });
  return found == all.end() ? nullptr : &*found;
}

double black_of(const Display& display) {
  return display.black.value_or(display.peak / display.contrast.value_or(kDefaultContrast));
}

struct Limit {
  const char* what;
  double value, least, most;
};

}  // namespace

std::string_view name_of(Eotf eotf) {
  switch (eotf) {
    case Eotf::srgb:
      return "sRGB";
    case Eotf::gamma:
      return "gamma";
    case Eotf::pq:
      return "PQ";
    case Eotf::hlg:
      return "HLG";
    case Eotf::linear:
      break;
  }
  return "linear";
}

Status check_display(const Display& display) {
  const auto refuse = [&](const std::string& why) {
    return Status(StatusCode::usage, fmt::format("the display '{}' cannot be used: {}", display.name, why));
  };
  if (find_colour_space(display.colour_space) == nullptr) {
    return refuse(
        fmt::format("its colorspace is '{}'; expected one of ColorVideoVDP's, such as sRGB, BT.2020-PQ or "
                    "BT.2020-HLG",
                    display.colour_space));
  }
  const Limit limits[] = {
      {"max_luminance", display.peak, 0.1, 1e6},
      {"contrast", display.contrast.value_or(kDefaultContrast), 1, 1e12},  // before what is computed from it
      {"min_luminance", black_of(display), 0, display.peak},
      {"E_ambient", display.ambient, 0, 1e6},
      {"k_refl", display.reflectivity, 0, 1},
      {"exposure", display.exposure, 1e-6, 1e6},
      {"pixels_per_degree", display.pixels_per_degree.value_or(1), 0.1, 10000},
      {"the diagonal in inches", display.diagonal_inches.value_or(1), 0.01, 1e5},
      {"fov_diagonal", display.field_of_view.value_or(90), 0.1, 179},
      {"the viewing distance in metres", display.distance.value_or(1), 0.001, 1e5},
  };
  for (const Limit& limit : limits) {
    if (limit.value >= limit.least && limit.value <= limit.most) continue;
    return refuse(fmt::format("{} is {}; expected {} to {}", limit.what, limit.value, limit.least, limit.most));
  }
  // Any two pictures would be the same there.
  if (black_of(display) == display.peak) return refuse("its black is as bright as its white");
  if (display.pixels_per_degree) return {};
  if (display.width < 1 || display.height < 1) return refuse("it has no resolution; give one, or pixels_per_degree");
  if (!display.diagonal_inches && !display.field_of_view) {
    return refuse("it has neither diagonal_size_inches nor fov_diagonal; give one, or pixels_per_degree");
  }
  if (!display.distance && !display.field_of_view) {
    return refuse("it has no viewing_distance_meters; give it, or pixels_per_degree");
  }
  const double ppd = pixels_per_degree(display);
  if (!(ppd >= 0.1 && ppd <= 10000)) {
    return refuse(
        fmt::format("its size, resolution and distance give {} pixels per degree; expected 0.1 to 10000", ppd));
  }
  return {};
}

double pixels_per_degree(const Display& display) {
  if (display.pixels_per_degree) return *display.pixels_per_degree;
  const double columns = display.width, rows = display.height, aspect = columns / rows;
  const double distance = display.distance.value_or(kDistanceOfFieldOfView);
  double height = 0;
  if (display.field_of_view) {
    const double pixels =
        std::sqrt(columns * columns + rows * rows) / (2 * tangent(*display.field_of_view * kPi / 360));
    height = 2 * (rows / 2 / pixels) * distance;
  } else {
    const double diagonal = *display.diagonal_inches * kInch;
    height = std::sqrt(diagonal * diagonal / (1 + aspect * aspect));
  }
  const double pixel = height * aspect / columns;
  return 1 / (2 * arc_tangent(0.5 * pixel / distance) * 180 / kPi);
}

Result<Photometry> Photometry::create(const Display& display) {
  const ColourSpace& space = *find_colour_space(display.colour_space);
  const double black = black_of(display);
  Photometry result;
  result.eotf_ = space.eotf;
  result.gamma_ = static_cast<float>(space.gamma);
  result.exposure_ = static_cast<float>(display.exposure);
  result.range_ = static_cast<float>(display.peak - black);
  result.black_ = static_cast<float>(black);
  result.reflection_ = static_cast<float>(display.ambient / kPi * display.reflectivity);
  result.least_ = static_cast<float>(std::max(0.005, black));
  result.peak_ = static_cast<float>(display.peak);
  result.matrix_ = to_channels(space.to_xyz);
  if (space.eotf == Eotf::hlg) {
    double gamma = 1.2;
    if (display.peak > 1000) {
      gamma += 0.42 * exact_log10(display.peak / 1000);
      if (display.ambient > 0) gamma -= 0.07623 * exact_log10(display.ambient / 5);
    }
    if (gamma < 1) {
      return Status(StatusCode::usage, fmt::format("the display '{}' cannot show HLG in {} lux: its system gamma would "
                                                   "be {:.3g}; expected at least 1, so lower the ambient light",
                                                   display.name, display.ambient, gamma));
    }
    result.hlg_exponent_ = static_cast<float>(gamma - 1);
  }
  return result;
}

float Photometry::shown(float fraction) const { return range_ * fraction + black_ + reflection_; }

float Photometry::light_of(float sample) const {
  if (eotf_ == Eotf::linear) return std::clamp(sample * exposure_, least_, peak_) + reflection_;
  const float v = std::clamp(sample, 0.0f, 1.0f);
  switch (eotf_) {
    case Eotf::srgb: {
      const float light = v > 0.04045f ? library_power((v + 0.055f) / 1.055f, 2.4f) : v / 12.92f;
      return shown(exposure_ == 1 ? light : std::clamp(light * exposure_, 0.0f, 1.0f));
    }
    case Eotf::gamma:
      return shown(std::clamp(library_power(v, gamma_) * exposure_, 0.0f, 1.0f));
    case Eotf::pq: {
      // Rounded after every step: a unit in the last place of t is worth 5e-5 of the light.
      const float t = library_power(v, static_cast<float>(1 / 78.84375));
      const float ratio = std::max(t - 0.8359375f, 0.0f) / (18.8515625f - 18.6875f * t);
      const float nits = 10000.0f * library_power(ratio, static_cast<float>(1 / 0.1593017578125));
      return std::clamp(nits * exposure_, 0.005f, peak_) + black_ + reflection_;
    }
    case Eotf::hlg: {
      constexpr double a = 0.17883277, b = 1 - 4 * a;
      const double c = 0.5 - a * exact_log(4 * a);
      if (v <= 0.5f) return v * v / 3;
      return static_cast<float>((exact_exp((static_cast<double>(v) - c) / a) + b) / 12);
    }
    case Eotf::linear:
      break;
  }
  return 0;
}

}  // namespace acuity::cvvdp
