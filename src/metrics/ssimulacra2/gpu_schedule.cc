// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_schedule.h"

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "metrics/ssimulacra2/gpu_kernels.h"
#include "sums/tiles.h"

namespace acuity::ssimulacra2 {
namespace {

constexpr int kMostColumnsOfBands = 1536;         // with more, references are worked on in diagonals
constexpr int kMostColumnsOfBandsInSteps = 1024;  // likewise all, on devices that replay work in steps
constexpr int kSmallBandRows = 128;               // of scales below the largest
constexpr int kBandUnit = 32;   // bands, rings and rows of floats are multiples of this, as the kernels want them
constexpr int kCellUnit = 128;  // likewise cells
constexpr int kStateFloats = kChannels * (kPlanes * kFilterFloats + kSums);  // of a column

int whole(int count, int of) { return groups(count, of) * of; }

}  // namespace

// Both filters are chains, along a row and down a column; many cells at once keep the device busy all the same. A
// diagonal has as many bands as there are cells in a row, and takes the memory of a few bands however many it has; but
// the last cells come long after the last samples have arrived. So it is for references whose samples are there, where
// the samples are not what is waited for, of pictures wide enough. Else several whole bands are in flight at once, each
// on a queue of its own; where planes are there, a row takes less room, and bands may be higher. The largest scales are
// worked on so; the others are one cell wide and one band at a time.
//
// A device that replays work in steps does not work on several bands at once: each is made a step after the one before,
// and so are its rows filtered, which takes as long as a row is. Cells of a diagonal are short, and in one step.
struct Schedule::Shape {
  struct Cut {
    int band_rows;
    int cell_columns;  // 0: as wide as the picture
    Rings rings;       // with more bands kernels wait less for each other
  };
  std::array<Cut, 2> largest;  // scales
  int bands_at_once;           // waited for; fewer and larger parts
  int bands_ahead;             // being made while a diagonal is worked on; multiples of the above
};

// A ring never needs more rows than the picture has, however high the strips are.
int Schedule::ScalePlan::ring_of(int its_bands) const {
  return std::min(its_bands * band_rows, whole(size.height, kBandUnit)) + kBandUnit;
}
int Schedule::ScalePlan::xyb_ring() const { return ring_of(rings.xyb); }
int Schedule::ScalePlan::ring() const { return ring_of(rings.blurred); }

Schedule::ScalePlan Schedule::plan_of(Size size, const Shape& shape) const {
  ScalePlan plan;
  const size_t s = plans_.size();
  const Shape::Cut cut = s < shape.largest.size() ? shape.largest[s] : Shape::Cut{kSmallBandRows, 0, {}};
  const int band_rows = setup_.strip_rows > 0 ? whole(setup_.strip_rows, kBandUnit) : cut.band_rows;
  const bool banded = band_rows < size.height;
  plan.size = size;
  plan.stride = whole(size.width, kBandUnit);
  plan.band_rows = banded ? band_rows : whole(size.height, kBandUnit);
  plan.bands = groups(size.height, plan.band_rows);
  plan.cell_columns = whole(size.width, kCellUnit);
  plan.queues.resize(1);
  if (banded && s < shape.largest.size()) {
    plan.rings = cut.rings;
    if (cut.cell_columns > 0) plan.cell_columns = std::min(plan.cell_columns, cut.cell_columns);
    // Cells of a row come one after the other, bands that are one cell need nothing of each other in their rows.
    plan.queues.resize(plan.cell_columns < size.width ? 3 : 2 + static_cast<size_t>(plan.rings.blurred));
  }
  plan.cells = groups(size.width, plan.cell_columns);
  if (s > 0) plan.light_bands = light_bands_of(plans_.back(), plan);
  plan.tiles = tile_total_;
  return plan;
}

Schedule::Schedule(const Metric::Setup& setup, Kind kind, const Shape& shape)
    : setup_(setup),
      pictures_(kind == Kind::planes ? 1 : 2),
      planes_(kind == Kind::planes ? 3 : kPlanes),
      bands_at_once_(shape.bands_at_once),
      workspace_(setup.pool) {
  for (const Size size : scale_sizes(setup.width, setup.height)) {
    plans_.push_back(plan_of(size, shape));
    tile_total_ += tile_count(size.width, size.height);
  }
  const ScalePlan& first = plans_[0];
  pixel_ring_ = std::min((whole(first.cells, bands_at_once_) + shape.bands_ahead) * first.band_rows, setup.height);
}

Result<std::unique_ptr<Schedule>> Schedule::create(const Metric::Setup& setup, Kind kind) {
  constexpr Shape kBands{{Shape::Cut{128, 0, {6, 4}}, {64, 0, {3, 2}}}, 2, 2};
  constexpr Shape kDiagonals{{Shape::Cut{128, 512, {5, 2}}, {64, 256, {5, 2}}}, 1, 2};
  constexpr Shape kHighBands{{Shape::Cut{256, 0, {5, 4}}, {128, 0, {3, 2}}}, 1, 2};
  constexpr Shape kDiagonalsOfPairs{{Shape::Cut{128, 512, {6, 4}}, {64, 256, {5, 2}}}, 2, 2};
  constexpr Shape kHighDiagonals{{Shape::Cut{256, 512, {5, 2}}, {128, 256, {5, 2}}}, 1, 2};
  const bool in_steps = replays_in_steps(setup.pool->device().info().backend);
  const int most_columns = in_steps ? kMostColumnsOfBandsInSteps : kMostColumnsOfBands;
  const bool diagonals = (in_steps || kind == Kind::samples) && setup.width > most_columns;
  const auto shape_of = [&]() -> const Shape& {
    if (!diagonals) return kind == Kind::planes ? kHighBands : kBands;
    if (kind == Kind::planes) return kHighDiagonals;
    return kind == Kind::pairs ? kDiagonalsOfPairs : kDiagonals;
  };
  std::unique_ptr<Schedule> schedule(new Schedule(setup, kind, shape_of()));
  ACUITY_TRY(schedule->allocate());
  return schedule;
}

Status Schedule::allocate() {
  MemoryLayout layout;
  for (ScalePlan& plan : plans_) {
    plan.xyb = layout.place(pictures_ * kChannels * plan.plane_floats(plan.xyb_ring()));
    plan.blurred = layout.place(kChannels * planes_ * plan.plane_floats(plan.ring()));
    plan.state = layout.place(static_cast<size_t>(kStateFloats) * static_cast<size_t>(plan.stride));
    plan.row_state =
        layout.place(kChannels * planes_ * kFilterFloats * static_cast<size_t>(plan.cells * plan.band_rows));
    plan.light = layout.place(pictures_ * kChannels * static_cast<size_t>(plan.light_ring()) *
                              static_cast<size_t>(plan.size.width));
    ACUITY_TRY(create_queues(plan));
  }
  tiles_ = layout.place(tile_total_ * kChannels * kSums);
  ACUITY_TRY(workspace_.allocate(layout, tile_total_ * sizeof(TileSums), "ssimulacra2"));
  if (pictures_ == 2) {
    ACUITY_TRY(workspace_.prepare({kernels::make_pixels, kernels::filter_rows, kernels::filter_columns}));
  } else {
    ACUITY_TRY(workspace_.prepare(
        {kernels::make_pixels, prepared_kernels::filter_rows_prepared, prepared_kernels::filter_columns_prepared}));
  }
  ACUITY_TRY_ASSIGN(begun_, workspace_.create_event());
  return workspace_.create_events(arrived_);
}

Status Schedule::create_queues(ScalePlan& plan) {
  for (Queue*& queue : plan.queues) ACUITY_TRY_ASSIGN(queue, workspace_.create_queue());
  for (Events* events : {&plan.made, &plan.filtered, &plan.finished}) ACUITY_TRY(workspace_.create_events(*events));
  ACUITY_TRY_ASSIGN(plan.done, workspace_.create_event());
  return {};
}

Result<std::vector<ScaleErrors>> Schedule::run(Samples& samples, const InputRows& reference,
                                               const InputRows& distorted) {
  return run(samples, {&reference, &distorted});
}

Result<std::vector<ScaleErrors>> Schedule::run(Samples& samples, const ReferencePlanes& reference,
                                               const InputRows& distorted) {
  reference_ = &reference;
  return run(samples, {nullptr, &distorted});
}

Result<std::vector<ScaleErrors>> Schedule::run(Samples& samples, const Samples::Pictures& pictures) {
  ACUITY_TRY(samples.begin(pictures, pixel_ring_, bands_at_once_ * plans_[0].band_rows));
  if (samples.may_be_recorded()) {
    const Key key{samples.key(), reference_ != nullptr ? reference_->number() : 0};
    ACUITY_TRY(recordings_.run(setup_.pool->device(), samples.queue(), key, [&](bool recording) {
      recording_ = recording;
      Status submitted = submit(samples);
      recording_ = false;
      return submitted;
    }));
  } else {
    ACUITY_TRY(submit(samples));
  }
  ACUITY_TRY(samples.wait());
  return pool_scales(reinterpret_cast<const TileSums*>(workspace_.results().data()),
                     scale_sizes(setup_.width, setup_.height));
}

// All of it. The queue of the samples begins, as recording wants it, and comes last.
Status Schedule::submit(Samples& samples) {
  for (ScalePlan& plan : plans_) plan.made_steps = 0;
  if (recording_) {
    ACUITY_TRY(samples.queue().signal(*begun_));
    ACUITY_TRY(plans_[0].pixels().wait_for(*begun_));
  }
  while (plans_[0].made_steps < plans_[0].steps()) ACUITY_TRY(run_step(samples, 0));
  for (const ScalePlan& plan : plans_) ACUITY_TRY(samples.queue().wait_for(*plan.done));
  return workspace_.fetch_results(samples.queue(), tiles_);
}

// The pixels of some bands, of which `band` is the first.
Status Schedule::make_bands(Samples& samples, int band) {
  const ScalePlan& plan = plans_[0];
  const int y = band * plan.band_rows, y_end = std::min(y + bands_at_once_ * plan.band_rows, setup_.height);
  if (!samples.are_made()) return samples.make(plan.pixels(), y, y_end, recording_);
  // The rows they replace must have been looked at in all cells.
  if (y >= pixel_ring_) {
    const int last = band + bands_at_once_ - 1 - pixel_ring_ / plan.band_rows;
    ACUITY_TRY(samples.queue().wait_for(event_of(plan.made, last + plan.cells - 1)));
  }
  ACUITY_TRY(samples.make(plan.pixels(), y, y_end, recording_));
  ACUITY_TRY(samples.queue().signal(event_of(arrived_, band)));
  return plan.pixels().wait_for(event_of(arrived_, band));
}

// The last step of a scale that makes something which the next scale's step is made of.
int Schedule::last_step_above(const ScalePlan& above, const ScalePlan& plan, int step) {
  int last = 0;
  for (int i = 0; i < plan.cells_of(step); ++i) {
    const int cell = plan.first_cell(step) + i, band = step - cell;
    last = std::max(last, std::min((2 * (band + 1) * plan.band_rows - 1) / above.band_rows, above.bands - 1) +
                              std::min((2 * (cell + 1) * plan.cell_columns - 1) / above.cell_columns, above.cells - 1));
  }
  return last;
}

// The last step of the next scale that looks at light which this step overwrites, where so many bands of it are held;
// negative if there is none.
int Schedule::last_step_below(const ScalePlan& plan, const ScalePlan& below, int light_bands, int step) {
  int last = -1;
  for (int i = 0; i < plan.cells_of(step); ++i) {
    const int cell = plan.first_cell(step) + i, band = (step - cell) * plan.band_rows / 2 / below.band_rows;
    if (band < light_bands) continue;
    last = std::max(last, band - light_bands +
                              std::min(((cell + 1) * plan.cell_columns / 2 - 1) / below.cell_columns, below.cells - 1));
  }
  return last;
}

// How many bands of a scale's light are held: as few as let no step wait for one that is given after it, and one more,
// lest it wait for the one given just before.
int Schedule::light_bands_of(const ScalePlan& above, const ScalePlan& plan) {
  const auto enough = [&](int light_bands) {
    int given = 0;
    for (int step = 0; step < above.steps(); ++step) {
      if (last_step_below(above, plan, light_bands, step) >= given) return false;
      while (given < plan.steps() && last_step_above(above, plan, given) <= step) ++given;
    }
    return true;
  };
  int light_bands = 1;
  while (!enough(light_bands)) ++light_bands;
  return std::min(light_bands + 1, plan.bands);
}

// A step of a scale, and of those below it the steps that it completes.
Status Schedule::run_step(Samples& samples, size_t s) {
  ScalePlan& plan = plans_[s];
  const int step = plan.made_steps++;
  ScalePlan* const next = s + 1 < plans_.size() ? &plans_[s + 1] : nullptr;
  Queue& pixels = plan.pixels();
  if (plan.several_queues() && step >= plan.rings.xyb) {
    // Who last looked at what is overwritten in the ring: the column filter, and the row filter from the next cell.
    ACUITY_TRY(pixels.wait_for(event_of(plan.finished, step - plan.rings.xyb)));
    if (plan.cells > 1) ACUITY_TRY(pixels.wait_for(event_of(plan.filtered, step - plan.rings.xyb + 1)));
  }
  if (next != nullptr) {
    const int below = last_step_below(plan, *next, next->light_bands, step);
    if (below >= 0) ACUITY_TRY(pixels.wait_for(event_of(next->made, below)));
  }
  if (s == 0) {
    if (step < plan.bands && step % bands_at_once_ == 0) ACUITY_TRY(make_bands(samples, step));
    ACUITY_TRY(make_pixels(0, samples.places(), step));
  } else {
    ACUITY_TRY(pixels.wait_for(event_of(plans_[s - 1].made, plans_[s - 1].made_steps - 1)));
    Samples::Places light;
    for (size_t i = 0; i < pictures_; ++i) {
      const size_t plane = static_cast<size_t>(plan.light_ring()) * static_cast<size_t>(plan.size.width);
      light[2 - pictures_ + i] = {
          {.samples = array<const unsigned char>(plan.light + i * kChannels * plane * sizeof(float)),
           .table = {},
           .format = FORMAT_PLANES,
           .table_last = 0,
           .plane_stride = static_cast<int>(plane)},
          plan.light_ring()};
    }
    ACUITY_TRY(make_pixels(s, light, step));
  }
  ACUITY_TRY(pixels.signal(event_of(plan.made, step)));
  // The row filter looks at the first columns of the next cell, which are the next step's.
  const int ahead = plan.cells > 1 ? 1 : 0;
  if (step >= ahead) ACUITY_TRY(filter_step(s, step - ahead));
  if (step == plan.steps() - 1) {
    if (ahead > 0) ACUITY_TRY(filter_step(s, step));
    ACUITY_TRY(plan.columns().signal(*plan.done));
  }
  if (next == nullptr) return {};
  while (next->made_steps < next->steps() && last_step_above(plan, *next, next->made_steps) <= step) {
    ACUITY_TRY(run_step(samples, s + 1));
  }
  return {};
}

// XYB and the next scale's light of both pictures. Where there is one, it takes the place of the first.
Status Schedule::make_pixels(size_t s, const Samples::Places& from, int step) {
  const ScalePlan& plan = plans_[s];
  const ScalePlan* const next = s + 1 < plans_.size() ? &plans_[s + 1] : nullptr;
  const Samples::Place &first = from[2 - pictures_], &second = from[1];
  return plan.pixels().run(
      kernels::make_pixels, plan.cells_of(step) * plan.cell_columns / kCellUnit,
      static_cast<int>(pictures_) * plan.band_rows / 16, first.pixels.samples, second.pixels.samples,
      first.pixels.table, second.pixels.table, array<kernels::real4>(plan.xyb), array<float>(next ? next->light : 0),
      first.pixels.format, first.pixels.table_last, first.pixels.plane_stride, first.ring, second.pixels.format,
      second.pixels.table_last, second.pixels.plane_stride, second.ring, plan.size.width, plan.size.height, step,
      plan.first_cell(step), plan.band_rows, plan.cell_columns, plan.xyb_ring(), next ? next->light_ring() : 0);
}

// Both filters and the sums, once the XYB is there.
Status Schedule::filter_step(size_t s, int step) {
  const ScalePlan& plan = plans_[s];
  Queue& rows = plan.rows(step);
  Queue& columns = plan.columns();
  if (plan.several_queues()) {
    ACUITY_TRY(rows.wait_for(event_of(plan.made, plan.made_steps - 1)));
    if (step >= plan.rings.blurred) ACUITY_TRY(rows.wait_for(event_of(plan.finished, step - plan.rings.blurred)));
  }
  ACUITY_TRY(filter_rows(s, step));
  if (plan.several_queues()) {
    ACUITY_TRY(rows.signal(event_of(plan.filtered, step)));
    ACUITY_TRY(columns.wait_for(event_of(plan.filtered, step)));
  }
  ACUITY_TRY(filter_columns(s, step));
  return plan.several_queues() ? columns.signal(event_of(plan.finished, step)) : Status{};
}

Status Schedule::filter_rows(size_t s, int step) {
  const ScalePlan& plan = plans_[s];
  const int across = plan.cells_of(step) * plan.band_rows / kBandUnit;
  const auto xyb = array<const float>(plan.xyb);
  const auto blurred = array<float>(plan.blurred), state = array<float>(plan.row_state);
  if (reference_ == nullptr) {
    return plan.rows(step).run(kernels::filter_rows, across, kChannels, xyb, blurred, state, plan.size.width,
                               plan.size.height, step, plan.first_cell(step), plan.band_rows, plan.cell_columns,
                               plan.xyb_ring(), plan.ring());
  }
  const ReferencePlanes::Scale& reference = reference_->scale(s);
  return plan.rows(step).run(prepared_kernels::filter_rows_prepared, across, kChannels,
                             reference_->array<const float>(reference.xyb), xyb, blurred, state, plan.size.width,
                             plan.size.height, step, plan.first_cell(step), plan.band_rows, plan.cell_columns,
                             reference.rows, plan.xyb_ring(), plan.ring());
}

Status Schedule::filter_columns(size_t s, int step) {
  using Four = kernel_dialect::real4;
  const ScalePlan& plan = plans_[s];
  const int across = plan.cells_of(step) * plan.cell_columns / 32;
  const auto xyb = array<const float>(plan.xyb);
  const auto blurred = array<const Four>(plan.blurred);
  const auto state = array<float>(plan.state), tiles = array<float>(tiles_ + plan.tiles * sizeof(TileSums));
  if (reference_ == nullptr) {
    return plan.columns().run(kernels::filter_columns, across, kChannels, xyb, blurred, state, tiles, plan.size.width,
                              plan.size.height, step, plan.first_cell(step), plan.band_rows, plan.cell_columns,
                              plan.xyb_ring(), plan.ring());
  }
  const ReferencePlanes::Scale& reference = reference_->scale(s);
  return plan.columns().run(
      prepared_kernels::filter_columns_prepared, across, kChannels, reference_->array<const float>(reference.xyb), xyb,
      blurred, reference_->array<const Four>(reference.blurred), state, tiles, plan.size.width, plan.size.height, step,
      plan.first_cell(step), plan.band_rows, plan.cell_columns, reference.rows, plan.xyb_ring(), plan.ring());
}

}  // namespace acuity::ssimulacra2
