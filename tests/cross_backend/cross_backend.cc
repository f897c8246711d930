// SPDX-License-Identifier: BSD-2-Clause-Patent
// Every metric on every device against the CPU, bit for bit.
//
//   cross_backend support                    what there is, and why the rest cannot be used
//   cross_backend test DEVICE [--quick]      metric x picture x sample format x pair/prepared/strips, == the CPU; the
//                                            same on frames; features of frames x options x depth x subsampling
//   cross_backend pictures DEVICE [METRIC] [--quick]  pictures only
//   cross_backend frames DEVICE [--quick]    frames only
//   cross_backend feature DEVICE NAME [--quick]  one feature of frames
//   cross_backend surfaces DEVICE [--quick]  frames that are on the device already
//   --brief instead of --quick: once through the host's code; also of bench modes: little work of small pictures
//   cross_backend once DEVICE SIDE [METRIC]  one pair from page-locked memory, some times, for profilers
//   cross_backend bench DEVICE [METRIC]      times from page-locked and ordinary memory, and of the upload alone
//   cross_backend kernels DEVICE METRIC      the time of each kernel of a metric alone
//   cross_backend bench_frames DEVICE [METRIC]  the same of frames of video, also with several in flight
//   cross_backend bench_features DEVICE METRIC WIDTH HEIGHT  frames per second of metrics of frames
//   cross_backend bench_decode DEVICE FILE   frames per second of a decoder; the device may be cpu
// A METRIC may have a setting: iwssim:weights=none.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "acuity/scorer.h"
#include "cross_backend/bench.h"
#include "cross_backend/frames_check.h"
#include "cross_backend/kernels_check.h"
#include "cross_backend/sheets.h"
#include "device/device.h"
#include "engine/metric.h"
#include "media/encode.h"
#include "support/fixtures.h"
#include "support/layouts.h"

