// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/iwssim/luma_rows.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/iwssim/luma_rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::luma {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/iwssim/luma.h"

HWY_INLINE real rounded_luma(real red, real green, real blue, const float* ties) {
  const real luma = luma_of(red, green, blue);
  real rounded = nearest_whole(luma);
  if (HWY_UNLIKELY(!hn::AllFalse(RealTag(), is_half_way(luma).m))) {
    alignas(64) float lanes[kLanes];
    store(luma_tie_place(luma, red, green), lanes);
    for (float& lane : lanes) lane = lane < 0 ? 0 : ties[static_cast<int>(lane)];
    rounded = rounded + load(lanes);
  }
  return rounded;
}

void weigh(const float* red, const float* green, const float* blue, int count, const float* ties, float* out) {
  for (int x = 0; x < count; x += kLanes) {
    const real r = load(red + x), g = load(green + x), b = load(blue + x);
    const real luma = select(is_whole(r, g, b), rounded_luma(r, g, b, ties), luma_of(r, g, b));
    store_unaligned(luma - real(LUMA_MIDDLE), out + x);
  }
}

// The same of packed RGB codes of 8 bit, which nearly all pictures have.
void weigh_bytes(const uint8_t* rgb, int count, const float* ties, float* out) {
  constexpr int kTogether = 16;
  const hn::CappedTag<uint8_t, kTogether> d;
  const hn::Rebind<uint8_t, WholeTag> bytes;
  for (int x = 0; x < count; x += kTogether) {
    alignas(64) uint8_t channels[3][kTogether];
    uint8_t last[3 * kTogether] = {};
    const uint8_t* from = rgb + 3 * x;
    if (count - x < kTogether) {
      std::copy(from, rgb + 3 * count, last);
      from = last;
    }
    auto red = hn::Zero(d), green = red, blue = red;
    hn::LoadInterleaved3(d, from, red, green, blue);
    hn::Store(red, d, channels[0]);
    hn::Store(green, d, channels[1]);
    hn::Store(blue, d, channels[2]);
    for (int i = 0; i < kTogether; i += kLanes) {
      const auto codes = [&](int c) { return to_real(hn::PromoteTo(WholeTag(), hn::Load(bytes, channels[c] + i))); };
      store_unaligned(rounded_luma(codes(0), codes(1), codes(2), ties) - real(LUMA_MIDDLE), out + x + i);
    }
  }
}

static_assert(LUMA_TIES == std::tuple_size_v<LumaTies>);

}  // namespace HWY_NAMESPACE
}  // namespace acuity::luma
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace luma {
namespace {
HWY_EXPORT(weigh);
HWY_EXPORT(weigh_bytes);

// Asked for here, because HWY_DYNAMIC_DISPATCH takes no qualified name where only one target is compiled.
auto* weigher() { return &HWY_DYNAMIC_DISPATCH(weigh); }
auto* byte_weigher() { return &HWY_DYNAMIC_DISPATCH(weigh_bytes); }

}  // namespace
}  // namespace luma

namespace {

constexpr WorkingSpace kSpace{.encoding = WorkingSpace::Encoding::srgb_codes};
constexpr size_t kVector = 16;  // floats in the widest one

// Whether samples are packed RGB bytes that stand for themselves.
bool has_plain_bytes(const Rows& rows) {
  const std::span<const float> table = rows.code_table();
  if (rows.view().type != SampleType::u8 || table.size() != 256) return false;
  for (size_t code = 0; code < 256; ++code) {
    if (table[code] != static_cast<float>(code)) return false;
  }
  return true;
}

size_t padded(int width) { return round_up(static_cast<size_t>(width), kVector); }

}  // namespace

const LumaTies& luma_ties() {
  static const LumaTies ties = [] {
    LumaTies table{};
    for (int red = 0; red < 256; red += 10) {
      for (int green = 0; green < 256; ++green) {
        // 1140 blue must come to 5000 modulo 10000 together with the others. In twentieths that is 57 blue modulo 500,
        // and 193 * 57 is 1.
        const int missing = 15000 - (2989 * red + 5870 * green) % 10000;
        const int blue = missing / 20 * 193 % 500;
        if (missing % 20 != 0 || blue > 255) continue;
        const int below = (2989 * red + 5870 * green + 1140 * blue) / 10000;
        const double luma = 0.2989 * red + 0.5870 * green + 0.1140 * blue;
        const bool up = luma > below + 0.5 || (luma == below + 0.5 && below % 2 == 1);
        const int even = below + below % 2;
        table[static_cast<size_t>(red / 10 * 256 + green)] = static_cast<float>(below + (up ? 1 : 0) - even);
      }
    }
    return table;
  }();
  return ties;
}

