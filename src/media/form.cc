// SPDX-License-Identifier: BSD-2-Clause-Patent
// Range, depth and subsampling change by whole numbers with one rounding at the end; another matrix, and RGB, go
// through double precision without fused operations. Nothing here depends on the processor.
#include "media/form.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/try.h"
#include "media/form_rows.h"

namespace acuity {
namespace {

constexpr int kTogether = 16;  // rows that a thread converts before it asks for more

bool halves_across(Subsampling subsampling) { return subsampling != Subsampling::yuv444; }
bool halves_down(Subsampling subsampling) { return subsampling == Subsampling::yuv420; }

template <typename Step>
void for_rows(const Threads& threads, int rows, Step step) {
  std::atomic<int> next = 0;
  threads.run([&](int) {
    auto work = step();
    for (int begin = next.fetch_add(kTogether); begin < rows; begin = next.fetch_add(kTogether)) {
      for (int y = begin; y < std::min(begin + kTogether, rows); ++y) work(y);
    }
  });
}

// Up to three samples with weights in quarters.
struct Taps {
  std::array<int, 3> places{};
  std::array<int, 3> weights{};
};

// How colour samples lie along one side of a picture.
struct Grid {
  bool halved = false;
  bool cosited = false;  // every other pixel has one of its own; otherwise they lie halfway between two pixels
  int count = 0;
};

// Colour samples around the place of a sample of another grid: between two of them linearly, and where there are fewer
// in the new grid a mean with weights 1 2 1, or of two.
Taps taps_at(int place, const Grid& from, const Grid& to) {
  Taps taps;
  if (from.halved == to.halved && (!from.halved || from.cosited == to.cosited)) {
    taps = {{place, place, place}, {4, 0, 0}};
  } else if (from.halved && to.halved) {
    taps = {{place, to.cosited ? place - 1 : place + 1, place}, {3, 1, 0}};
  } else if (from.halved) {
    const int quarters = 2 * place - (from.cosited ? 0 : 1) + 4;  // of the way from the sample before the first
    const int before = quarters / 4 - 1;
    taps = {{before, before + 1, before}, {4 - quarters % 4, quarters % 4, 0}};
  } else if (to.cosited) {
    taps = {{2 * place - 1, 2 * place, 2 * place + 1}, {1, 2, 1}};
  } else {
    taps = {{2 * place, 2 * place + 1, 2 * place}, {2, 2, 0}};
  }
  for (int& at : taps.places) at = std::clamp(at, 0, from.count - 1);
  return taps;
}

std::vector<Taps> all_taps(const Grid& from, const Grid& to) {
  std::vector<Taps> taps;
  for (int place = 0; place < to.count; ++place) taps.push_back(taps_at(place, from, to));
  return taps;
}

Grid across(const FrameForm& form, int width) {
  const bool halved = halves_across(form.subsampling);
  return {halved, form.siting != Siting::centre, halved ? (width + 1) / 2 : width};
}

Grid down(const FrameForm& form, int height) {
  const bool halved = halves_down(form.subsampling);
  return {halved, form.siting == Siting::top_left, halved ? (height + 1) / 2 : height};
}

FrameShape shape_of(const VideoFormat& format, const FrameForm& form) {
  return {format.width, format.height, form.depth, form.subsampling};
}

FrameForm form_of(const VideoFormat& format) {
  return {format.subsampling, format.depth, format.full_range, format.matrix, format.siting};
}

// The samples of a frame, plane after plane.
template <typename Byte>
struct Planes {
  Byte* samples;
  bool wide;
  FrameShape shape;

  Byte* row(int plane, int y) const {
    size_t before = static_cast<size_t>(y) * static_cast<size_t>(shape.plane_width(plane));
    for (int p = 0; p < plane; ++p) {
      before += static_cast<size_t>(shape.plane_width(p)) * static_cast<size_t>(shape.plane_height(p));
    }
    return samples + before * (wide ? 2 : 1);
  }
};

int sample_at(const uint8_t* row, int x, bool wide) {
  if (!wide) return row[x];
  uint16_t sample;
  std::memcpy(&sample, row + 2 * x, sizeof sample);
  return sample;
}

void put(uint8_t* row, int x, bool wide, int value) {
  if (wide) {
    const auto sample = static_cast<uint16_t>(value);
    std::memcpy(row + 2 * x, &sample, sizeof sample);
  } else {
    row[x] = static_cast<uint8_t>(value);
  }
}

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// (value - zero_before) / width_before * width + zero, where everything is times `parts`; halves go up.
int rescaled(int64_t value, int64_t parts, const Levels& before, const Levels& after, bool luma) {
  const int64_t zero_before = luma ? before.black : before.zero, zero = luma ? after.black : after.zero;
  const int64_t width_before = luma ? before.luma_width : before.chroma_width;
  const int64_t width = luma ? after.luma_width : after.chroma_width;
  const int64_t divisor = 2 * parts * width_before;
  const int64_t numerator = 2 * (value - parts * zero_before) * width + zero * divisor + parts * width_before;
  return static_cast<int>(std::clamp<int64_t>(floor_divide(numerator, divisor), 0, after.most));
}

// Rows of colour samples brought to another grid, in sixteenths of a step.
class ChromaRows {
 public:
  ChromaRows(const Planes<const uint8_t>& from, const FrameForm& before, const FrameForm& after)
      : from_(from),
        columns_(all_taps(across(before, from.shape.width), across(after, from.shape.width))),
        rows_(all_taps(down(before, from.shape.height), down(after, from.shape.height))) {}