namespace acuity::tests {
namespace {

int failures = 0;
int comparisons = 0;
int refusals = 0;  // not among those: neither gives a score, as expected

struct Case {
  std::string name;
  const ImageView* reference;
  const ImageView* distorted;
};

Result<Score> only(const Result<std::vector<Score>>& scores) {
  return scores.ok() ? Result<Score>(scores->front()) : scores.status();
}

Result<Score> score(const MetricInfo& metric, const std::string& device, const Case& pair, bool prepared, int strip,
                    ScorerOptions options) {
  if (options.metrics.empty()) options.metrics = {metric.name};
  options.device = device;
  if (strip > 0) options.memory = MemoryMode::strip(strip);
  Result<Scorer> scorer = Scorer::create(options, pair.reference->width, pair.reference->height);
  if (!scorer.ok()) return scorer.status();
  if (!prepared) return only(scorer->score(*pair.reference, *pair.distorted));
  const Result<Reference> reference = scorer->prepare(*pair.reference);
  if (!reference.ok()) return reference.status();
  return only(scorer->score(*reference, *pair.distorted));
}

// Prints the first output that differs: outputs run from the finest scale on, so it names the stage to look at.
void check(const std::string& what, const Result<Score>& expected, const Result<Score>& found, bool refused = false) {
  if (refused && !expected.ok() && expected.status().message() == found.status().message()) {
    ++refusals;
    return;
  }
  ++comparisons;
  const auto fail = [&](const std::string& why) {
    fmt::print("FAILED {}: {}\n", what, why);
    ++failures;
  };
  if (refused || !expected.ok() || !found.ok()) {
    return fail(fmt::format("{}; on the CPU {}", found.ok() ? "a score" : found.status().message(),
                            expected.ok() ? "a score" : expected.status().message()));
  }
  if (expected->outputs.size() != found->outputs.size()) {
    return fail(fmt::format("{} outputs, on the CPU {}", found->outputs.size(), expected->outputs.size()));
  }
  for (size_t i = 0; i < expected->outputs.size(); ++i) {
    const NamedValue &here = expected->outputs[i], &there = found->outputs[i];
    if (here.name == there.name && here.value == there.value) continue;
    return fail(fmt::format("{} is {:.9g}, on the CPU {} {:.9g}", there.name, there.value, here.name, here.value));
  }
  if (expected->value != found->value) fail(fmt::format("{:.17g}, on the CPU {:.17g}", found->value, expected->value));
  if (expected->map.values != found->map.values) fail("the maps differ");
}

// Only pictures that are too small are refused, unless the option `small` says otherwise, and options for videos.
bool is_refused(const MetricInfo& metric, const Case& pair, const ScorerOptions& options) {
  const int side = std::min(pair.reference->width, pair.reference->height);
  for (const OptionValue& option : options.metrics.empty() ? std::vector<OptionValue>() : options.metrics[0].options) {
    if (option.name == "small") {
      return option.value == "reject" && side < (metric.minimum_side > 1 ? metric.minimum_side : 176);
    }
    const bool is_default = option.value == "replicate" || option.value == "no" || option.value == "after";
    if (option.name == "padding" || option.name == "full_screen" || option.name == "clip") return !is_default;
  }
  return side < metric.minimum_side;
}

void compare(const MetricInfo& metric, const std::string& device, const Case& pair, bool prepared, int strip,
             const ScorerOptions& options = {}) {
  check(fmt::format("{} {} {}{}{}", metric.name, device, pair.name, prepared ? " prepared" : "",
                    strip > 0 ? fmt::format(" strip {}", strip) : ""),
        score(metric, "cpu", pair, false, 0, options), score(metric, device, pair, prepared, strip, options),
        is_refused(metric, pair, options));
}

// Alpha runs from nothing to all.
Content drawn(bool distorted, Channels channels) {
  const int colours = channels == Channels::rgba || channels == Channels::rgb ? 3 : 1;
  return [=](int c, int x, int y) {
    if (c == colours) return 0.5 + 0.5 * std::sin(0.11 * x - 0.07 * y + (distorted ? 0.1 : 0));
    const double wave = 0.5 + 0.2 * std::sin(0.31 * x + 0.17 * y * (c + 1)) + 0.15 * std::sin(0.043 * (x * y % 977));
    return distorted ? std::floor(wave * 16) / 16 : wave;
  };
}

void test_drawn(const MetricInfo& metric, const std::string& device, int width, int height, bool everything,
                Channels channels = Channels::rgb, const ScorerOptions& options = {}) {
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32}) {
    if (!everything && type != SampleType::u8) continue;
    const Layout layout{.type = type, .depth = type == SampleType::u8 ? 8 : 12};
    const Sheet reference(layout, width, height, channels, drawn(false, channels));
    const Sheet distorted(layout, width, height, channels, drawn(true, channels));
    const Case pair{fmt::format("drawn {}x{} {} of {}", width, height, layout.name(), static_cast<int>(channels)),
                    &reference.view, &distorted.view};
    compare(metric, device, pair, false, 0, options);
    if (everything) {
      compare(metric, device, pair, true, 0, options);
      compare(metric, device, pair, false, 34, options);
      if (type == SampleType::u8) compare(metric, device, pair, true, 34, options);
    }
  }
}

void test_strips(const MetricInfo& metric, const std::string& device, int width, int height) {
  const Sheet reference({}, width, height, Channels::rgb, drawn(false, Channels::rgb));
  const Sheet distorted({}, width, height, Channels::rgb, drawn(true, Channels::rgb));
  const Case pair{fmt::format("drawn {}x{}", width, height), &reference.view, &distorted.view};
  for (const bool prepared : {false, true}) compare(metric, device, pair, prepared, 34);
}

// A reference whose pixels are overwritten once it is prepared.
void test_gone_reference(const MetricInfo& metric, const std::string& device, const Case& pair) {
  const Result<Score> expected = score(metric, "cpu", pair, false, 0, {});
  Result<Scorer> scorer =
      Scorer::create({.metrics = {metric.name}, .device = device}, pair.reference->width, pair.reference->height);
  const auto found = [&]() -> Result<Score> {
    if (!scorer.ok()) return scorer.status();
    const ImageView& view = *pair.reference;  // interleaved, without gaps
    std::vector<std::byte> copy(view.planes[0], view.planes[0] + view.row_stride * view.height);
    ImageView there = view;
    for (size_t c = 0; c < there.planes.size(); ++c) there.planes[c] = copy.data() + (view.planes[c] - view.planes[0]);
    const Result<Reference> reference = scorer->prepare(there);
    std::fill(copy.begin(), copy.end(), std::byte{0});
    return reference.ok() ? only(scorer->score(*reference, *pair.distorted)) : reference.status();
  };
  check(fmt::format("{} {} {}, a reference that is gone", metric.name, device, pair.name), expected, found());
}

