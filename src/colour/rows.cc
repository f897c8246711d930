// SPDX-License-Identifier: BSD-2-Clause-Patent
// A pixel passes three steps: each sample through a curve (a table where samples are integers), the three of them
// through a matrix or whatever else mixes channels, and, where a metric wants codes of a picture that is not sRGB, the
// sRGB curve. create() decides which of them a picture needs and folds what it can into the first.
#include "colour/rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/powers.h"
#include "colour/icc.h"
#include "colour/primaries.h"
#include "colour/samples.h"
#include "colour/srgb_codes.h"
#include "colour/transfer.h"

namespace acuity {
namespace {

using Pixels = std::function<void(float* red, float* green, float* blue, int count)>;

Pixels multiply_by(const Matrix3& matrix) {
  return [matrix](float* red, float* green, float* blue, int count) {
    for (int i = 0; i < count; ++i) {
      const Vector3 rgb = matrix * Vector3{red[i], green[i], blue[i]};
      red[i] = static_cast<float>(rgb[0]);
      green[i] = static_cast<float>(rgb[1]);
      blue[i] = static_cast<float>(rgb[2]);
    }
  };
}

// Scene light to the light of a display; `scale` is the display's peak in units of the working space.
Pixels show_hlg(const Vector3& luminance, double gamma, double scale) {
  return [=](float* red, float* green, float* blue, int count) {
    for (int i = 0; i < count; ++i) {
      const double y = luminance[0] * red[i] + luminance[1] * green[i] + luminance[2] * blue[i];
      const double factor = y > 0 ? scale * exact_power(y, gamma - 1) : 0;
      red[i] = static_cast<float>(factor * red[i]);
      green[i] = static_cast<float>(factor * green[i]);
      blue[i] = static_cast<float>(factor * blue[i]);
    }
  };
}

std::string name_of(const Colour& colour) {
  switch (colour.transfer) {
    case Transfer::srgb:
      return "sRGB";
    case Transfer::linear:
      return "linear";
    case Transfer::gamma:
      return fmt::format("gamma {:.6g}", colour.gamma);
    case Transfer::bt1886:
      return "BT.1886";
    case Transfer::pq:
      return "PQ";
    case Transfer::hlg:
      break;
  }
  return fmt::format("HLG on a display of {:.6g} nit", colour.peak_nits);
}

std::string name_of(Primaries primaries) {
  switch (primaries) {
    case Primaries::bt709:
      return "BT.709";
    case Primaries::display_p3:
      return "Display P3";
    case Primaries::bt2020:
      return "BT.2020";
    case Primaries::custom:
      break;
  }
  return "the file's own";
}

std::string target_of(bool codes) { return codes ? "sRGB codes" : "linear light of BT.709 primaries"; }

std::string describe(const IccConversion& icc, bool codes) {
  if (icc.is_srgb) return fmt::format("ICC profile '{}' is sRGB and read as such", icc.name);
  return fmt::format("ICC profile '{}' converted to {}, relative colorimetric", icc.name, target_of(codes));
}

std::string describe(const ImageView& view, const WorkingSpace& space, bool srgb) {
  const Colour& colour = view.colour;
  const bool codes = space.encoding == WorkingSpace::Encoding::srgb_codes;
  if (srgb) return codes ? "sRGB samples taken as they are" : "sRGB decoded to linear light";
  const bool bt709 = view.is_grey() || same_primaries(chromaticities_of(colour), {});
  if (colour.transfer == Transfer::linear && bt709 && !codes) return "linear light taken as it is";
  const std::string primaries = view.is_grey() ? "" : fmt::format(" with {} primaries", name_of(colour.primaries));
  const bool absolute = colour.transfer == Transfer::pq || colour.transfer == Transfer::hlg;
  const std::string white = absolute ? fmt::format(", white at {:.6g} nit", space.nits_of_one) : "";
  return fmt::format("{}{} converted to {}{}", name_of(colour), primaries, target_of(codes), white);
}

Status check(const ImageView& view, const WorkingSpace& space, std::optional<float> background) {
  const Colour& colour = view.colour;
  if (view.has_alpha() && !background) {
    return Status(StatusCode::internal, "a picture with alpha was to be read without a background to put it on");
  }
  if (colour.icc) return {};
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (colour.transfer == Transfer::gamma && !positive(colour.gamma)) {
    return Status(StatusCode::input,
                  fmt::format("the picture's gamma is {}; expected a positive number", colour.gamma));
  }
  // Below this the system gamma of HLG is no longer positive.
  if (colour.transfer == Transfer::hlg && !(positive(colour.peak_nits) && hlg_system_gamma(colour.peak_nits) > 0)) {
    return Status(StatusCode::input,
                  fmt::format("the peak of the HLG display is {} nit; expected at least 2", colour.peak_nits));
  }
  if (!positive(space.nits_of_one)) {
    return Status(StatusCode::usage,
                  fmt::format("1.0 was to mean {} nit; expected a positive number", space.nits_of_one));
  }
  return {};
}

}  // namespace

struct Rows::Conversion {
  std::array<Channel, 3> channels;
  std::vector<Pixels> pixels;
  bool encode = false;
  int maximum = 0;  // of integer samples
  float background = 0;
  Load load = nullptr;