  size_t width() const { return columns_.size(); }

  /// `sums` is memory to work in.
  void read(int plane, int y, std::vector<int>& sums, int* out) const {
    const Taps& line = rows_[static_cast<size_t>(y)];
    sums.assign(static_cast<size_t>(from_.shape.plane_width(plane)), 0);
    for (size_t t = 0; t < 3; ++t) {
      if (line.weights[t] == 0) continue;
      const uint8_t* row = from_.row(plane, line.places[t]);
      for (size_t x = 0; x < sums.size(); ++x) {
        sums[x] += line.weights[t] * sample_at(row, static_cast<int>(x), from_.wide);
      }
    }
    for (size_t x = 0; x < columns_.size(); ++x) {
      out[x] = 0;
      for (size_t t = 0; t < 3; ++t) {
        out[x] += columns_[x].weights[t] * sums[static_cast<size_t>(columns_[x].places[t])];
      }
    }
  }

 private:
  Planes<const uint8_t> from_;
  std::vector<Taps> columns_, rows_;
};

}  // namespace

std::vector<uint16_t> rescaled_codes(const FrameForm& from, const FrameForm& to, int parts, bool luma) {
  const Levels before(from), after(to);
  std::vector<uint16_t> codes;
  for (int64_t code = 0; code <= int64_t{before.most} * parts; ++code) {
    codes.push_back(static_cast<uint16_t>(rescaled(code, parts, before, after, luma)));
  }
  return codes;
}

// Y'CbCr with another range, depth or subsampling, by the same matrix.
class FormConverter::Resampling {
 public:
  Resampling(const VideoFormat& format, const FrameForm& form)
      : before_(form_of(format)),
        form_(form),
        levels_before_(before_),
        levels_(form_),
        from_shape_(shape_of(format, before_)),
        to_shape_(shape_of(format, form)),
        luma_(rescaled_codes(before_, form, 1, true)),
        chroma_(has_chroma_table() ? rescaled_codes(before_, form, keeps_places() ? 1 : kParts, false)
                                   : std::vector<uint16_t>()) {}

  void run(const VideoFrame& from, VideoFrame& to, const Threads& threads) const {
    const Planes<const uint8_t> in{from.samples.data(), before_.depth > 8, from_shape_};
    const Planes<uint8_t> out{to.samples.data(), form_.depth > 8, to_shape_};
    convert_plane(0, luma_, in, out, threads);
    if (form_.subsampling == Subsampling::grey) return;
    for (int plane : {1, 2}) {
      if (before_.subsampling == Subsampling::grey) {
        fill_plane(plane, out);
      } else if (keeps_places()) {
        convert_plane(plane, chroma_, in, out, threads);
      } else {
        resample_plane(plane, in, out, threads);
      }
    }
  }

 private:
  static constexpr int kParts = 16;  // of a step, which resampled colour has

  // Whether colour samples stay where they are.
  bool keeps_places() const {
    const bool halved = before_.subsampling != Subsampling::yuv444;
    return before_.subsampling == form_.subsampling && (!halved || before_.siting == form_.siting);
  }

  // A table of sixteenths of 16 bits would take longer to make than to do without.
  bool has_chroma_table() const { return keeps_places() || before_.depth <= 12; }

  int rescaled_chroma(int sixteenths) const {
    if (has_chroma_table()) return chroma_[static_cast<size_t>(sixteenths)];
    return rescaled(sixteenths, kParts, levels_before_, levels_, false);
  }

  void fill_plane(int plane, const Planes<uint8_t>& out) const {
    for (int y = 0; y < to_shape_.plane_height(plane); ++y) {
      for (int x = 0; x < to_shape_.plane_width(plane); ++x) put(out.row(plane, y), x, out.wide, levels_.zero);
    }
  }

