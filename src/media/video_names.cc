// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>

#include <fmt/format.h>

#include "media/video.h"

namespace acuity {
namespace {

template <typename Value>
struct Name {
  std::string_view name;
  Value value;
};

constexpr std::array<Name<Subsampling>, 4> kSubsamplings{{{"yuv420p", Subsampling::yuv420},
                                                          {"yuv422p", Subsampling::yuv422},
                                                          {"yuv444p", Subsampling::yuv444},
                                                          {"gray", Subsampling::grey}}};
constexpr std::array<Name<PixelFormat>, 6> kPixelFormats{{{"yuv420p", {Subsampling::yuv420, RawLayout::planar}},
                                                          {"yuv422p", {Subsampling::yuv422, RawLayout::planar}},
                                                          {"yuv444p", {Subsampling::yuv444, RawLayout::planar}},
                                                          {"gray", {Subsampling::grey, RawLayout::planar}},
                                                          {"nv12", {Subsampling::yuv420, RawLayout::nv12}},
                                                          {"p010", {Subsampling::yuv420, RawLayout::p010}}}};
constexpr std::array<Name<Siting>, 3> kSitings{
    {{"left", Siting::left}, {"centre", Siting::centre}, {"top-left", Siting::top_left}}};
constexpr std::array<Name<Matrix>, 5> kMatrices{{{"bt601", Matrix::bt601},
                                                 {"bt709", Matrix::bt709},
                                                 {"bt2020", Matrix::bt2020},
                                                 {"smpte240m", Matrix::smpte240m},
                                                 {"fcc", Matrix::fcc}}};
constexpr std::array<Name<Scaler>, 3> kScalers{
    {{"bicubic", Scaler::bicubic}, {"bilinear", Scaler::bilinear}, {"lanczos", Scaler::lanczos}}};
constexpr std::array<Name<int>, 7> kPrimaries{{{"bt709", 1},
                                               {"bt470bg", 5},
                                               {"smpte170m", 6},
                                               {"smpte240m", 7},
                                               {"bt2020", 9},
                                               {"dci-p3", 11},
                                               {"display-p3", 12}}};
constexpr std::array<Name<int>, 7> kTransfers{
    {{"bt1886", 1}, {"gamma22", 4}, {"gamma28", 5}, {"linear", 8}, {"srgb", 13}, {"pq", 16}, {"hlg", 18}}};

template <typename Value, size_t count>
Result<Value> parse(std::string_view name, const std::array<Name<Value>, count>& table) {
  std::string known;
  for (const Name<Value>& entry : table) {
    if (entry.name == name) return entry.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  return Status(StatusCode::usage, fmt::format("'{}' is unknown; use one of {}", name, known));
}

template <typename Value, size_t count>
std::string_view find(Value value, const std::array<Name<Value>, count>& table) {
  for (const Name<Value>& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

}  // namespace

std::string_view name_of(Subsampling value) { return find(value, kSubsamplings); }
std::string_view name_of(Siting value) { return find(value, kSitings); }
std::string_view name_of(Matrix value) { return find(value, kMatrices); }
std::string_view name_of(Scaler value) { return find(value, kScalers); }
Result<Subsampling> parse_subsampling(std::string_view name) { return parse(name, kSubsamplings); }
Result<PixelFormat> parse_pixel_format(std::string_view name) { return parse(name, kPixelFormats); }
Result<Siting> parse_siting(std::string_view name) { return parse(name, kSitings); }
Result<Matrix> parse_matrix(std::string_view name) { return parse(name, kMatrices); }
Result<Scaler> parse_scaler(std::string_view name) { return parse(name, kScalers); }
Result<int> parse_primaries(std::string_view name) { return parse(name, kPrimaries); }
Result<int> parse_transfer(std::string_view name) { return parse(name, kTransfers); }

std::string describe(const FrameRate& rate) {
  if (rate.denominator == 0) return "unknown frame rate";
  return rate.denominator == 1 ? fmt::format("{} frames per second", rate.numerator)
                               : fmt::format("{}/{} frames per second", rate.numerator, rate.denominator);
}

}  // namespace acuity