  void set_curve(const Curve& curve) {
    for (Channel& channel : channels) channel = Channel::general(curve);
  }
  void set_srgb(WorkingSpace::SrgbCurve curve);
  Status set_colour(const ImageView& view, const WorkingSpace& space);
  void set_icc(const IccConversion& icc);
  void finish(const ImageView& view, bool srgb);
};

void Rows::Conversion::set_srgb(WorkingSpace::SrgbCurve curve) {
  set_curve(srgb_to_linear);
  if (curve == WorkingSpace::SrgbCurve::libjxl) {
    for (Channel& channel : channels) channel.kind = Channel::Kind::srgb_libjxl;
  }
}

// Samples described by a Colour, to linear light. Grey has no primaries: white is white.
Status Rows::Conversion::set_colour(const ImageView& view, const WorkingSpace& space) {
  const Colour& colour = view.colour;
  const Chromaticities from = chromaticities_of(colour);
  const std::optional<Matrix3> matrix = to_bt709(from);
  if (!matrix)
    return Status(StatusCode::input, "the picture's primaries do not span a colour space; correct or remove them");
  const double nits = space.nits_of_one;
  switch (colour.transfer) {
    case Transfer::srgb:
      set_srgb(space.srgb_curve);
      break;
    case Transfer::linear:
      break;
    case Transfer::gamma:
      set_curve([exponent = colour.gamma](double x) { return signed_power(x, exponent); });
      break;
    case Transfer::bt1886:
      set_curve([](double x) { return signed_power(x, 2.4); });
      break;
    case Transfer::pq:
      set_curve([nits](double x) { return pq_to_nits(x) / nits; });
      break;
    case Transfer::hlg: {
      const double gamma = hlg_system_gamma(colour.peak_nits), scale = colour.peak_nits / nits;
      if (view.is_grey()) {
        set_curve([=](double x) { return scale * exact_power(hlg_to_scene(x), gamma); });
      } else {
        set_curve(hlg_to_scene);
        pixels.push_back(show_hlg((*rgb_to_xyz(from))[1], gamma, scale));
      }
    }
  }
  if (!view.is_grey() && !same_primaries(from, {})) pixels.push_back(multiply_by(*matrix));
  return {};
}

void Rows::Conversion::set_icc(const IccConversion& icc) {
  for (size_t c = 0; c < 3; ++c) {
    if (icc.curves[c]) channels[c] = Channel::general(icc.curves[c]);
  }
  if (icc.matrix) pixels.push_back(multiply_by(*icc.matrix));
  if (icc.pixels) pixels.push_back(icc.pixels);
}

void Rows::Conversion::finish(const ImageView& view, bool srgb) {
  if (encode && pixels.empty()) {
    for (Channel& channel : channels) {
      const Curve to_light = channel.kind == Channel::Kind::scale ? Curve([](double x) { return x; }) : channel.curve;
      channel = Channel::general([to_light](double x) { return 255 * linear_to_srgb(to_light(x)); });
    }
    encode = false;
  }
  load = load_for(view);
  if (view.type != SampleType::f32) maximum = (1 << view.depth) - 1;
  const bool own_curves = view.colour.icc && !srgb;  // otherwise all channels have the same
  for (Channel& channel : channels) {
    channel.transparent = channel.value(background);
    if (view.type == SampleType::f32) continue;
    if (srgb) {
      channel.table = srgb_table(channel, view.depth);
    } else {
      channel.table = own_curves || &channel == &channels[0]
                          ? std::make_shared<const Table>(make_table(channel, view.depth))
                          : channels[0].table;
    }
    if (view.is_grey()) break;
  }
}

Result<Rows> Rows::create(const ImageView& view, const WorkingSpace& space, std::optional<float> background) {
  if (Status status = check(view, space, background); !status.ok()) return status;
  const Colour& colour = view.colour;
  IccConversion icc;
  if (colour.icc) {
    Result<IccConversion> read = read_icc(*colour.icc, view.is_grey());
    if (!read.ok()) return read.status();
    icc = *std::move(read);
  }
  const bool srgb = colour.icc ? icc.is_srgb
                               : colour.transfer == Transfer::srgb &&
                                     (view.is_grey() || same_primaries(chromaticities_of(colour), {}));
  const bool codes = space.encoding == WorkingSpace::Encoding::srgb_codes;

  Conversion conversion;
  conversion.background = background.value_or(0);
  if (srgb && codes) {
    for (Channel& channel : conversion.channels) channel.factor = 255;
  } else if (srgb) {
    conversion.set_srgb(space.srgb_curve);
  } else if (colour.icc) {
    conversion.set_icc(icc);
  } else if (Status status = conversion.set_colour(view, space); !status.ok()) {
    return status;
  }
  conversion.encode = codes && !srgb;
  conversion.finish(view, srgb);

  Rows rows;
  rows.view_ = view;
  rows.description_ = colour.icc ? describe(icc, codes) : describe(view, space, srgb);
  rows.conversion_ = std::make_shared<const Conversion>(std::move(conversion));
  return rows;
}

std::span<const float> Rows::code_table() const {
  const std::shared_ptr<const Table>& table = conversion_->channels[0].table;
  const bool plain = view_.channels == Channels::rgb && table && table == conversion_->channels[1].table &&
                     table == conversion_->channels[2].table && conversion_->pixels.empty() && !conversion_->encode;
  const ptrdiff_t sample = view_.type == SampleType::u8 ? 1 : 2;
  const bool packed = view_.pixel_stride == 3 * sample && view_.planes[1] == view_.planes[0] + sample &&
                      view_.planes[2] == view_.planes[1] + sample;
  return plain && packed ? std::span<const float>(*table) : std::span<const float>();
}

void Rows::read(int y, int x_begin, int x_end, float* red, float* green, float* blue) const {
  const Conversion& conversion = *conversion_;
  const ptrdiff_t offset = y * view_.row_stride + x_begin * view_.pixel_stride;
  const int count = x_end - x_begin;
  const auto load = [&](size_t channel, float* to) {
    const std::byte* alpha =
        view_.has_alpha() ? view_.planes[static_cast<size_t>(view_.channel_count() - 1)] + offset : nullptr;
    conversion.load(conversion.channels[channel], {view_.planes[channel] + offset, alpha, view_.pixel_stride, count},
                    conversion.maximum, conversion.background, to);
  };
  load(0, red);
  if (view_.is_grey()) {
    std::copy_n(red, count, green);
    std::copy_n(red, count, blue);
    return;
  }
  load(1, green);
  load(2, blue);
  for (const Pixels& step : conversion.pixels) step(red, green, blue, count);
  if (conversion.encode) {
    for (float* samples : {red, green, blue}) encode_srgb_codes(samples, count);
  }
}

}  // namespace acuity