  void convert_plane(int plane, const std::vector<uint16_t>& codes, const Planes<const uint8_t>& in,
                     const Planes<uint8_t>& out, const Threads& threads) const {
    const int width = to_shape_.plane_width(plane);
    for_rows(threads, to_shape_.plane_height(plane), [&] {
      return [&](int y) {
        const uint8_t* from = in.row(plane, y);
        uint8_t* to = out.row(plane, y);
        for (int x = 0; x < width; ++x) put(to, x, out.wide, codes[static_cast<size_t>(sample_at(from, x, in.wide))]);
      };
    });
  }

  void resample_plane(int plane, const Planes<const uint8_t>& in, const Planes<uint8_t>& out,
                      const Threads& threads) const {
    const ChromaRows rows(in, before_, form_);
    for_rows(threads, to_shape_.plane_height(plane), [&] {
      return [&, sums = std::vector<int>(), values = std::vector<int>(rows.width())](int y) mutable {
        rows.read(plane, y, sums, values.data());
        uint8_t* to = out.row(plane, y);
        for (size_t x = 0; x < values.size(); ++x) {
          put(to, static_cast<int>(x), out.wide, rescaled_chroma(values[x]));
        }
      };
    });
  }

  FrameForm before_, form_;
  Levels levels_before_, levels_;
  FrameShape from_shape_, to_shape_;
  std::vector<uint16_t> luma_, chroma_;  // of every code, or part of one
};

namespace {

// Writes rows that have Y', Cb and Cr for every pixel, as numbers of steps from black and from grey.
class Writer {
 public:
  Writer(const FrameForm& form, const FrameShape& shape, VideoFrame& to)
      : form_(form), levels_(form), to_{to.samples.data(), form.depth > 8, shape} {
    if (is_subsampled()) {
      const size_t pixels = static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height);
      for (std::vector<float>& plane : chroma_) plane.resize(pixels);
    }
  }

  void write(int y, const FormRow& row) {
    put_row(0, y, row.luma.data(), levels_.black);
    if (form_.subsampling == Subsampling::grey) return;
    for (size_t c = 0; c < 2; ++c) {
      const std::vector<double>& values = c == 0 ? row.cb : row.cr;
      if (!is_subsampled()) {
        put_row(static_cast<int>(c) + 1, y, values.data(), levels_.zero);
      } else {
        float* out = chroma_[c].data() + static_cast<size_t>(y) * values.size();
        for (size_t x = 0; x < values.size(); ++x) out[x] = static_cast<float>(values[x]);
      }
    }
  }

  // What is left when all rows are there.
  void finish(const Threads& threads) {
    if (!is_subsampled()) return;
    const int width = to_.shape.width, height = to_.shape.height;
    const std::vector<Taps> columns = all_taps({false, false, width}, across(form_, width));
    const std::vector<Taps> rows = all_taps({false, false, height}, down(form_, height));
    for_rows(threads, to_.shape.plane_height(1), [&] {
      return [&, values = std::vector<double>(columns.size())](int y) mutable {
        for (size_t c = 0; c < 2; ++c) {
          for (size_t x = 0; x < columns.size(); ++x)
            values[x] = mean(chroma_[c], columns[x], rows[static_cast<size_t>(y)]);
          put_row(static_cast<int>(c) + 1, y, values.data(), levels_.zero);
        }
      };
    });
  }

 private:
  bool is_subsampled() const {
    return form_.subsampling == Subsampling::yuv420 || form_.subsampling == Subsampling::yuv422;
  }

  double mean(const std::vector<float>& plane, const Taps& column, const Taps& line) const {
    double sum = 0;
    for (size_t j = 0; j < 3; ++j) {
      if (line.weights[j] == 0) continue;
      const float* row = plane.data() + static_cast<size_t>(line.places[j]) * static_cast<size_t>(to_.shape.width);
      double across_sum = 0;
      for (size_t i = 0; i < 3; ++i) across_sum += column.weights[i] * double{row[column.places[i]]};
      sum += line.weights[j] * across_sum;
    }
    return sum / 16;
  }

  void put_row(int plane, int y, const double* values, int64_t zero) const {
    uint8_t* out = to_.row(plane, y);
    for (int x = 0; x < to_.shape.plane_width(plane); ++x) {
      const double value = std::clamp(values[x] + static_cast<double>(zero) + 0.5, 0.0, levels_.most + 0.5);
      put(out, x, to_.wide, static_cast<int>(value));
    }
  }

