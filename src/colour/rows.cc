// SPDX-License-Identifier: BSD-2-Clause-Patent
// A pixel passes three steps: each sample through a curve (a table where samples are integers), the three of them
// through a matrix or whatever else mixes channels, and, where a metric wants codes of a picture that is not sRGB, the
// sRGB curve. create() decides which of them a picture needs and folds what it can into the first.
#include "colour/rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "colour/icc.h"
#include "colour/primaries.h"
#include "colour/samples.h"
#include "colour/steps.h"
#include "colour/transfer.h"

namespace acuity {
namespace {

using Pixels = std::function<void(float* red, float* green, float* blue, int count)>;

std::string name_of(const Colour& colour) {
  if (colour.transfer != Transfer::hlg) return transfer_name(colour);
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
  if (srgb) return codes ? "sRGB codes used as they are" : "sRGB decoded to linear light";
  const bool bt709 = same_primaries(chromaticities_of(colour), {});
  if (colour.transfer == Transfer::linear && bt709 && !codes) return "linear light used as it is";
  const std::string primaries =
      view.is_grey() && bt709 ? "" : fmt::format(" with {} primaries", name_of(colour.primaries));
  const bool absolute = colour.transfer == Transfer::pq || colour.transfer == Transfer::hlg;
  const std::string white = absolute ? fmt::format(", white at {:.6g} nit", space.nits_of_one) : "";
  return fmt::format("{}{} converted to {}{}", name_of(colour), primaries, target_of(codes), white);
}

Status check(const ImageView& view, const WorkingSpace& space, std::optional<float> background) {
  const Colour& colour = view.colour;
  if (view.has_alpha() && !background) {
    return Status(StatusCode::internal, "a picture with alpha needs a background and has none");
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
    return Status(StatusCode::usage, fmt::format("white is {} nit; expected a positive number", space.nits_of_one));
  }
  return {};
}

}  // namespace

struct Rows::Maker {
  std::array<Channel, 3> channels;
  PixelConversion steps;
  Pixels profile;   // what a profile does between the curves and those steps
  int maximum = 0;  // of integer samples
  float background = 0;
  Load load = nullptr;

