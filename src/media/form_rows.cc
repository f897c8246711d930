// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/form_rows.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"
#include "colour/alpha.h"
#include "colour/steps.h"
#include "colour/transfer.h"
#include "colour/yuv.h"

namespace acuity {
namespace {

bool is_opaque(const ImageView& view) {
  if (!view.has_alpha()) return true;
  std::vector<float> alpha(static_cast<size_t>(view.width));
  for (int y = 0; y < view.height; ++y) {
    read_alpha(view, y, 0, view.width, alpha.data());
    if (std::any_of(alpha.begin(), alpha.end(), [](float value) { return value < 1; })) return false;
  }
  return true;
}

// Equal samples of all depths and of floats have equal fractions, as in colour/math.h.
void widen(const float* quotients, size_t count, double* fractions) {
  std::vector<float> bytes(quotients, quotients + count);
  find_bytes(bytes.data(), static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) fractions[i] = bytes[i] < 0 ? double{quotients[i]} : double{bytes[i]} / 255;
}

std::vector<double> fractions_of_codes(int depth) {
  const int most = (1 << depth) - 1;
  std::vector<float> quotients;
  for (int code = 0; code <= most; ++code) quotients.push_back(static_cast<float>(code) / static_cast<float>(most));
  std::vector<double> fractions(quotients.size());
  widen(quotients.data(), quotients.size(), fractions.data());
  return fractions;
}

double encoded(double light, const Colour& colour) {
  switch (colour.transfer) {
    case Transfer::srgb:
      return linear_to_srgb(light);
    case Transfer::gamma:
      return signed_power(light, 1 / colour.gamma);
    case Transfer::bt1886:
      return signed_power(light, 1 / 2.4);
    default:  // settle_meaning() lets nothing else be converted to
      return light;
  }
}

}  // namespace

Levels::Levels(const FrameForm& form)
    : black(form.full_range ? 0 : 16 << (form.depth - 8)),
      luma_width(form.full_range ? (1 << form.depth) - 1 : 219 << (form.depth - 8)),
      zero(128 << (form.depth - 8)),
      chroma_width(form.full_range ? (1 << form.depth) - 1 : 224 << (form.depth - 8)),
      most((1 << form.depth) - 1) {
  if (form.matrix != Matrix::rgb) return;
  zero = black;
  chroma_width = luma_width;
}

MatrixChange::MatrixChange(Matrix from, Matrix to) {
  const MatrixWeights before = weights_of(from), after = weights_of(to);
  const double green = 1 - before.red - before.blue, green_after = 1 - after.red - after.blue;
  // Red, green and blue less luma, of one step of Cb and of one of Cr.
  const double blue_cb = 2 * (1 - before.blue), red_cr = 2 * (1 - before.red);
  const double green_cb = -before.blue * blue_cb / green, green_cr = -before.red * red_cr / green;
  luma_cb = green_after * green_cb + after.blue * blue_cb;
  luma_cr = after.red * red_cr + green_after * green_cr;
  cb_cb = (blue_cb - luma_cb) / (2 * (1 - after.blue));
  cb_cr = -luma_cr / (2 * (1 - after.blue));
  cr_cb = -luma_cb / (2 * (1 - after.red));
  cr_cr = (red_cr - luma_cr) / (2 * (1 - after.red));
}

Result<PictureRows> PictureRows::create(const ImageView& view, const FrameForm& form, const Colour& colour) {
  if (!is_opaque(view)) {
    return Status(StatusCode::input,
                  "the picture has transparency, which frame metrics cannot compare; put it on a background first");
  }
  const Levels levels(form);
  const MatrixWeights weights = weights_of(form.matrix);
  PictureRows rows;
  rows.view_ = without_alpha(view);
  rows.colour_ = colour;
  rows.is_rgb_ = form.matrix == Matrix::rgb;
  rows.red_ = weights.red;
  rows.blue_ = weights.blue;
  rows.luma_width_ = levels.luma_width;
  rows.chroma_width_ = levels.chroma_width;
  if (same_colour(view.colour, colour, view.is_grey())) {
    if (view.type != SampleType::f32) rows.fractions_ = fractions_of_codes(view.depth);
    return rows;
  }
  rows.codes_ = same_colour(colour, {}, view.is_grey());
  const WorkingSpace space{.encoding =
                               rows.codes_ ? WorkingSpace::Encoding::srgb_codes : WorkingSpace::Encoding::linear};
  Result<Rows> converted = Rows::create(rows.view_, space, std::nullopt);
  if (!converted.ok()) return converted.status();
  rows.rows_ = std::move(*converted);
  const std::optional<Matrix3> to = to_bt709(chromaticities_of(colour));
  const std::optional<Matrix3> from = to ? inverse(*to) : std::nullopt;
  if (!from) return Status(StatusCode::input, "the primaries do not span a colour space; correct or remove them");
  rows.from_bt709_ = *from;
  return rows;
}

void PictureRows::read(int y, FormRow& row) const {
  const size_t width = row.luma.size();
  std::vector<double> red(width), green(width), blue(width);
  if (rows_) {
    read_converted(y, {&red, &green, &blue});
  } else {
    read_stored(y, 0, red);
    if (!view_.is_grey()) {
      read_stored(y, 1, green);
      read_stored(y, 2, blue);
    }
  }
  const double green_weight = 1 - red_ - blue_;
  for (size_t x = 0; x < width; ++x) {
    const double r = red[x], g = view_.is_grey() ? r : green[x], b = view_.is_grey() ? r : blue[x];
    const double light = view_.is_grey() ? r : red_ * r + green_weight * g + blue_ * b;
    row.luma[x] = luma_width_ * light;
    row.cb[x] = is_rgb_ ? chroma_width_ * b : chroma_width_ * (b - light) / (2 * (1 - blue_));
    row.cr[x] = is_rgb_ ? chroma_width_ * r : chroma_width_ * (r - light) / (2 * (1 - red_));
  }
}

void PictureRows::read_stored(int y, size_t channel, std::vector<double>& out) const {
  const std::byte* from = view_.planes[channel] + y * view_.row_stride;
  const auto at = [&](auto& sample, size_t x) {
    std::memcpy(&sample, from + static_cast<ptrdiff_t>(x) * view_.pixel_stride, sizeof sample);
  };
  if (view_.type == SampleType::f32) {
    std::vector<float> samples(out.size());
    for (size_t x = 0; x < out.size(); ++x) {
      at(samples[x], x);
      samples[x] = std::clamp(samples[x], 0.0f, 1.0f);
    }
    widen(samples.data(), samples.size(), out.data());
    return;
  }
  for (size_t x = 0; x < out.size(); ++x) {
    uint16_t code = 0;
    if (view_.type == SampleType::u8) {
      uint8_t byte = 0;
      at(byte, x);
      code = byte;
    } else {
      at(code, x);
    }
    out[x] = fractions_[std::min<size_t>(code, fractions_.size() - 1)];
  }
}

void PictureRows::read_converted(int y, std::array<std::vector<double>*, 3> out) const {
  const size_t width = out[0]->size();
  std::array<std::vector<float>, 3> planes;
  for (std::vector<float>& plane : planes) plane.resize(width);
  rows_->read(y, 0, static_cast<int>(width), planes[0].data(), planes[1].data(), planes[2].data());
  for (size_t x = 0; x < width; ++x) {
    Vector3 pixel{double{planes[0][x]}, double{planes[1][x]}, double{planes[2][x]}};
    if (codes_) {
      for (double& value : pixel) value /= 255;
    } else {
      if (!view_.is_grey()) pixel = from_bt709_ * pixel;
      for (double& value : pixel) value = encoded(value, colour_);
    }
    for (size_t c = 0; c < 3; ++c) (*out[c])[x] = std::clamp(pixel[c], 0.0, 1.0);
  }
}

}  // namespace acuity
