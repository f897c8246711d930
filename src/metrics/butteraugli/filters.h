// SPDX-License-Identifier: BSD-2-Clause-Patent
// Filters over the rows a cell holds; cpu.cc includes this inside the namespace of a target, after math.h.

// Columns of a row held, of which the first kMargin lie left of the cell.
struct Columns {
  int begin = 0;  // a multiple of kLanes
  int end = 0;
};

// Blurs of blurs.h; `at` gives the sample at a distance. inside_four() is inside() at four neighbouring pixels: each
// sample is loaded once for all of them.
#define BLUR_MEMBERS(NAME, kind)                         \
  static constexpr int kRadius = BLUR_##NAME##_RADIUS;   \
  static constexpr Blur kBlur = Blur::kind;              \
  template <typename At>                                 \
  static HWY_INLINE real inside(At at) {                 \
    real result;                                         \
    BLUR_##NAME(at, result) return result;               \
  }                                                      \
  template <typename At>                                 \
  static HWY_INLINE real edge(At at, real scale) {       \
    real result;                                         \
    BLUR_##NAME##_EDGE(at, scale, result) return result; \
  }

// From the outside in: what is before and after the four pixels moves towards them.
struct LowBlur {
  BLUR_MEMBERS(LOW, low)

  template <typename At>
  static HWY_INLINE void inside_four(At at, real (&result)[4]) {
    real before[4], after[4];
    for (int k = 0; k < 4; ++k) {
      before[k] = at(k - kRadius);
      after[k] = at(k + kRadius);
    }
    const auto move_in = [&](int i) HWY_ATTR {
      for (int k = 0; k < 3; ++k) before[k] = before[k + 1];
      for (int k = 3; k > 0; --k) after[k] = after[k - 1];
      before[3] = at(4 - i);
      after[0] = at(i - 1);
    };
#define FIRST_OF_FOUR(AT, i, sum, weight)                                     \
  real sum[4];                                                                \
  for (int k = 0; k < 4; ++k) sum[k] = (before[k] + after[k]) * real(weight); \
  move_in(i);
#define NEXT_OF_FOUR(AT, i, sum, weight)                                               \
  for (int k = 0; k < 4; ++k) sum[k] = sum[k] + (before[k] + after[k]) * real(weight); \
  move_in(i);
    BLUR_LOW_PAIRS(FIRST_OF_FOUR, NEXT_OF_FOUR, at)
#undef NEXT_OF_FOUR
#undef FIRST_OF_FOUR
    for (int k = 0; k < 4; ++k) result[k] = before[k] * real(BLUR_LOW_CENTRE) + sum0[k] + sum1[k] + sum2[k] + sum3[k];
  }
};

// From the inside out.
#define FUSED_NEXT_OF_FOUR(AT, i, weight)                \
  for (int k = 3; k > 0; --k) before[k] = before[k - 1]; \
  for (int k = 0; k < 3; ++k) after[k] = after[k + 1];   \
  before[0] = at(-(i));                                  \
  after[3] = at(3 + (i));                                \
  for (int k = 0; k < 4; ++k) result[k] = fma(before[k] + after[k], real(weight), result[k]);