// Pixels that are made before they are worked on, by kernels or, because of a profile that kernels cannot apply, by the
// host: in several bands, and in two with a second so low that all rows are held.
void test_made_pixels(const MetricInfo& metric, const std::string& device) {
  const auto profile = std::make_shared<const File>(rgb_profile());
  for (const int height : {200, 66}) {
    for (const bool by_host : {false, true}) {
      const Layout layout{.type = by_host ? SampleType::f32 : SampleType::u8};
      Sheet reference(layout, 70, height, Channels::rgba, drawn(false, Channels::rgba));
      Sheet distorted(layout, 70, height, Channels::rgba, drawn(true, Channels::rgba));
      if (by_host) reference.view.colour.icc = distorted.view.colour.icc = profile;
      const Case pair{fmt::format("70x{} made by {}", height, by_host ? "the host" : "kernels"), &reference.view,
                      &distorted.view};
      for (const bool prepared : {false, true}) compare(metric, device, pair, prepared, 34);
      test_gone_reference(metric, device, pair);
    }
  }
}

const std::vector<bool> kMap{true}, kNoMap{false}, kBoth{false, true};

// One scorer, call after call: what one call leaves on the device reaches no other, be it as bright as can be.
void test_in_turn(const MetricEntry& entry, const std::string& device, int width, int height, int strip,
                  const std::vector<bool>& maps) {
  const Sheet first({}, width, height, Channels::rgb, drawn(false, Channels::rgb));
  const Sheet second({}, width, height, Channels::rgb,
                     [](int c, int x, int y) { return (7 * x + 5 * y + c) % 97 / 97.0; });
  const Sheet distorted({}, width, height, Channels::rgb, drawn(true, Channels::rgb));
  const Sheet transparent({}, width, height, Channels::rgba, drawn(true, Channels::rgba));
  Sheet bright({.type = SampleType::f32}, width, height, Channels::rgb,
               [](int, int x, int y) { return x % 16 == 0 && y % 16 == 0 ? 3e38 : 0.5; });
  bright.view.colour.transfer = Transfer::linear;
  for (const bool map : maps) {
    if (map && !entry.map_on_gpu) continue;
    ScorerOptions options{.metrics = {entry.info.name}, .device = device, .want_map = map};
    if (strip > 0) options.memory = MemoryMode::strip(strip);
    Result<Scorer> scorer = Scorer::create(options, width, height);
    const auto expect = [&](const std::string& step, const Sheet& reference, const Result<Score>& found,
                            const Sheet* other = nullptr) {
      const Case pair{"", &reference.view, other != nullptr ? &other->view : &distorted.view};
      check(fmt::format("{} {} {}x{} in turn{}: {}", entry.info.name, device, width, height, map ? ", map" : "", step),
            score(entry.info, "cpu", pair, false, 0, {.want_map = map}), found);
    };
    if (!scorer.ok()) {
      expect("no scorer", first, scorer.status());
      continue;
    }
    Result<Reference> kept = Reference();
    const auto against_kept = [&](const Sheet& other) -> Result<Score> {
      return kept.ok() ? only(scorer->score(*kept, other.view)) : kept.status();
    };
    const auto prepared = [&](const Sheet& reference) -> Result<Score> {
      kept = scorer->prepare(reference.view);
      return against_kept(distorted);
    };
    expect("first, prepared", first, prepared(first));
    expect("first, a pair", first, only(scorer->score(first.view, distorted.view)));
    expect("second, prepared", second, prepared(second));
    expect("first, another pair", first, only(scorer->score(first.view, distorted.view)));
    expect("second, still prepared", second, against_kept(distorted));
    expect("second against a transparent one", second, against_kept(transparent), &transparent);
    static_cast<void>(scorer->score(bright.view, bright.view));
    expect("second, after bright ones", second, against_kept(distorted));
    static_cast<void>(scorer->score(bright.view, bright.view));
    expect("first, a pair after bright ones", first, only(scorer->score(first.view, distorted.view)));
    static_cast<void>(prepared(bright));
    expect("first, prepared after a bright one", first, prepared(first));
    expect("a transparent one, prepared", transparent, prepared(transparent));
    expect("a pair amid it", first, only(scorer->score(first.view, distorted.view)));
    expect("a transparent one, still prepared", transparent, against_kept(distorted));
    expect("second, prepared after a transparent one", second, prepared(second));
  }
}

