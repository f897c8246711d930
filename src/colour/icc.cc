// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/icc.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <lcms2.h>

#include "base/powers.h"
#include "colour/transfer.h"

namespace acuity {
namespace {

// Half a step of an 8-bit sRGB picture where its steps are smallest (1 / 255 / 12.92 = 3.0e-4 of light, in the darks).
// The sRGB profiles in circulation differ by less, through rounded matrices and tables of curves; gamma 2.2 differs by
// more than 50 times as much.
constexpr double kSrgbTolerance = 1.5e-4;

struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
using ContextPointer =
    std::shared_ptr<std::remove_pointer_t<cmsContext>>;  // everything made in a context must go before it
using ProfilePointer = std::unique_ptr<void, CloseProfile>;

class Transform {
 public:
  Transform(ContextPointer context, cmsHTRANSFORM transform) : context_(std::move(context)), transform_(transform) {}
  ~Transform() { cmsDeleteTransform(transform_); }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void run(const float* encoded, float* rgb, int count) const {
    cmsDoTransform(transform_, encoded, rgb, static_cast<cmsUInt32Number>(count));
  }

 private:
  ContextPointer context_;
  cmsHTRANSFORM transform_;
};

Status unusable(std::string_view what) {
  return Status(StatusCode::input,
                fmt::format("the ICC profile {}; remove the profile or convert the picture to sRGB", what));
}

std::string name_of(cmsHPROFILE profile) {
  std::array<char, 128> text{};
  cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", text.data(), text.size() - 1);
  std::string name(text.data());
  std::erase_if(name, [](char c) { return c < ' ' || c > '~'; });
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "unnamed" : name;
}

// The curve of a type of parametricCurveType: a power of a line, and another line below. lcms2 would take the C
// library's power, whose last bit depends on the processor.
Curve parametric_curve(int type, const cmsFloat64Number* given) {
  const auto power_of_line = [g = given[0]](double line) {
    const double power = line > 0 ? exact_power(line, g) : 0;
    return power < 1e22 ? power : 1e22;  // lcms2's infinity
  };
  if (type == 1) return power_of_line;
  const double a = given[1], b = given[2];
  // From where on the line counts, what is added to its power, and the line below: slope and offset.
  double from = 0, added = 0, slope = 0, below = 0;
  if (type == 2 || type == 3) {
    from = a != 0 ? -b / a : 0;
    if (type == 3) added = below = given[3];
  } else {
    slope = given[3];
    from = given[4];
    if (type == 5) added = given[5];
    if (type == 5) below = given[6];
  }
  return [=](double x) { return x >= from ? power_of_line(a * x + b) + added : slope * x + below; };
}

// lcms2 evaluates tables in 16 bit, which leaves a dark sample a dozen levels; a table is interpolated here instead.
Curve curve_of(const cmsToneCurve* tone) {
  const int type = cmsGetToneCurveParametricType(tone);
  if (type >= 1 && type <= 5) return parametric_curve(type, cmsGetToneCurveParams(tone));
  if (type != 0 || cmsIsToneCurveMultisegment(tone)) return nullptr;  // no tag holds such
  const cmsUInt16Number* first = cmsGetToneCurveEstimatedTable(tone);
  const std::vector<uint16_t> table(first, first + cmsGetToneCurveEstimatedTableEntries(tone));
  if (table.size() < 2) return nullptr;
  return [table](double x) {
    const double position = std::clamp(x, 0.0, 1.0) * static_cast<double>(table.size() - 1);
    const size_t below = std::min(static_cast<size_t>(position), table.size() - 2);
    const double part = position - static_cast<double>(below);
    return ((1 - part) * table[below] + part * table[below + 1]) / 65535;
  };
}

bool has_lookup_table(cmsHPROFILE profile) {
  const auto has = [profile](cmsTagSignature tag) { return cmsIsTag(profile, tag) != 0; };
  return has(cmsSigAToB0Tag) || has(cmsSigAToB1Tag) || has(cmsSigDToB0Tag) || has(cmsSigDToB1Tag);
}

bool read_curve(cmsHPROFILE profile, cmsTagSignature tag, Curve& curve) {
  const auto* tone = static_cast<const cmsToneCurve*>(cmsReadTag(profile, tag));
  if (tone != nullptr) curve = curve_of(tone);
  return tone != nullptr && curve != nullptr;
}

// Curves and a matrix, straight from the tags.
bool read_shaper(cmsHPROFILE profile, IccConversion& conversion) {
  constexpr std::array kCurves{cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
  constexpr std::array kColorants{cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
  Matrix3 to_xyz{};
  for (size_t c = 0; c < 3; ++c) {
    const auto* colorant = static_cast<const cmsCIEXYZ*>(cmsReadTag(profile, kColorants[c]));
    if (colorant == nullptr || !read_curve(profile, kCurves[c], conversion.curves[c])) return false;
    to_xyz[0][c] = colorant->X;
    to_xyz[1][c] = colorant->Y;
    to_xyz[2][c] = colorant->Z;
  }
  conversion.matrix = icc_xyz_to_bt709() * to_xyz;
  return inverse(to_xyz).has_value();
}

std::shared_ptr<const Transform> make_transform(const ContextPointer& context, cmsHPROFILE profile, bool grey) {
  const cmsCIExyY white{0.3127, 0.3290, 1};
  const cmsCIExyYTRIPLE primaries{{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
  cmsToneCurve* straight = cmsBuildGamma(context.get(), 1.0);
  cmsToneCurve* curves[3] = {straight, straight, straight};
  const ProfilePointer linear(cmsCreateRGBProfileTHR(context.get(), &white, &primaries, curves));
  cmsFreeToneCurve(straight);
  if (!linear) return nullptr;
  // Without the one-pixel cache a transform may be used from several threads.
  cmsHTRANSFORM transform =
      cmsCreateTransformTHR(context.get(), profile, grey ? TYPE_GRAY_FLT : TYPE_RGB_FLT, linear.get(), TYPE_RGB_FLT,
                            INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_NOCACHE);
  if (transform == nullptr) return nullptr;
  return std::make_shared<const Transform>(context, transform);
}

std::function<void(float*, float*, float*, int)> pixels_through(std::shared_ptr<const Transform> transform) {
  return [transform = std::move(transform)](float* red, float* green, float* blue, int count) {
    constexpr int kBlock = 64;
    std::array<float, 3 * kBlock> encoded, light;
    for (int begin = 0; begin < count; begin += kBlock) {
      const int size = std::min(kBlock, count - begin);
      for (int i = 0; i < size; ++i) {
        const size_t at = 3 * static_cast<size_t>(i);
        encoded[at] = red[begin + i];
        encoded[at + 1] = green[begin + i];
        encoded[at + 2] = blue[begin + i];
      }
      transform->run(encoded.data(), light.data(), size);
      for (int i = 0; i < size; ++i) {
        const size_t at = 3 * static_cast<size_t>(i);
        red[begin + i] = light[at];
        green[begin + i] = light[at + 1];
        blue[begin + i] = light[at + 2];
      }
    }
  };
}

double luminance(const Vector3& rgb) {
  static const Vector3 weights = (*rgb_to_xyz({}))[1];
  return weights[0] * rgb[0] + weights[1] * rgb[1] + weights[2] * rgb[2];
}

Vector3 evaluate(const IccConversion& conversion, const Vector3& encoded) {
  if (conversion.pixels) {
    auto r = static_cast<float>(encoded[0]), g = static_cast<float>(encoded[1]), b = static_cast<float>(encoded[2]);
    conversion.pixels(&r, &g, &b, 1);
    return {r, g, b};
  }
  const auto& curves = conversion.curves;
  const Vector3 light{curves[0](encoded[0]), curves[1](encoded[1]), curves[2](encoded[2])};
  return conversion.matrix ? *conversion.matrix * light : light;
}

bool is_srgb(const IccConversion& conversion, bool grey) {
  const auto agrees = [&conversion](const Vector3& encoded) {
    const Vector3 light = evaluate(conversion, encoded);
    for (size_t c = 0; c < 3; ++c) {
      // Written so that a NaN does not agree.
      if (!(std::abs(light[c] - srgb_to_linear(encoded[c])) <= kSrgbTolerance)) return false;
    }
    return true;
  };
  for (int v = 0; v <= 255; ++v) {
    if (!agrees({v / 255.0, v / 255.0, v / 255.0})) return false;
  }
  constexpr int kGrid = 8;
  for (int i = 0; i < (kGrid + 1) * (kGrid + 1) * (kGrid + 1) && !grey; ++i) {
    const int r = i % (kGrid + 1), g = i / (kGrid + 1) % (kGrid + 1), b = i / (kGrid + 1) / (kGrid + 1);
    if (!agrees({r / double{kGrid}, g / double{kGrid}, b / double{kGrid}})) return false;
  }
  return true;
}

}  // namespace

Result<IccConversion> read_icc(std::span<const uint8_t> bytes, bool grey) {
  const ContextPointer context(cmsCreateContext(nullptr, nullptr), [](cmsContext made) {
    if (made != nullptr) cmsDeleteContext(made);
  });
  if (!context) return Status(StatusCode::internal, "out of memory while reading an ICC profile");
  cmsSetLogErrorHandlerTHR(context.get(), [](cmsContext, cmsUInt32Number, const char*) {});
  const ProfilePointer profile(
      cmsOpenProfileFromMemTHR(context.get(), bytes.data(), static_cast<cmsUInt32Number>(bytes.size())));
  if (!profile) return unusable(fmt::format("({} bytes) is damaged", bytes.size()));

  IccConversion conversion;
  conversion.name = name_of(profile.get());
  // As a number: a damaged profile may name a space that the enumeration does not have.
  const auto space = static_cast<uint32_t>(cmsGetColorSpace(profile.get()));
  const bool grey_profile = space == cmsSigGrayData;
  if (!grey_profile && space != cmsSigRgbData) {
    return unusable(fmt::format("'{}' is for neither grey nor RGB samples", conversion.name));
  }
  if (grey_profile && !grey)
    return unusable(fmt::format("'{}' is for grey samples, but the picture is RGB", conversion.name));

  const bool plain = !has_lookup_table(profile.get()) && cmsGetPCS(profile.get()) == cmsSigXYZData;
  if (plain && grey_profile) {
    Curve curve;
    if (!read_curve(profile.get(), cmsSigGrayTRCTag, curve))
      return unusable(fmt::format("'{}' is damaged", conversion.name));
    conversion.curves = {curve, curve, curve};
  } else if (plain) {
    if (!read_shaper(profile.get(), conversion)) return unusable(fmt::format("'{}' is damaged", conversion.name));
  } else {
    std::shared_ptr<const Transform> transform = make_transform(context, profile.get(), grey_profile);
    if (!transform) return unusable(fmt::format("'{}' is damaged or of an unsupported kind", conversion.name));
    if (grey_profile) {
      const Curve curve = [transform](double x) {
        const auto encoded = static_cast<float>(x);
        std::array<float, 3> rgb{};
        transform->run(&encoded, rgb.data(), 1);
        return luminance({rgb[0], rgb[1], rgb[2]});
      };
      conversion.curves = {curve, curve, curve};
    } else {
      conversion.pixels = pixels_through(std::move(transform));
    }
  }

  conversion.is_srgb = is_srgb(conversion, grey);
  if (grey && !grey_profile) {
    const Curve curve = [rgb = conversion](double x) { return luminance(evaluate(rgb, {x, x, x})); };
    conversion.curves = {curve, curve, curve};
    conversion.matrix.reset();
    conversion.pixels = nullptr;
  }
  return conversion;
}

}  // namespace acuity