MetricOption enlarge_option(int minimum_side) {
  return {.name = "small",
          .help = fmt::format("how pictures with a side under {} pixels are handled", minimum_side),
          .default_value = "tile",
          .words = {"tile", "reflect", "upscale", "reject"}};
}

Enlarge enlarge_by_name(const std::string& word) {
  if (word == "reflect") return Enlarge::reflect;
  if (word == "upscale") return Enlarge::upscale;
  return word == "reject" ? Enlarge::reject : Enlarge::tile;
}

Status check_side(Enlarge enlarge, int minimum_side, int width, int height) {
  if (enlarge != Enlarge::reject || std::min(width, height) >= minimum_side) return {};
  return Status(
      StatusCode::input,
      fmt::format("the picture is {} x {}, and pictures with a side under {} are refused by small=reject; use "
                  "small=tile, reflect or upscale",
                  width, height, minimum_side));
}

std::vector<Enlarged> enlarge_side(Enlarge enlarge, int side, int minimum_side) {
  const int factor = enlarge == Enlarge::upscale ? (minimum_side + side - 1) / side : 1;
  const int length = std::max(enlarge == Enlarge::upscale && side < minimum_side ? side * factor : side, minimum_side);
  std::vector<Enlarged> places(static_cast<size_t>(length));
  for (int i = 0; i < length; ++i) {
    Enlarged& place = places[static_cast<size_t>(i)];
    if (length == side) {
      place = {i, i, 0};
    } else if (enlarge == Enlarge::upscale) {
      const double at = std::clamp((i + 0.5) / factor - 0.5, 0.0, side - 1.0);
      place.first = static_cast<int>(at);
      place.second = std::min(place.first + 1, side - 1);
      place.fraction = static_cast<float>(at - place.first);
    } else if (enlarge == Enlarge::reflect && side > 1) {
      const int turn = i % (2 * (side - 1));
      place.first = place.second = std::min(turn, 2 * (side - 1) - turn);
    } else {
      place.first = place.second = i % side;
    }
  }
  return places;
}

Result<LumaRows> LumaRows::create(const ImageView& view, Enlarge enlarge, int minimum_side,
                                  std::optional<float> background) {
  Result<Rows> rows = Rows::create(view, kSpace, background);
  if (!rows.ok()) return rows.status();
  LumaRows luma(std::move(*rows));
  luma.plain_bytes_ = has_plain_bytes(luma.rows_);
  luma.description_ = luma.rows_.description() + (view.type == SampleType::u8
                                                      ? ", luma rounded to whole codes"
                                                      : ", luma rounded to whole codes where all three samples are");
  if (std::min(view.width, view.height) < minimum_side) {
    luma.columns_ = enlarge_side(enlarge, view.width, minimum_side);
    luma.lines_ = enlarge_side(enlarge, view.height, minimum_side);
  }
  return luma;
}

size_t LumaRows::scratch_floats() const { return 4 * padded(rows_.width()) + (enlarged() ? padded(width()) : 0); }

void LumaRows::read(int y, float* scratch, float* out) const {
  if (!enlarged()) return read_source(y, scratch, out);
  const Enlarged& line = lines_[static_cast<size_t>(y)];
  read_enlarged(line.first, scratch, out);
  if (line.fraction == 0) return;
  float* second = scratch + 4 * padded(rows_.width());
  read_enlarged(line.second, scratch, second);
  for (int x = 0; x < width(); ++x) out[x] = std::fma(line.fraction, second[x] - out[x], out[x]);
}

void LumaRows::read_source(int y, float* scratch, float* out) const {
  const int count = rows_.width();
  if (plain_bytes_) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(rows_.view().planes[0] + y * rows_.view().row_stride);
    return luma::byte_weigher()(bytes, count, luma_ties().data(), out);
  }
  const size_t plane = padded(count);
  // What lies beyond the row is computed too, and must be finite.
  for (size_t c = 0; c < 3; ++c) std::fill(scratch + c * plane + count, scratch + (c + 1) * plane, 0.0f);
  rows_.read(y, 0, count, scratch, scratch + plane, scratch + 2 * plane);
  luma::weigher()(scratch, scratch + plane, scratch + 2 * plane, count, luma_ties().data(), out);
}

void LumaRows::read_enlarged(int source, float* scratch, float* out) const {
  float* luma = scratch + 3 * padded(rows_.width());
  read_source(source, scratch, luma);
  for (int x = 0; x < width(); ++x) {
    const Enlarged& column = columns_[static_cast<size_t>(x)];
    out[x] = std::fma(column.fraction, luma[column.second] - luma[column.first], luma[column.first]);
  }
}

}  // namespace acuity
#endif