  FrameForm form_;
  Levels levels_;
  Planes<uint8_t> to_;
  std::array<std::vector<float>, 2> chroma_;  // at every pixel
};

void change_matrix(const VideoFormat& format, const FrameForm& form, const VideoFrame& from, const Threads& threads,
                   Writer& writer) {
  const Levels before(form_of(format)), after(form);
  const MatrixChange change(format.matrix, form.matrix);
  const double luma_scale = static_cast<double>(after.luma_width) / static_cast<double>(before.luma_width);
  const double chroma_to_luma = static_cast<double>(after.luma_width) / (16 * static_cast<double>(before.chroma_width));
  const double chroma_scale = static_cast<double>(after.chroma_width) / (16 * static_cast<double>(before.chroma_width));
  const FrameForm own = form_of(format);
  FrameForm whole = own;
  whole.subsampling = Subsampling::yuv444;
  const Planes<const uint8_t> planes{from.samples.data(), format.depth > 8, shape_of(format, own)};
  const ChromaRows chroma(planes, own, whole);
  const auto width = static_cast<size_t>(format.width);
  for_rows(threads, format.height, [&] {
    return [&, row = FormRow(format.width), sums = std::vector<int>(), blue = std::vector<int>(width),
            red = std::vector<int>(width)](int y) mutable {
      chroma.read(1, y, sums, blue.data());
      chroma.read(2, y, sums, red.data());
      const uint8_t* luma = planes.row(0, y);
      for (size_t at = 0; at < width; ++at) {
        const double cb = static_cast<double>(blue[at] - 16 * before.zero);
        const double cr = static_cast<double>(red[at] - 16 * before.zero);
        const double light = static_cast<double>(sample_at(luma, static_cast<int>(at), planes.wide) - before.black);
        row.luma[at] = light * luma_scale + (change.luma_cb * cb + change.luma_cr * cr) * chroma_to_luma;
        row.cb[at] = (change.cb_cb * cb + change.cb_cr * cr) * chroma_scale;
        row.cr[at] = (change.cr_cb * cb + change.cr_cr * cr) * chroma_scale;
      }
      writer.write(y, row);
    };
  });
  writer.finish(threads);
}

Status convert_picture(const VideoFormat& format, const FrameForm& form, const Colour& colour, const Picture& picture,
                       const Threads& threads, Writer& writer) {
  ImageView view = picture.view;
  view.colour = format.colour;
  Result<PictureRows> rows = PictureRows::create(view, form, colour);
  if (!rows.ok()) return rows.status();
  for_rows(threads, format.height, [&] {
    return [&, row = FormRow(format.width)](int y) mutable {
      rows->read(y, row);
      writer.write(y, row);
    };
  });
  writer.finish(threads);
  return {};
}

}  // namespace

FrameForm stored_form(const VideoFormat& format) {
  if (!format.rgb) return form_of(format);
  return {.subsampling = Subsampling::yuv444, .depth = format.floats ? 16 : format.depth};
}

bool needs_conversion(const VideoFormat& format, const FrameForm& form) {
  const bool halved = form.subsampling == Subsampling::yuv420 || form.subsampling == Subsampling::yuv422;
  return format.rgb || format.subsampling != form.subsampling || format.depth != form.depth ||
         format.full_range != form.full_range ||
         (form.subsampling != Subsampling::grey && format.matrix != form.matrix) ||
         (halved && format.siting != form.siting);
}

FrameFormat frame_format(const VideoFormat& format, const FrameForm& form, const Colour& colour) {
  VideoFormat after = format;
  after.subsampling = form.subsampling;
  after.depth = form.depth;
  after.full_range = form.full_range;
  after.matrix = form.matrix;
  after.siting = form.siting;
  if (format.rgb) after.colour = colour;
  return frame_format(after);
}

Result<FrameView> FormConverter::operator()(std::shared_ptr<const VideoFrame> frame, const Threads& threads) {
  const FrameShape shape = shape_of(format_, form_);
  if (needs_conversion(format_, form_)) {
    std::shared_ptr<VideoFrame> converted = pool_.take();
    VideoFormat after = format_;
    after.subsampling = form_.subsampling;
    after.depth = form_.depth;
    converted->samples.resize(after.frame_bytes());
    const bool colourful = format_.subsampling != Subsampling::grey && form_.subsampling != Subsampling::grey;
    if (frame->picture || (colourful && format_.matrix != form_.matrix)) {
      Writer writer(form_, shape, *converted);
      if (frame->picture) {
        ACUITY_TRY(convert_picture(format_, form_, colour_, *frame->picture, threads, writer));
      } else {
        change_matrix(format_, form_, *frame, threads, writer);
      }
    } else {
      if (!resampling_) resampling_ = std::make_shared<const Resampling>(format_, form_);
      resampling_->run(*frame, *converted, threads);
    }
    frame = std::move(converted);
  }
  return view_of(shape, std::move(frame));
}

}  // namespace acuity
