// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "acuity/scorer.h"
#include "device/device.h"
#include "device/pinned.h"

namespace acuity::tests {
namespace {

ScorerOptions options_of(const std::string& metric, const std::string& device) {
  const size_t colon = metric.find(':'), equals = metric.find('=');
  ScorerOptions options{.metric = metric.substr(0, colon), .device = device};
  if (equals != std::string::npos) {
    options.metric_options = {{metric.substr(colon + 1, equals - colon - 1), metric.substr(equals + 1)}};
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
  for (size_t i = 0; i < 2 * bytes; ++i) {
    const size_t x = i % bytes / 3 % static_cast<size_t>(side), y = i % bytes / 3 / static_cast<size_t>(side);
    const size_t value = (x * 3 / 7 + y / 3 + i % 3 * 40 + (x * 2654435761u >> 7) % 9) % 256;
    pair.memory->data()[i] = static_cast<std::byte>(i < bytes ? value : value / 6 * 6);
  }
  pair.reference = interleaved_view(pair.memory->data(), side, side, Channels::rgb, SampleType::u8);
  pair.distorted = interleaved_view(pair.memory->data() + bytes, side, side, Channels::rgb, SampleType::u8);
  return pair;
}

// One call for many pairs, from one thread.
int bench_many(Device& device, const std::string& metric) {
  for (const int side : {256, 512, 1024}) {
    const Result<PinnedPair> pair = pinned_pair(device, side);
    Result<Scorer> scorer = Scorer::create(options_of(metric, device.info().id), side, side);
    if (!pair.ok() || !scorer.ok()) return 1;
    const std::vector<ImagePair> pairs(static_cast<size_t>(400 * 512 / side), {pair->reference, pair->distorted});
    const double ms = median_ms(5, [&] { return scorer->score_many(pairs).ok(); });
    fmt::print("score_many at {}: {:.0f} pairs/s\n", side, 1000 * static_cast<double>(pairs.size()) / ms);
  }
  return 0;
}

}  // namespace

int once(const std::string& id, int side, const std::string& metric) {
  const Result<std::shared_ptr<Device>> opened = open_device(id);
  if (!opened.ok()) return 1;
  const Result<PinnedPair> pair = pinned_pair(**opened, side);
  Result<Scorer> scorer = Scorer::create(options_of(metric, id), side, side);
  if (!pair.ok() || !scorer.ok()) return 1;
  // Each thrice: devices may keep the work of the second call, and repeat it in the third.
  Result<Score> found = scorer->score(pair->reference, pair->distorted);
  for (int i = 1; i < 3 && found.ok(); ++i) found = scorer->score(pair->reference, pair->distorted);
  if (found.ok() && !scorer->set_reference(pair->reference).ok()) return 1;
  Result<Score> again = found;
  for (int i = 0; i < 3 && again.ok(); ++i) again = scorer->score(pair->distorted);
  fmt::print("{}\n",
             again.ok() ? fmt::format("{:.17g} {:.17g}", found->value, again->value) : again.status().message());
  return again.ok() && found->value == again->value ? 0 : 1;
}

int bench(const std::string& id, const std::string& metric) {
  const Result<std::shared_ptr<Device>> opened = open_device(id);
  if (!opened.ok()) {
    fmt::print("{}\n", opened.status().message());
    return 1;
  }
  Device& device = **opened;
  fmt::print("{} on {} ({}), ms, medians\n", metric, device.info().id, device.info().name);
  fmt::print("{:>6} {:>9} {:>9} {:>9} {:>9} {:>11} {:>12} {:>9} {:>9}\n", "side", "upload", "pair", "prepare",
             "prepared", "pageable", "copy to pin", "B/pixel", "prepared");
  for (const int side : {512, 1024, 2048, 4096}) {
    const int repeats = side > 1024 ? 20 : 60;
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
    const double prepare = median_ms(repeats, [&] { return scorer->set_reference(pair->reference).ok(); });
    const double prepared = median_ms(repeats, [&] { return scorer->score(next().distorted).ok(); });
    const Result<int64_t> with_reference = device.free_bytes();
    const auto bytes_a_pixel = [&](int64_t left) { return static_cast<double>(*before - left) / side / side; };
    fmt::print("{:>6} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>11.3f} {:>12.3f} {:>9.1f} {:>9.1f}\n", side, upload,
               pinned, prepare, prepared, pageable, copy, bytes_a_pixel(*after), bytes_a_pixel(*with_reference));
  }
  for (const int streams : {1, 2, 4, 8}) {
    const Result<PinnedPair> pair = pinned_pair(device, 512);
    if (!pair.ok()) return 1;
    constexpr int kPairs = 400;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < streams; ++i) {
      threads.emplace_back([&] {
        ScorerOptions options = options_of(metric, id);
        options.threads = 1;
        Result<Scorer> scorer = Scorer::create(options, 512, 512);
        for (int k = 0; scorer.ok() && k < kPairs; ++k) {
          if (!scorer->score(pair->reference, pair->distorted).ok()) break;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    fmt::print("{} streams at 512: {:.0f} pairs/s\n", streams, streams * kPairs / elapsed.count());
  }
  return bench_many(device, metric);
}

}  // namespace acuity::tests
