// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "acuity/scorer.h"
#include "cross_backend/fill.h"
#include "device/device.h"
#include "device/pinned.h"

namespace acuity::tests {
namespace {

// "ssimulacra2", "iwssim:weights=none", or several with + between them.
ScorerOptions options_of(const std::string& metrics, const std::string& device) {
  ScorerOptions options{.device = device};
  for (size_t begin = 0; begin < metrics.size();) {
    const size_t end = std::min(metrics.find('+', begin), metrics.size());
    const std::string metric = metrics.substr(begin, end - begin);
    const size_t colon = metric.find(':'), equals = metric.find('=');
    MetricRequest request(metric.substr(0, colon));
    if (equals != std::string::npos) {
      request.options = {{metric.substr(colon + 1, equals - colon - 1), metric.substr(equals + 1)}};
    }
    options.metrics.push_back(std::move(request));
    begin = end + 1;
  }
  return options;
}

double median_ms(int repeats, const std::function<bool()>& run) {
  std::vector<double> times;
  for (int i = 0; i < repeats + 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!run()) return -1;
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (i >= 3) times.push_back(elapsed.count());  // the first ones load and allocate
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// A pair of drawn pictures in page-locked memory.
struct PinnedPair {
  std::shared_ptr<PinnedMemory> memory;
  ImageView reference, distorted;
};

Result<PinnedPair> pinned_pair(Device& device, int side) {
  const size_t bytes = static_cast<size_t>(side) * static_cast<size_t>(side) * 3;
  Result<std::shared_ptr<PinnedMemory>> memory = allocate_known_pinned(device, 2 * bytes);
  if (!memory.ok()) return memory.status();
  PinnedPair pair{*memory, {}, {}};
  fill(pair.memory->data(), 2 * bytes, [&](size_t i) {
    const size_t x = i % bytes / 3 % static_cast<size_t>(side), y = i % bytes / 3 / static_cast<size_t>(side);
    const size_t value = (x * 3 / 7 + y / 3 + i % 3 * 40 + (x * 2654435761u >> 7) % 9) % 256;
    return i < bytes ? value : value / 6 * 6;
  });
  pair.reference = interleaved_view(pair.memory->data(), side, side, Channels::rgb, SampleType::u8);
  pair.distorted = interleaved_view(pair.memory->data() + bytes, side, side, Channels::rgb, SampleType::u8);
  return pair;
}

// What a bench is made of: pictures of these sides, and calls.
struct Sizes {
  std::vector<int> sides;
  int small_side;               // of many pairs at once
  std::vector<int> many_sides;  // of score_many
  int repeats, large_repeats;   // of sides up to 1024, and above
  int pairs;                    // of small_side
};
const Sizes kWhole{{512, 1024, 2048, 4096}, 512, {256, 512, 1024}, 60, 20, 400};
const Sizes kBrief{{64, 128}, 64, {64}, 2, 2, 4};

// One call for many pairs, from one thread.
int bench_many(Device& device, const std::string& metric, const Sizes& sizes) {
  for (const int side : sizes.many_sides) {
    const Result<PinnedPair> pair = pinned_pair(device, side);
    Result<Scorer> scorer = Scorer::create(options_of(metric, device.info().id), side, side);
    if (!pair.ok() || !scorer.ok()) return 1;
    const std::vector<InputPair> pairs(static_cast<size_t>(sizes.pairs * sizes.small_side / side),
                                       {pair->reference, pair->distorted});
    const double ms = median_ms(5, [&] { return scorer->score_many(pairs).ok(); });
    fmt::print("score_many at {}: {:.0f} pairs/s\n", side, 1000 * static_cast<double>(pairs.size()) / ms);
  }
  return 0;
}

}  // namespace

int once(const std::string& id, int side, const std::string& metric) {
  const Result<std::shared_ptr<Device>> opened = open_device(id);
  if (!opened.ok()) {
    fmt::print("{}\n", opened.status().message());
    return 1;
  }
  const Result<PinnedPair> pair = pinned_pair(**opened, side);
  Result<Scorer> scorer = Scorer::create(options_of(metric, id), side, side);
  if (!pair.ok() || !scorer.ok()) return 1;
  // Each thrice: devices may keep the work of the second call, and repeat it in the third.
  Result<std::vector<Score>> found = scorer->score(pair->reference, pair->distorted);
  for (int i = 1; i < 3 && found.ok(); ++i) found = scorer->score(pair->reference, pair->distorted);
  const Result<Reference> reference = scorer->prepare(pair->reference);
  Result<std::vector<Score>> again = reference.ok() ? found : reference.status();
  for (int i = 0; i < 3 && again.ok(); ++i) again = scorer->score(*reference, pair->distorted);
  if (!found.ok() || !again.ok()) {
    fmt::print("{}\n", (found.ok() ? again : found).status().message());
    return 1;
  }
  bool same = true;
  for (size_t i = 0; i < found->size(); ++i) {
    const Score &one = (*found)[i], &other = (*again)[i];
    fmt::print("{} {:.17g} {:.17g}\n", one.metric, one.value, other.value);
    same = same && one.value == other.value;
  }
  return same ? 0 : 1;
}

int bench(const std::string& id, const std::string& metric, int only_side, Amount amount) {
  const Sizes& sizes = amount == Amount::brief ? kBrief : kWhole;
  const Result<std::shared_ptr<Device>> opened = open_device(id);
  if (!opened.ok()) {
    fmt::print("{}\n", opened.status().message());
    return 1;
  }
  Device& device = **opened;
  fmt::print("{} on {} ({}), ms, medians\n", metric, device.info().id, device.info().name);
  fmt::print("{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>12} {:>9} {:>9}\n", "side", "upload", "pair", "there",
             "prepare", "prepared", "small", "pageable", "copy to pin", "B/pixel", "prepared");
  for (const int side : sizes.sides) {
    if (only_side != 0 && side != only_side) continue;
    const int repeats = side > 1024 ? sizes.large_repeats : sizes.repeats;
    const Result<PinnedPair> pair = pinned_pair(device, side), other = pinned_pair(device, side);
    if (!pair.ok() || !other.ok()) return 1;
    const size_t bytes = pair->memory->size();
    std::vector<std::byte> ordinary(pair->memory->data(), pair->memory->data() + bytes);
    ImageView reference = pair->reference, distorted = pair->distorted;
    for (size_t c = 0; c < 3; ++c) {
      reference.planes[c] = ordinary.data() + c;
      distorted.planes[c] = ordinary.data() + bytes / 2 + c;
    }
    const double copy =
        median_ms(repeats, [&] { return std::memcpy(pair->memory->data(), ordinary.data(), bytes) != nullptr; });
    double upload = -1;
    {
      Result<std::unique_ptr<DeviceMemory>> target = device.allocate(bytes);
      Result<std::unique_ptr<Queue>> queue = device.create_queue();
      upload = median_ms(repeats, [&] {
        return (*queue)->upload(**target, 0, *pair->memory, 0, bytes).ok() && (*queue)->wait().ok();
      });
    }
    const Result<int64_t> before = device.free_bytes();
    Result<Scorer> scorer = Scorer::create(options_of(metric, id), side, side);
    if (!scorer.ok()) {
      fmt::print("{}\n", scorer.status().message());
      return 1;
    }
    // Pictures come from two places by turns, as they do where one is filled while the other is scored.
    int calls = 0;
    const auto next = [&]() -> const PinnedPair& { return ++calls % 2 == 0 ? *pair : *other; };
    const double pinned = median_ms(repeats, [&] {
      const PinnedPair& now = next();
      return scorer->score(now.reference, now.distorted).ok();
    });
    const Result<int64_t> after = device.free_bytes();
    const double pageable = median_ms(repeats, [&] { return scorer->score(reference, distorted).ok(); });
    const Input on_device[] = {pair->reference, pair->distorted};
    const double resident = median_ms(repeats, [&] { return scorer->score(on_device[0], on_device[1]).ok(); });
    Reference kept;
    const double prepare = median_ms(repeats, [&] {
      Result<Reference> made = scorer->prepare(pair->reference);
      if (made.ok()) kept = *made;
      return made.ok();
    });
    const double prepared = median_ms(repeats, [&] { return scorer->score(kept, next().distorted).ok(); });
    const Result<int64_t> with_reference = device.free_bytes();
    const Result<Reference> samples = scorer->prepare(pair->reference, Keep::small);
    const double small =
        median_ms(repeats, [&] { return samples.ok() && scorer->score(*samples, next().distorted).ok(); });
    const auto bytes_a_pixel = [&](int64_t left) { return static_cast<double>(*before - left) / side / side; };
    fmt::print("{:>6} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>11.3f} {:>12.3f} {:>9.1f} {:>9.1f}\n",
               side, upload, pinned, resident, prepare, prepared, small, pageable, copy, bytes_a_pixel(*after),
               bytes_a_pixel(*with_reference));
  }
  if (only_side != 0) return 0;
  for (const int streams : {1, 2, 4, 8}) {
    const Result<PinnedPair> pair = pinned_pair(device, sizes.small_side);
    if (!pair.ok()) return 1;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    std::atomic<bool> failed = false;
    for (int i = 0; i < streams; ++i) {
      threads.emplace_back([&] {
        ScorerOptions options = options_of(metric, id);
        options.threads = 1;
        Result<Scorer> scorer = Scorer::create(options, sizes.small_side, sizes.small_side);
        for (int k = 0; k < sizes.pairs && !failed; ++k) {
          if (!scorer.ok() || !scorer->score(pair->reference, pair->distorted).ok()) failed = true;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failed) return 1;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    fmt::print("{} streams at {}: {:.0f} pairs/s\n", streams, sizes.small_side,
               streams * sizes.pairs / elapsed.count());
  }
  return bench_many(device, metric, sizes);
}

int bench_frames(const std::string& id, const std::string& metric, Amount amount) {
  constexpr size_t kPairs = 8;
  const bool brief = amount == Amount::brief;
  FrameFormat format{{.width = brief ? 128 : 3840, .height = brief ? 96 : 2160}};
  const size_t frames = brief ? 8 : 600, first = brief ? 2 : 40;  // the first ones load and allocate
  const int repeats = brief ? 2 : 40;
  const auto pixels = static_cast<size_t>(format.width) * static_cast<size_t>(format.height);
  const size_t bytes = pixels * 3 / 2;
  const auto view_of = [&](const std::byte* samples, std::shared_ptr<const void> owner) {
    FrameView view{format};
    view.planes = {samples, samples + pixels, samples + pixels * 5 / 4};
    view.row_strides = {format.width, format.width / 2, format.width / 2};
    view.owner = std::move(owner);
    return view;
  };
  const Result<HostMemory> memory = HostMemory::allocate(id, 2 * kPairs * bytes);
  ScorerOptions options = options_of(metric, id);
  options.expected_pairs = 1000;
  Result<Scorer> scorer = Scorer::create(options, format.width, format.height);
  if (!memory.ok() || !scorer.ok()) {
    fmt::print("{}\n", (memory.ok() ? scorer.status() : memory.status()).message());
    return 1;
  }
  fill(memory->data(), memory->size(), [&](size_t i) {
    const size_t x = i % static_cast<size_t>(format.width),
                 y = i / static_cast<size_t>(format.width) % static_cast<size_t>(format.height);
    const size_t value = 16 + (x * 3 / 7 + y / 3 + (x * 2654435761u >> 7) % 9) % 220;
    return i / bytes % 2 == 0 ? value : value / 6 * 6;
  });
  const std::vector<std::byte> ordinary(memory->data(), memory->data() + memory->size());
  const auto inputs_from = [&](const std::byte* from, size_t number) {
    const std::byte* pair = from + number % kPairs * 2 * bytes;
    return InputPair{Input(view_of(pair, memory->owner()), format),
                     Input(view_of(pair + bytes, memory->owner()), format)};
  };
  size_t calls = 0;
  const auto one_by_one = [&](const std::byte* from) {
    return median_ms(repeats, [&] {
      const InputPair pair = inputs_from(from, calls++);
      return scorer->score(pair.reference, pair.distorted).ok();
    });
  };
  const double pinned = one_by_one(memory->data()), pageable = one_by_one(ordinary.data());
  const InputPair there = inputs_from(memory->data(), 0);
  const double resident = median_ms(repeats, [&] { return scorer->score(there.reference, there.distorted).ok(); });
  fmt::print("{} of {} x {} 8-bit 4:2:0 on {}, ms one by one: page-locked {:.3f}, ordinary {:.3f}, there {:.3f}\n",
             metric, format.width, format.height, id, pinned, pageable, resident);
  for (const bool is_pinned : {true, false}) {
    for (const size_t in_flight : {1, 2, 4, 8}) {
      std::deque<Job> jobs;
      std::chrono::steady_clock::time_point begin;
      for (size_t i = 0; i < frames + first; ++i) {
        if (i == first) begin = std::chrono::steady_clock::now();
        const InputPair pair = inputs_from(is_pinned ? memory->data() : ordinary.data(), i);
        Result<Job> job = scorer->start(pair.reference, pair.distorted);
        if (!job.ok()) return 1;
        jobs.push_back(std::move(*job));
        if (jobs.size() < in_flight) continue;
        if (!jobs.front().finish().ok()) return 1;
        jobs.pop_front();
      }
      for (Job& job : jobs) {
        if (!job.finish().ok()) return 1;
      }
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      fmt::print("{}, {} in flight: {:.0f} frames/s\n", is_pinned ? "page-locked" : "ordinary", in_flight,
                 static_cast<double>(frames) / elapsed.count());
    }
  }
  return 0;
}

int support() {
  const DeviceList list = list_devices();
  for (const DeviceInfo& device : list.devices) {
    const Result<std::shared_ptr<Device>> opened = open_device(device.id);
    fmt::print("{}  {}  {}  {} MiB  {}\n", device.id, device.name, device.driver, device.memory_bytes >> 20,
               opened.ok() ? "usable" : opened.status().message());
  }
  for (const BackendTrouble& trouble : list.troubles) {
    fmt::print("{}  not usable: {}\n", backend_name(trouble.backend), trouble.reason);
  }
  return 0;
}

}  // namespace acuity::tests
