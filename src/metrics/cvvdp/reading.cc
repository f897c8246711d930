// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/reading.h"

#include "metrics/cvvdp/cpu.h"

namespace acuity::cvvdp {

YuvEquations reading_of(const FrameFormat& format, bool clips) {
  YuvEquations equations = limited_equations_of(format, clips);
  if (format.full_range) return equations;
  // Its equations have four to six decimals, which only those of green need more of. With PQ that shows: 3e-4 in a
  // subband, and up to 1e-5 in JOD.
  const auto green = [&](float cb, float cr) {
    equations.green_cb = cb;
    equations.green_cr = cr;
  };
  if (format.matrix == Matrix::bt601) green(0.344136f, 0.714136f);
  if (format.matrix == Matrix::bt709) green(0.1873f, 0.4681f);
  if (format.matrix == Matrix::bt2020) green(0.16455f, 0.57135f);
  return equations;
}

std::vector<float> table_of(const FrameFormat& format, const Photometry& photometry) {
  const bool are_codes = format.full_range && (format.matrix == Matrix::rgb || format.subsampling == Subsampling::grey);
  if (!are_codes) return {};
  return light_table(photometry, format.depth);
}

}  // namespace acuity::cvvdp
