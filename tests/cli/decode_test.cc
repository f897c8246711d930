// SPDX-License-Identifier: BSD-2-Clause-Patent
// --decode: what is refused without the hardware, and by name. What a GPU's decoder gives is compared on one.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "support/encode_video.h"

namespace acuity::test {
namespace {

constexpr const char* kFake = "ACUITY_CUDA_DRIVER=" FAKE_DRIVER;

std::string video(const std::string& name, const std::string& codec) {
  const std::string path = scratch(name);
  const std::string frame(64 * 48 * 3 / 2, 'x');
  write_file(path, encode_video({.codec = codec}, {frame, frame, frame}));
  return path;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Decode, OnTheCpuIsTheDefault) {
  const std::string file = video("v.mkv", "ffv1");
  const Outcome plain = acuity({"score", "-m", "psnr_yuv", "--value-only", file, file});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  for (const char* how : {"cpu", "cpu,cpu", ",cpu"}) {
    EXPECT_EQ(acuity({"score", "-m", "psnr_yuv", "--value-only", "--decode", how, file, file}).out, plain.out) << how;
  }
}

TEST(Decode, NamesWhatIsMissing) {
  const std::string file = video("v.mkv", "ffv1");
  const auto refused = [&](std::vector<std::string> words, int code, const char* driver, const std::string& because) {
    words.insert(words.begin(), "score");
    const Outcome outcome = acuity(words, {.environment = {driver}});
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, because)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  refused({"--decode", "gpu", file, file}, 2, kFake, "--decode: invalid value 'gpu': expected cpu or cuda");
  refused({"--decode", "cuda", file, file}, 4, "ACUITY_CUDA_DRIVER=/no/such/driver",
          "the driver's library could not be loaded");
  for (const char* device : {"cpu", "auto", "vulkan", "hip:0"}) {
    refused({"--decode", "cuda", "--device", device, file, file}, 4, kFake,
            std::string("--decode cuda leaves frames on a CUDA device, but --device ") + device + " is given");
  }
  refused({"--decode", "cuda", file, file}, 4, kFake,
          "v.mkv' (ffv1) cannot be decoded by the GPU's own decoder: libav cannot decode this codec on it; use "
          "--decode cpu");
  refused({"--decode", ",cuda", "--frame", "0", file, ACUITY_TEST_DATA "/data/scene.png"}, 4, kFake,
          "scene.png' is a picture, which is decoded on the CPU only; use --decode cpu for it");
}

// The stand-in for the driver is no library that libav accepts.
TEST(Decode, NeverFallsBackToTheCpu) {
  const std::string file = video("v.mkv", "mpeg4");
  const Outcome outcome = acuity({"score", "-m", "psnr_yuv", "--decode", "cuda", file, file}, {.environment = {kFake}});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "v.mkv' (mpeg4) cannot be decoded by the GPU's own decoder: ")) << outcome.err;
}

}  // namespace
}  // namespace acuity::test