#define FUSED_BLUR_TYPE(Name, NAME, kind)                          \
  struct Name {                                                    \
    BLUR_MEMBERS(NAME, kind)                                       \
    template <typename At>                                         \
    static HWY_INLINE void inside_four(At at, real (&result)[4]) { \
      real before[4], after[4];                                    \
      for (int k = 0; k < 4; ++k) {                                \
        before[k] = after[k] = at(k);                              \
        result[k] = before[k] * real(BLUR_##NAME##_CENTRE);        \
      }                                                            \
      BLUR_##NAME##_PAIRS(FUSED_NEXT_OF_FOUR, at)                  \
    }                                                              \
  };
FUSED_BLUR_TYPE(MiddleBlur, MIDDLE, middle)
FUSED_BLUR_TYPE(HighBlur, HIGH, high)
FUSED_BLUR_TYPE(MaskBlur, MASK, mask)
#undef FUSED_BLUR_TYPE
#undef FUSED_NEXT_OF_FOUR
#undef BLUR_MEMBERS

// The columns of a row held in which the picture's edges cut a blur: those before `left` and from `right` on. `scale`
// holds blur_edge_scale there, 0 elsewhere.
struct RowEdges {
  int left = 0;
  int right = 0;
  alignas(64) float scale[kStride] = {};
};

template <typename Kind>
HWY_INLINE void blur_row(const float* in, Columns columns, const RowEdges& edges, float* out) {
  for (int x = columns.begin; x < columns.end; x += kLanes) {
    const Neighbours at(in + x);
    real result = Kind::inside(at);
    if (x < edges.left || x + kLanes > edges.right) {
      const real scale = load(edges.scale + x);
      result = select(scale == real(0.0f), result, Kind::edge(at, scale));
    }
    store(result, out + x);
  }
}

// Rows y_begin .. y_end - 1 of a picture `height` high. A few columns at a time go down all rows while they are in the
// nearest cache.
template <typename Kind>
HWY_INLINE void blur_columns(const Ring& in, int y_begin, int y_end, int height, Columns columns, const Ring& out) {
  constexpr int kTogether = 128;
  constexpr int kRadius = Kind::kRadius;
  const float* rows[kLargestBatch + 2 * kRadius];
  for (int i = 0; i < y_end - y_begin + 2 * kRadius; ++i) rows[i] = in.row(y_begin - kRadius + i);
  for (int first = columns.begin; first < columns.end; first += kTogether) {
    const int together_end = std::min(first + kTogether, columns.end);
    for (int y = y_begin; y < y_end;) {
      const float* const* centre = rows + (y - y_begin) + kRadius;
      if (y >= kRadius && y + 4 <= std::min(y_end, height - kRadius)) {
        float* const to[4] = {out.row(y), out.row(y + 1), out.row(y + 2), out.row(y + 3)};
        for (int x = first; x < together_end; x += kLanes) {
          real result[4];
          Kind::inside_four([&](int i) HWY_ATTR { return load(centre[i] + x); }, result);
          for (int k = 0; k < 4; ++k) store(result[k], to[k] + x);
        }
        y += 4;
        continue;
      }
      const bool inside = y >= kRadius && y < height - kRadius;
      const real scale = inside ? real(0.0f) : real(blur_edge_scale(Kind::kBlur, y, height));
      float* to = out.row(y);
      for (int x = first; x < together_end; x += kLanes) {
        const auto at = [&](int i) HWY_ATTR { return load(centre[i] + x); };
        store(inside ? Kind::inside(at) : Kind::edge(at, scale), to + x);
      }
      y += 1;
    }
  }
}

// The rows around one that line filters look at.
struct NineRows {
  const float* row[2 * kReachMalta + 1];

  NineRows(const Ring& ring, int y) {
    for (int dy = -kReachMalta; dy <= kReachMalta; ++dy) row[dy + kReachMalta] = ring.row(y + dy);
  }
  HWY_INLINE real at(int x, int dx, int dy) const { return Neighbours(row[dy + kReachMalta] + x)(dx); }
};

// Where a cell lies among the rows held.
struct Frame {
  Size size;
  Cell cell;
  int left_edge = 0;   // the column of a row held that is column 0 of the scale
  int right_edge = 0;  // ... that is one beyond its last
  RowEdges low, middle, high, mask;

  Frame(Size of, const Cell& part)
      : size(of), cell(part), left_edge(kMargin - part.x_begin), right_edge(left_edge + of.width) {
    mark_edges<LowBlur>(low);
    mark_edges<MiddleBlur>(middle);
    mark_edges<HighBlur>(high);
    mark_edges<MaskBlur>(mask);
  }

  int width() const { return cell.x_end - cell.x_begin; }
  bool has_row(int y) const { return y >= 0 && y < size.height; }

  // The columns that a stage with this reach works on.
  Columns columns(int reach) const {
    const int begin = std::max(kMargin - reach, left_edge);
    return {begin / kLanes * kLanes, std::min(kMargin + width() + reach, right_edge)};
  }

  // Fills what lies right of the picture, where filters look. Left of it nothing is ever written.
  void close_row(float* row, float value) const {
    if (right_edge < kStride) std::fill(row + right_edge, row + std::min(right_edge + kMargin, kStride), value);
  }

  // The rows done .. limit - 1 that lie in the picture, blurred along columns.
  template <typename Kind>
  void blur_batch(const Ring& in, int done, int limit, Columns of, const Ring& out) const {
    const int y_begin = std::clamp(done, 0, size.height);
    const int y_end = std::clamp(limit, y_begin, size.height);
    if (y_begin < y_end) blur_columns<Kind>(in, y_begin, y_end, size.height, of, out);
  }

 private:
  template <typename Kind>
  void mark_edges(RowEdges& edges) const {
    edges.left = left_edge + Kind::kRadius;
    edges.right = right_edge - Kind::kRadius;
    for (int x = std::max(0, left_edge); x < std::min(kStride, right_edge); ++x) {
      if (x < edges.left || x >= edges.right) {
        edges.scale[x] = blur_edge_scale(Kind::kBlur, x - left_edge, size.width);
      }
    }
  }
};

inline void fill_row(float* row, float value) { std::fill_n(row, kStride, value); }
