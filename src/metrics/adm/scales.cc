// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/scales.h"

#include <algorithm>

namespace acuity::adm {
namespace {

constexpr double kBorder = 0.1;

int border_of(int side) { return static_cast<int>(side * kBorder - 0.5); }

}  // namespace

std::array<int, 4> ScaleShape::inputs_of(int row) const {
  std::array<int, 4> inputs{};
  for (int i = 0; i < 4; ++i) {
    const int at = 2 * row - 1 + i;
    inputs[static_cast<size_t>(i)] = at < 0 ? -at : at >= input_height ? 2 * input_height - at - 1 : at;
  }
  return inputs;
}

ScaleShapes scale_shapes(int width, int height) {
  ScaleShapes shapes;
  for (ScaleShape& shape : shapes) {
    shape.input_width = width;
    shape.input_height = height;
    shape.width = width = (width + 1) / 2;
    shape.height = height = (height + 1) / 2;
    shape.left = border_of(width);
    shape.top = border_of(height);
    shape.right = width - shape.left;
    shape.bottom = height - shape.top;
  }
  for (size_t s = kScales; s-- > 0;) {
    ScaleShape& shape = shapes[s];
    shape.first_column = shape.first_masked_column();
    shape.end_column = shape.end_masked_column();
    shape.first_row = shape.first_masked_row();
    shape.end_row = shape.end_masked_row();
    if (s + 1 == kScales) continue;
    const ScaleShape& next = shapes[s + 1];
    const int first_column = std::max(2 * next.first_column - 1, 0) / kColumnGroup * kColumnGroup;
    shape.first_column = std::min(shape.first_column, first_column);
    shape.end_column = std::min(std::max(shape.end_column, 2 * next.end_column + 1), shape.width);
    shape.first_row = std::min(shape.first_row, std::max(2 * next.first_row - 1, 0));
    shape.end_row = std::min(std::max(shape.end_row, 2 * next.end_row + 1), shape.height);
  }
  return shapes;
}

}  // namespace acuity::adm