  void set_curve(int curve, double a, const Curve& function) {
    const SampleConversion of_samples{.curve = curve, .a = static_cast<float>(a)};
    for (Channel& channel : channels) channel = {of_samples, function, a};
  }
  void set_scale(double factor) {
    set_curve(CURVE_SCALE, factor, [factor](double x) { return x * factor; });
  }
  void set_srgb(WorkingSpace::SrgbCurve curve) {
    switch (curve) {
      case WorkingSpace::SrgbCurve::exact:
        return set_curve(CURVE_SRGB, 1, srgb_to_linear);
      case WorkingSpace::SrgbCurve::libjxl:
        return set_curve(CURVE_SRGB_LIBJXL, 1, srgb_to_linear);
      case WorkingSpace::SrgbCurve::single:
        return set_curve(CURVE_SRGB_SINGLE, 1, [](double x) { return srgb_to_linear_single(static_cast<float>(x)); });
      case WorkingSpace::SrgbCurve::smooth:
        return set_curve(CURVE_SRGB_SMOOTH, 1, srgb_to_linear_smooth);
    }
  }
  void set_matrix(const Matrix3& matrix);
  Status set_colour(const ImageView& view, const WorkingSpace& space);
  void set_profile(const IccConversion& icc);
  void encode();
  void finish(const ImageView& view);
};

void Rows::Maker::set_matrix(const Matrix3& matrix) {
  steps.steps |= STEP_MATRIX;
  for (size_t i = 0; i < 9; ++i) steps.matrix[i] = static_cast<float>(matrix[i / 3][i % 3]);
}

// Samples described by a Colour, to linear light. Grey takes the way of RGB of three equal samples: the matrix and the
// display's part of HLG round, and metrics see even a float's last bit.
Status Rows::Maker::set_colour(const ImageView& view, const WorkingSpace& space) {
  const Colour& colour = view.colour;
  const Chromaticities from = chromaticities_of(colour);
  const std::optional<Matrix3> matrix = to_bt709(from);
  if (!matrix)
    return Status(StatusCode::input, "the picture's primaries do not span a colour space; correct or remove them");
  const double nits = space.nits_of_one;
  const auto power = [this](double exponent) {
    set_curve(CURVE_POWER, exponent, [exponent](double x) { return signed_power(x, exponent); });
  };
  switch (colour.transfer) {
    case Transfer::srgb:
      set_srgb(space.srgb_curve);
      break;
    case Transfer::linear:
      set_scale(1);
      break;
    case Transfer::gamma:
      power(colour.gamma);
      break;
    case Transfer::bt1886:
      power(2.4);
      break;
    case Transfer::pq:
      set_curve(CURVE_PQ, pq_to_nits(1) / nits, [nits](double x) { return pq_to_nits(x) / nits; });
      break;
    case Transfer::hlg: {
      const double gamma = hlg_system_gamma(colour.peak_nits), scale = colour.peak_nits / nits;
      set_curve(CURVE_HLG, 1, hlg_to_scene);
      steps.steps |= STEP_SHOW_HLG;
      const Vector3 luminance = (*rgb_to_xyz(from))[1];
      for (size_t c = 0; c < 3; ++c) steps.hlg_weights[c] = static_cast<float>(luminance[c]);
      steps.hlg_exponent = static_cast<float>(gamma - 1);
      steps.hlg_scale = static_cast<float>(scale);
    }
  }
  if (!same_primaries(from, {})) set_matrix(*matrix);
  return {};
}

void Rows::Maker::set_profile(const IccConversion& icc) {
  set_scale(1);
  for (size_t c = 0; c < 3; ++c) {
    if (icc.curves[c]) channels[c] = {{.curve = CURVE_OF_PROFILE}, icc.curves[c]};
  }
  if (icc.matrix) set_matrix(*icc.matrix);
  profile = icc.pixels;
}

// Codes instead of light; on the way of each sample where none mixes with others, for there tables can take them in.
void Rows::Maker::encode() {
  if (steps.steps != 0 || profile) {
    steps.steps |= STEP_CODES;
    return;
  }
  for (Channel& channel : channels) {
    channel.steps.to_codes = true;
    channel.curve = [to_light = channel.curve](double x) { return 255 * linear_to_srgb(to_light(x)); };
  }
}

void Rows::Maker::finish(const ImageView& view) {
  load = load_for(view);
  const bool floats = view.type == SampleType::f32;
  if (!floats) maximum = (1 << view.depth) - 1;
  for (Channel& channel : channels) {
    const SampleConversion& by = channel.steps;
    const bool of_profile = by.curve == CURVE_OF_PROFILE;
    const bool unchanged = by.curve == CURVE_SCALE && by.a == 1 && !by.to_codes;
    if (floats && (of_profile || unchanged)) continue;
    channel.table = of_profile ? std::make_shared<const Table>(make_table(channel, view.depth))
                               : shared_table(channel, floats ? kFloatTable : view.depth);
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
  const bool srgb =
      colour.icc ? icc.is_srgb : colour.transfer == Transfer::srgb && same_primaries(chromaticities_of(colour), {});
  const bool codes = space.encoding == WorkingSpace::Encoding::srgb_codes;

  Maker maker;
  maker.background = background.value_or(0);
  if (srgb && codes) {
    maker.set_scale(255);
  } else if (srgb) {
    maker.set_srgb(space.srgb_curve);
  } else if (colour.icc) {
    maker.set_profile(icc);
  } else if (Status status = maker.set_colour(view, space); !status.ok()) {
    return status;
  }
  if (codes && !srgb) maker.encode();
  maker.finish(view);

  Rows rows;
  rows.view_ = view;
  rows.description_ = colour.icc ? describe(icc, codes) : describe(view, space, srgb);
  rows.maker_ = std::make_shared<const Maker>(std::move(maker));
  return rows;
}

std::span<const float> Rows::code_table() const {
  const std::shared_ptr<const Table>& table = maker_->channels[0].table;
  const bool plain = view_.type != SampleType::f32 && view_.channels == Channels::rgb && table &&
                     table == maker_->channels[1].table && table == maker_->channels[2].table &&
                     maker_->steps.steps == 0 && !maker_->profile;
  const ptrdiff_t sample = view_.type == SampleType::u8 ? 1 : 2;
  const bool packed = view_.pixel_stride == 3 * sample && view_.planes[1] == view_.planes[0] + sample &&
                      view_.planes[2] == view_.planes[1] + sample;
  return plain && packed ? std::span<const float>(*table) : std::span<const float>();
}

std::optional<Rows::Conversion> Rows::conversion() const {
  const bool decodes = view_.type == SampleType::f32 || view_.has_alpha();
  if (maker_->profile || (decodes && maker_->channels[0].steps.curve == CURVE_OF_PROFILE)) return std::nullopt;
  Conversion conversion{maker_->channels[0].steps, maker_->steps, {}, maker_->background};
  for (size_t c = 0; c < 3; ++c) {
    if (maker_->channels[c].table) conversion.tables[c] = *maker_->channels[c].table;
  }
  return conversion;
}

Rows Rows::of_copy(const ImageView& copy) const {
  Rows rows = *this;
  rows.view_.planes = copy.planes;
  rows.view_.row_stride = copy.row_stride;
  rows.view_.pixel_stride = copy.pixel_stride;
  return rows;
}

void Rows::read(int y, int x_begin, int x_end, float* red, float* green, float* blue) const {
  const ptrdiff_t offset = y * view_.row_stride + x_begin * view_.pixel_stride;
  const int count = x_end - x_begin;
  const auto load = [&](size_t channel, float* to) {
    const std::byte* alpha =
        view_.has_alpha() ? view_.planes[static_cast<size_t>(view_.channel_count() - 1)] + offset : nullptr;
    maker_->load(maker_->channels[channel], {view_.planes[channel] + offset, alpha, view_.pixel_stride, count},
                 maker_->maximum, maker_->background, to);
  };
  load(0, red);
  if (view_.is_grey()) {
    std::copy_n(red, count, green);
    std::copy_n(red, count, blue);
  } else {
    load(1, green);
    load(2, blue);
  }
  if (maker_->profile) maker_->profile(red, green, blue, count);
  mix_channels(maker_->steps, red, green, blue, count);
}

}  // namespace acuity
