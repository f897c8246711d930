// SPDX-License-Identifier: BSD-2-Clause-Patent
// How fast videos are decoded when nobody looks at their frames, on the CPU or by the decoders of a GPU.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cross_backend/bench.h"
#include "device/device.h"
#include "media/video.h"

namespace acuity::tests {
namespace {

struct Decoded {
  int64_t frames = 0;
  double seconds = 0;  // after the first frame, which opens the decoder
  Status status;
};

Decoded decode(const std::string& path, const std::shared_ptr<Device>& device) {
  Decoded decoded;
  Result<std::unique_ptr<FrameStream>> stream = open_video(path, {.decoder = device});
  if (!stream.ok()) return {0, 0, stream.status()};
  VideoFrame frame;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const Result<bool> more = (*stream)->next(frame);
    if (!more.ok()) return {0, 0, more.status()};
    if (!*more) break;
    ++decoded.frames;
  }
  decoded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return decoded;
}

}  // namespace

int bench_decode(const std::string& device, const std::string& path) {
  std::shared_ptr<Device> opened;
  if (device != "cpu") {
    const Result<std::shared_ptr<Device>> found = open_device(device);
    if (!found.ok()) {
      fmt::print("{}\n", found.status().message());
      return 1;
    }
    opened = *found;
  }
  for (const size_t streams : {1, 2, 4, 7}) {
    std::vector<Decoded> decoded(streams);
    std::vector<std::thread> threads;
    for (Decoded& one : decoded) threads.emplace_back([&] { one = decode(path, opened); });
    for (std::thread& thread : threads) thread.join();
    double rate = 0;
    for (const Decoded& one : decoded) {
      if (!one.status.ok()) {
        fmt::print("{}\n", one.status.message());
        return 1;
      }
      rate += static_cast<double>(one.frames) / one.seconds;
    }
    fmt::print("{} {} streams at once: {:.0f} frames/s in all\n", device, streams, rate);
  }
  return 0;
}

}  // namespace acuity::tests
