// SPDX-License-Identifier: BSD-2-Clause-Patent
// The display that the pictures are seen on: how bright each sample is there, and how many pixels fill a degree.
#ifndef ACUITY_METRICS_CVVDP_DISPLAY_H
#define ACUITY_METRICS_CVVDP_DISPLAY_H

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"

namespace acuity::cvvdp {

/// How samples become light. `linear` expects samples in nit.
enum class Eotf { srgb, gamma, pq, hlg, linear };

struct ColourSpace {
  std::string_view name;
  Eotf eotf;
  double gamma;                  // of Eotf::gamma
  std::array<double, 9> to_xyz;  // rows
};
std::span<const ColourSpace> colour_spaces();

/// A display model as ColorVideoVDP publishes them; what is absent there is absent here.
struct Display {
  std::string name;
  std::string colour_space = "sRGB";
  int width = 0;
  int height = 0;
  std::optional<double> diagonal_inches{};
  std::optional<double> field_of_view{};      // along the diagonal, in degrees
  std::optional<double> distance{};           // in metres
  std::optional<double> pixels_per_degree{};  // in place of the four above
  double peak = 0;                            // nit
  std::optional<double> contrast{};
  std::optional<double> black{};  // nit; goes before contrast
  double ambient = 0;             // lux
  double reflectivity = 0.005;
  double exposure = 1;
};

/// The displays that are built in, in the order of the publication.
std::span<const Display> built_in_displays();

/// The displays of a file in the published form, checked; `name` is for messages.
Result<std::vector<Display>> parse_displays(std::string_view json, const std::string& name);

/// A built-in display, a file with one display, or FILE#NAME.
Result<Display> load_display(const std::string& name);

/// Refuses what no display can be, with the display's name.
Status check_display(const Display& display);

/// Of a display that was checked.
double pixels_per_degree(const Display& display);

/// How a display makes light of samples, in the reference's 32-bit floats.
class Photometry {
 public:
  /// Of a display that was checked. HLG on a bright display in a dark room has no defined system gamma in the
  /// reference; here the term of the room is left out.
  static Result<Photometry> create(const Display& display);

  Eotf eotf() const { return eotf_; }
  /// The light of a sample in nit. For HLG that of the scene, before mix_hlg.
  float light_of(float sample) const;
  /// Of the scene's light in a channel, multiplied by the luminance to this power: the light in nit.
  float hlg_exponent() const { return hlg_exponent_; }
  float gamma() const { return gamma_; }
  float exposure() const { return exposure_; }
  float range() const { return range_; }
  float black() const { return black_; }
  float reflection() const { return reflection_; }
  /// What linear samples are limited to.
  float least() const { return least_; }
  float peak() const { return peak_; }
  /// From red, green and blue light to the three channels, row by row.
  const std::array<float, 9>& matrix() const { return matrix_; }

 private:
  float shown(float fraction) const;

  Eotf eotf_ = Eotf::srgb;
  float gamma_ = 0, exposure_ = 1, range_ = 0, black_ = 0, reflection_ = 0, least_ = 0, peak_ = 0, hlg_exponent_ = 0;
  std::array<float, 9> matrix_{};
};

/// The name of a way to encode, as messages have it.
std::string_view name_of(Eotf eotf);

}  // namespace acuity::cvvdp

#endif
