// SPDX-License-Identifier: BSD-2-Clause-Patent
// Filters over the rows a piece holds; cpu.cc includes this inside the namespace of a target, after math.h.

// Columns of a row held, of which the first kMargin lie left of the piece.
struct Columns {
  int begin = 0;  // a multiple of kLanes
  int end = 0;
};

// A blur of blurs.h; `at` gives the sample at a distance.
#define BLUR_TYPE(Name, NAME, kind)                        \
  struct Name {                                            \
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
    }                                                      \
  };
BLUR_TYPE(LowBlur, LOW, low)
BLUR_TYPE(MiddleBlur, MIDDLE, middle)
BLUR_TYPE(HighBlur, HIGH, high)
BLUR_TYPE(MaskBlur, MASK, mask)
#undef BLUR_TYPE

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
// nearest cache, and two rows at a time share what they look at.
template <typename Kind>
HWY_INLINE void blur_columns(const Ring& in, int y_begin, int y_end, int height, Columns columns, const Ring& out) {
  constexpr int kTogether = 64;
  constexpr int kRadius = Kind::kRadius;
  const float* rows[kLargestBatch + 2 * kRadius];
  for (int i = 0; i < y_end - y_begin + 2 * kRadius; ++i) rows[i] = in.row(y_begin - kRadius + i);
  for (int block = columns.begin; block < columns.end; block += kTogether) {
    const int block_end = std::min(block + kTogether, columns.end);
    for (int y = y_begin; y < y_end;) {
      const float* const* centre = rows + (y - y_begin) + kRadius;
      float* to = out.row(y);
      if (y < kRadius || y >= height - kRadius) {
        const real scale = real(blur_edge_scale(Kind::kBlur, y, height));
        for (int x = block; x < block_end; x += kLanes) {
          store(Kind::edge([&](int i) HWY_ATTR { return load(centre[i] + x); }, scale), to + x);
        }
        y += 1;
      } else if (y + 1 < std::min(y_end, height - kRadius)) {
        float* to_next = out.row(y + 1);
        for (int x = block; x < block_end; x += kLanes) {
          const real upper = Kind::inside([&](int i) HWY_ATTR { return load(centre[i] + x); });
          const real lower = Kind::inside([&](int i) HWY_ATTR { return load(centre[i + 1] + x); });
          store(upper, to + x);
          store(lower, to_next + x);
        }
        y += 2;
      } else {
        for (int x = block; x < block_end; x += kLanes) {
          store(Kind::inside([&](int i) HWY_ATTR { return load(centre[i] + x); }), to + x);
        }
        y += 1;
      }
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

// Where a piece lies among the rows held.
struct Frame {
  Size size;
  Piece piece;
  int left_edge = 0;   // the column of a row held that is column 0 of the level
  int right_edge = 0;  // ... that is one beyond its last
  RowEdges low, middle, high, mask;

  Frame(Size of, const Piece& part)
      : size(of), piece(part), left_edge(kMargin - part.x_begin), right_edge(left_edge + of.width) {
    mark_edges<LowBlur>(low);
    mark_edges<MiddleBlur>(middle);
    mark_edges<HighBlur>(high);
    mark_edges<MaskBlur>(mask);
  }

  int width() const { return piece.x_end - piece.x_begin; }
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