// One scorer and pictures in page-locked memory, at another place or of another format in some calls: whatever a device
// keeps of the work of one call fits the next.
void test_page_locked(const MetricEntry& entry, Device& device, int width, int height, int strip, Amount amount) {
  std::vector<PinnedSheet> sheets;  // two references and two distorted ones of eight bits, and the same of twelve
  for (const SampleType type : {SampleType::u8, SampleType::u16}) {
    const Layout layout{.type = type, .depth = type == SampleType::u8 ? 8 : 12};
    for (const int number : {0, 1, 2, 3}) {
      const Content content = [=](int c, int x, int y) {
        return drawn(number >= 2, Channels::rgb)(c, x + 31 * number, y) * (number % 2 == 0 ? 1.0 : 0.9);
      };
      Result<PinnedSheet> sheet = pinned_sheet(device, Sheet(layout, width, height, Channels::rgb, content));
      if (!sheet.ok()) return check("page-locked memory", Score{}, sheet.status());
      sheets.push_back(std::move(*sheet));
    }
  }
  ScorerOptions options{.metrics = {entry.info.name}, .device = device.info().id};
  if (strip > 0) options.memory = MemoryMode::strip(strip);
  Result<Scorer> scorer = Scorer::create(options, width, height);
  if (!scorer.ok()) return check(entry.info.name + " page-locked", Score{}, scorer.status());
  const auto expect = [&](size_t reference, size_t distorted, const char* kind, const Result<Score>& found) {
    const Case pair{"", &sheets[reference].view, &sheets[distorted].view};
    check(fmt::format("{} {} {}x{} page-locked, {} {} {}", entry.info.name, device.info().id, width, height, kind,
                      reference, distorted),
          score(entry.info, "cpu", pair, false, 0, {}), found);
  };
  const bool brief = amount == Amount::brief;
  for (const size_t reference : brief ? std::vector<size_t>{0} : std::vector<size_t>{0, 1, 4, 0}) {
    const Result<Reference> kept = scorer->prepare(sheets[reference].view);
    if (!kept.ok()) {
      expect(reference, reference, "prepared", kept.status());
      continue;
    }
    const Result<Reference> samples = scorer->prepare(sheets[reference].view, Keep::small);
    for (const size_t distorted :
         brief ? std::vector<size_t>{2, 2, 6} : std::vector<size_t>{2, 2, 2, 3, 2, 6, 6, 7, 3}) {
      expect(reference, distorted, "prepared", only(scorer->score(*kept, sheets[distorted].view)));
      if (samples.ok()) expect(reference, distorted, "samples", only(scorer->score(*samples, sheets[distorted].view)));
    }
  }
  for (const auto& [reference, distorted] : std::initializer_list<std::pair<size_t, size_t>>{
           {0, 2}, {0, 2}, {0, 2}, {1, 2}, {2, 0}, {1, 3}, {0, 0}, {0, 2}, {4, 6}, {5, 7}, {4, 2}, {0, 6}, {0, 2}}) {
    if (brief && reference == 2) break;
    expect(reference, distorted, "a pair", only(scorer->score(sheets[reference].view, sheets[distorted].view)));
  }
}

