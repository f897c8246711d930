// SPDX-License-Identifier: BSD-2-Clause-Patent
// Calls every part of the library from outside: whatever the shared library fails to show does not link.
#include <array>
#include <cstdio>

#include "acuity/capability.h"
#include "acuity/frame_scorer.h"
#include "acuity/picture.h"
#include "acuity/scorer.h"
#include "acuity/version.h"

int main() {
  std::printf("acuity %s, %zu metrics\n", acuity_version(), acuity::metrics().size());
  const auto nothing = acuity::decode_picture({}, "nothing");
  const auto missing = acuity::read_picture("/no/such/file");
  if (nothing.ok() || missing.ok()) return 1;

  std::array<unsigned char, 16 * 16 * 3> grey;
  grey.fill(128);
  const auto view = acuity::interleaved_view(grey.data(), 16, 16, acuity::Channels::rgb, acuity::SampleType::u8);
  for (const acuity::MetricInfo& metric : acuity::metrics()) {
    if (metric.is_frame_metric) continue;
    auto scorer = acuity::Scorer::create({.metrics = {metric.name}}, 16, 16);
    if (!scorer.ok()) return 1;
    const auto reference = scorer->prepare(view);
    if (!reference.ok() || reference->bytes() < 0) return 1;
    const auto against = scorer->score(*reference, view);
    const auto pair = scorer->score(view, view);
    const std::array<acuity::InputPair, 2> pairs{{{view, view}, {view, view}}};
    const auto many = scorer->score_many(pairs);
    if (!many.ok() || many->size() != 2 || !many.value()[1].ok()) return 1;
    auto job = scorer->start(view, view);
    if (!job.ok() || !job->finish().ok() || !job->done()) return 1;
    if (!against.ok() || !pair.ok()) return 1;
    const double value = against->front().value;
    if (value != metric.identical || pair->front().value != metric.identical) return 1;
    std::printf("%s %g %s\n", metric.name.c_str(), value, acuity::meaning(metric.name, value).c_str());
  }
  if (!acuity::load_capabilities("").ok() || !acuity::save_capabilities("").ok()) return 1;
  std::printf("%s\n", acuity::capability_path().c_str());

  acuity::FrameView frame;
  frame.width = frame.height = 16;
  frame.subsampling = acuity::Subsampling::grey;
  frame.planes[0] = reinterpret_cast<const std::byte*>(grey.data());
  frame.row_strides[0] = 16;
  acuity::FrameFormat format;
  format.width = format.height = 16;
  format.subsampling = acuity::Subsampling::grey;
  size_t delivered = 0;
  auto frames = acuity::FrameScorer::create(
      {.metrics = {{"psnr_yuv"}}, .format = format, .on_scores = [&](const acuity::FrameValues&) { ++delivered; }});
  if (!frames.ok() || !frames->push(frame, frame).ok() || !frames->push_neighbour(frame, frame).ok()) return 1;
  const auto series = frames->finish();
  if (delivered != 1 || !frames->score_at(0).ok() || frames->output_names(0).size() != 1) return 1;
  if (!series.ok() || series.value()[0].outputs[0].values.size() != 1) return 1;
  return acuity::find_metric("no such metric") == nullptr ? 0 : 1;
}