// All metrics of a pair in one call: pictures that come from the host, that stay on the device from call to call, and
// that were there before; against a prepared reference, and from several jobs.
void test_together(const std::shared_ptr<Device>& device, int width, int height, Amount amount) {
  ScorerOptions options{.device = device->info().id};
  for (const MetricEntry& entry : registry()) {
    if (entry.on_gpu) options.metrics.push_back(entry.info.name);
  }
  std::vector<Layout> layouts = arrangements(SampleType::u8, 8);
  if (amount != Amount::all) layouts = {layouts.front(), layouts.back()};
  if (amount == Amount::brief) layouts = {layouts.back()};
  for (const Layout& layout : layouts) {
    const Sheet reference(layout, width, height, Channels::rgb, drawn(false, Channels::rgb));
    const Sheet distorted(layout, width, height, Channels::rgb, drawn(true, Channels::rgb));
    ScorerOptions on_cpu = options;
    on_cpu.device = "cpu";
    Result<Scorer> cpu = Scorer::create(on_cpu, width, height), gpu = Scorer::create(options, width, height);
    const auto all = [&](const std::string& what, const Result<std::vector<Score>>& found) {
      const Result<std::vector<Score>> expected = cpu->score(reference.view, distorted.view);
      for (size_t i = 0; i < options.metrics.size(); ++i) {
        check(fmt::format("{} {} {}x{} {}, all at once, {}", options.metrics[i].metric, options.device, width, height,
                          layout.name(), what),
              expected.ok() ? Result<Score>((*expected)[i]) : expected.status(),
              found.ok() ? Result<Score>((*found)[i]) : found.status());
      }
    };
    if (!cpu.ok() || !gpu.ok()) {
      all("created", (cpu.ok() ? gpu : cpu).status());
      continue;
    }
    const Input kept[] = {reference.view, distorted.view};
    all("views", gpu->score(reference.view, distorted.view));
    for (int i = 0; i < 3; ++i) all("inputs", gpu->score(kept[0], kept[1]));
    const Result<Reference> prepared = gpu->prepare(kept[0]);
    all("prepared", prepared.ok() ? gpu->score(*prepared, kept[1]) : prepared.status());
    std::vector<Job> jobs;
    for (int i = 0; i < 3; ++i) {
      Result<Job> job = i == 1 ? gpu->start(*prepared, distorted.view) : gpu->start(kept[0], distorted.view);
      if (job.ok()) jobs.push_back(std::move(*job));
    }
    for (Job& job : jobs) all("a job", job.finish());
    std::vector<DeviceSheet> there;
    for (const Sheet* sheet : {&reference, &distorted}) {
      const Result<PinnedSheet> pinned = pinned_sheet(*device, *sheet);
      Result<DeviceSheet> sent = pinned.ok() ? device_sheet(*device, *pinned) : pinned.status();
      if (!sent.ok()) return check("device memory", Score{}, sent.status());
      there.push_back(std::move(*sent));
    }
    all("device memory", gpu->score(Input::on_device(there[0].view, options.device, there[0].memory),
                                    Input::on_device(there[1].view, options.device, there[1].memory)));
  }
}

// Floats in memory of the device that are no numbers are refused as on the CPU, word by word.
void test_not_finite(const std::shared_ptr<Device>& device, int width, int height) {
  struct Mistake {
    float value;
    int channel, x, y;
  };
  const std::vector<Mistake> mistakes{{std::numeric_limits<float>::quiet_NaN(), 2, width - 1, height - 1},
                                      {std::numeric_limits<float>::infinity(), 0, 0, 0},
                                      {-std::numeric_limits<float>::infinity(), 1, width - 1, height / 2}};
  for (const Layout& layout : arrangements(SampleType::f32, 8)) {
    const Content content = drawn(false, Channels::rgb);
    for (size_t count = 0; count <= mistakes.size(); ++count) {
      const Sheet sheet(layout, width, height, Channels::rgb, [&](int c, int x, int y) {
        for (size_t i = 0; i < count; ++i) {
          const Mistake& mistake = mistakes[i];
          if (c == mistake.channel && x == mistake.x && y == mistake.y) return double{mistake.value};
        }
        return content(c, x, y);
      });
      const Result<PinnedSheet> pinned = pinned_sheet(*device, sheet);
      const Result<DeviceSheet> there = pinned.ok() ? device_sheet(*device, *pinned) : pinned.status();
      if (!there.ok()) return check("floats in device memory", Score{}, there.status());
      const auto score_on = [&](const std::string& id, const Input& input) -> Result<Score> {
        Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .device = id}, width, height);
        if (!scorer.ok()) return scorer.status();
        return only(scorer->score(input, input));
      };
      const Result<Score> expected = score_on("cpu", sheet.view);
      const Result<Score> found =
          score_on(device->info().id, Input::on_device(there->view, device->info().id, there->memory));
      const std::string what =
          fmt::format("{} {}x{} floats in device memory, {} not finite", layout.name(), width, height, count);
      check(what, expected, found, count > 0);
    }
  }
}

// Scorers on threads of their own, which begin, allocate and keep work while others do.
void test_at_once(const MetricEntry& entry, Device& device, int width, int height, int strip) {
  constexpr size_t kThreads = 4, kCalls = 5;
  std::vector<PinnedSheet> sheets;
  for (const bool distorted : {false, true}) {
    Result<PinnedSheet> sheet =
        pinned_sheet(device, Sheet({}, width, height, Channels::rgb, drawn(distorted, Channels::rgb)));
    if (!sheet.ok()) return check("page-locked memory", Score{}, sheet.status());
    sheets.push_back(std::move(*sheet));
  }
  ScorerOptions options{.metrics = {entry.info.name}, .device = device.info().id, .threads = 1};
  if (strip > 0) options.memory = MemoryMode::strip(strip);
  std::vector<std::vector<Result<Score>>> found(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<Result<Score>>& mine : found) {
    threads.emplace_back([&] {
      Result<Scorer> scorer = Scorer::create(options, width, height);
      for (size_t i = 0; i < kCalls; ++i) {
        mine.push_back(scorer.ok() ? only(scorer->score(sheets[0].view, sheets[1].view)) : scorer.status());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Result<Score> expected =
      score(entry.info, "cpu", {"", &sheets[0].view, &sheets[1].view}, false, 0, {.threads = 1});
  for (const std::vector<Result<Score>>& mine : found) {
    for (const Result<Score>& one : mine) {
      check(fmt::format("{} {} {}x{}, several at once", entry.info.name, device.info().id, width, height), expected,
            one);
    }
  }
}

// A number that the option accepts, with the defaults of the others.
std::string number_for(const MetricOption& option) {
  if (option.name == "distance") return "1.3";
  if (option.name == "black") return "0.5";
  if (option.name == "ambient") return "300";
  const double number = option.minimum + (option.maximum - option.minimum) / 8;
  return fmt::format("{}", option.whole ? std::floor(number) : number);
}

// Every option that accepts numbers at one of them, every word of the others, and the map where devices make it.
void test_options(const MetricEntry& entry, const std::string& device) {
  for (const Channels channels : {Channels::rgb, Channels::rgba}) {
    const Sheet reference({SampleType::u8, 8}, 75, 70, channels, drawn(false, channels));
    const Sheet distorted({SampleType::u8, 8}, 75, 70, channels, drawn(true, channels));
    const Case pair{fmt::format("drawn 75x70 of {}", static_cast<int>(channels)), &reference.view, &distorted.view};
    for (const MetricOption& option : entry.info.options) {
      std::vector<std::string> values = option.words;
      if (option.minimum <= option.maximum) values = {number_for(option)};
      for (const std::string& value : values) {
        const std::string name = fmt::format("{} {}={}", pair.name, option.name, value);
        compare(entry.info, device, {name, pair.reference, pair.distorted}, false, 0,
                {.metrics = {{entry.info.name, {{option.name, value}}}}});
      }
    }
    if (entry.map_on_gpu) {
      compare(entry.info, device, {pair.name + " map", pair.reference, pair.distorted}, false, 0, {.want_map = true});
    }
  }
}

// Of one metric where it is named.
int test_pictures(const std::string& device, Amount amount, const std::string& only_metric = {}) {
  const bool quick = amount != Amount::all, brief = amount == Amount::brief;
  const Result<std::shared_ptr<Device>> opened = open_device(device);  // kept open from case to case
  if (!opened.ok()) {
    fmt::print("FAILED {}: {}\n0 passed, 1 failed\n", device, opened.status().message());
    return 1;
  }
  const Tally pixels = check_pixels(*opened);
  comparisons += pixels.comparisons;
  failures += pixels.failures;
  test_not_finite(*opened, 300, 40);
  test_not_finite(*opened, 2, 66000);  // more rows than a launch has groups
  if (only_metric.empty()) test_together(*opened, 200, 190, amount);
  if (only_metric.empty() && !quick) test_together(*opened, 1601, 1300, amount);
  for (const MetricEntry& entry : registry()) {
    if (!entry.on_gpu || (!only_metric.empty() && entry.info.name != only_metric)) continue;
    const int scores_before = comparisons;
    for (const Golden& golden : goldens("ssimulacra2.csv", "score")) {
      const Picture reference = fixture(golden.reference), distorted = fixture(golden.distorted);
      const Case pair{golden.reference + " " + golden.distorted, &reference.view, &distorted.view};
      if (quick && (brief || int64_t{reference.view.width} * reference.view.height > 8000)) continue;
      compare(entry.info, device, pair, false, 0);
      if (!quick) compare(entry.info, device, pair, true, 0);
    }
    for (int side = 8; side <= 80 && !brief; side += quick ? 23 : 1) {
      test_drawn(entry.info, device, side, 8 + (side * 29) % 73, quick ? side == 31 : true);
    }
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 1}, {1, 9}, {3, 2}, {5, 70}, {33, 7}}) {
      test_drawn(entry.info, device, width, height, false);
      if (entry.info.name == "butteraugli") {
        test_drawn(entry.info, device, width, height, false, Channels::rgb,
                   {.metrics = {{entry.info.name, {{"small", "libjxl"}}}}});
      }
    }
    test_drawn(entry.info, device, 70, 300, true);  // more than one band when cut into strips
    for (const Channels channels : {Channels::rgba, Channels::grey, Channels::grey_alpha}) {
      test_drawn(entry.info, device, 45, 140, !quick || channels == Channels::rgba, channels);
    }
    if (!brief) test_options(entry, device);
    // The quick form has the map of full pictures and no map of strips.
    if (!brief) test_in_turn(entry, device, 70, quick ? 150 : 300, 0, quick && entry.map_on_gpu ? kMap : kBoth);
    test_in_turn(entry, device, 70, quick ? 150 : 300, 34, quick && !brief ? kNoMap : kBoth);
    if (!quick) test_in_turn(entry, device, 777, 2051, 0, kBoth);
    // Of these only larger pictures are compared as they are, and in several parts.
    const bool enlarges = entry.info.name == "iwssim" || entry.info.name == "msssim";
    test_page_locked(entry, **opened, enlarges ? 189 : 150, enlarges ? 600 : (quick ? 80 : 140), 34, amount);
    if (!quick) test_page_locked(entry, **opened, 2051, 1300, 0, amount);
    // Wide enough to be cut into blocks of columns, and high enough for strips to hold fewer bands than there are.
    if (entry.info.name == "ssimulacra2") test_strips(entry.info, device, 1600, 420);
    test_made_pixels(entry.info, device);
    test_at_once(entry, **opened, 150, 140, 34);
    if (!quick) test_at_once(entry, **opened, 900, 700, 0);
    if (enlarges) {
      test_strips(entry.info, device, 189, 1201);
      if (!quick) test_drawn(entry.info, device, 189, 1201, true);
    }
    if (entry.info.name == "iwssim" && !quick) {
      test_drawn(entry.info, device, 189, 1201, true, Channels::rgb,
                 {.metrics = {{entry.info.name, {{"weights", "none"}}}}});
    }
    if (entry.info.name == "zensim" && !brief) {
      test_drawn(entry.info, device, 70, 300, true, Channels::rgb,
                 {.metrics = {{entry.info.name, {{"features", "all"}}}}});
    }
    if (!quick) {
      test_drawn(entry.info, device, 1100, 1300, true);
      test_drawn(entry.info, device, 4096, 4096, false);
    }
    if (comparisons == scores_before) {
      fmt::print("FAILED {}: no score was compared\n", entry.info.name);
      ++failures;
    }
  }
  fmt::print("{} passed, {} failed; {} refused on both sides, as they must be\n", comparisons - failures, failures,
             refusals);
  return failures == 0 && comparisons > 0 ? 0 : 1;
}

int report(const Result<std::shared_ptr<Device>>& opened, const Tally& tally) {
  fmt::print("{}{} passed, {} failed\n", opened.status().message(), tally.comparisons - tally.failures, tally.failures);
  return tally.failures == 0 && tally.comparisons > 0 ? 0 : 1;
}

int test_frames(const std::string& device, Amount amount) {
  const Result<std::shared_ptr<Device>> opened = open_device(device);
  Tally all;
  if (opened.ok()) {
    for (const Tally& tally : {check_frame_pixels(*opened), check_frames(*opened, amount),
                               check_frame_pictures(*opened, amount), check_surfaces(*opened, amount)}) {
      all = {all.comparisons + tally.comparisons, all.failures + tally.failures};
    }
  }
  return report(opened, all);
}

int test_surfaces(const std::string& device, Amount amount) {
  const Result<std::shared_ptr<Device>> opened = open_device(device);
  return report(opened, opened.ok() ? check_surfaces(*opened, amount) : Tally{});
}

int test_feature(const std::string& device, const std::string& feature, Amount amount) {
  const Result<std::shared_ptr<Device>> opened = open_device(device);
  return report(opened, opened.ok() ? check_frames(*opened, amount, feature) : Tally{});
}

}  // namespace
}  // namespace acuity::tests

int main(int count, char** words) {
  std::vector<std::string> arguments(words + 1, words + count);
  acuity::tests::Amount amount = acuity::tests::Amount::all;
  if (!arguments.empty() && (arguments.back() == "--quick" || arguments.back() == "--brief")) {
    amount = arguments.back() == "--quick" ? acuity::tests::Amount::quick : acuity::tests::Amount::brief;
    arguments.pop_back();
  }
  if (arguments.size() == 1 && arguments[0] == "support") return acuity::tests::support();
  if (arguments.size() == 2 && arguments[0] == "test") {
    const int pictures = acuity::tests::test_pictures(arguments[1], amount);
    return acuity::tests::test_frames(arguments[1], amount) + pictures == 0 ? 0 : 1;
  }
  if (arguments.size() >= 2 && arguments.size() <= 3 && arguments[0] == "pictures") {
    return acuity::tests::test_pictures(arguments[1], amount, arguments.size() > 2 ? arguments[2] : "");
  }
  if (arguments.size() >= 3 && arguments.size() <= 4 && arguments[0] == "once") {
    return acuity::tests::once(arguments[1], std::atoi(arguments[2].c_str()),
                               arguments.size() > 3 ? arguments[3] : "ssimulacra2");
  }
  if (arguments.size() >= 2 && arguments.size() <= 4 && arguments[0] == "bench") {
    return acuity::tests::bench(arguments[1], arguments.size() > 2 ? arguments[2] : "ssimulacra2",
                                arguments.size() > 3 ? std::atoi(arguments[3].c_str()) : 0, amount);
  }
  if (arguments.size() >= 3 && arguments.size() <= 4 && arguments[0] == "kernels") {
    return acuity::tests::kernel_times(arguments[1], arguments[2],
                                       arguments.size() > 3 ? std::atoi(arguments[3].c_str()) : 4096);
  }
  if (arguments.size() >= 2 && arguments.size() <= 3 && arguments[0] == "bench_frames") {
    return acuity::tests::bench_frames(arguments[1], arguments.size() > 2 ? arguments[2] : "ssimulacra2", amount);
  }
  if (arguments.size() == 2 && arguments[0] == "surfaces") return acuity::tests::test_surfaces(arguments[1], amount);
  if (arguments.size() == 2 && arguments[0] == "frames") return acuity::tests::test_frames(arguments[1], amount);
  if (arguments.size() == 5 && arguments[0] == "bench_features") {
    return acuity::tests::bench_features(arguments[1], arguments[2], std::atoi(arguments[3].c_str()),
                                         std::atoi(arguments[4].c_str()), amount);
  }
  if (arguments.size() == 3 && arguments[0] == "bench_decode") {
    return acuity::tests::bench_decode(arguments[1], arguments[2]);
  }
  if (arguments.size() == 3 && arguments[0] == "feature") {
    return acuity::tests::test_feature(arguments[1], arguments[2], amount);
  }
  std::fprintf(stderr,
               "usage: cross_backend support | test DEVICE [--quick] | pictures DEVICE [METRIC] [--quick] | "
               "frames DEVICE [--quick] | feature DEVICE NAME [--quick] | once DEVICE SIDE [METRIC] | "
               "bench DEVICE [METRIC [SIDE]] | kernels DEVICE METRIC [SIDE] | bench_frames DEVICE [METRIC] | "
               "bench_features DEVICE METRIC WIDTH HEIGHT | "
               "surfaces DEVICE [--quick] | bench_decode DEVICE FILE\n");
  return 2;
}
