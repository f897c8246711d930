// SPDX-License-Identifier: BSD-2-Clause-Patent
// Devices that have less than others, by a layer over lavapipe: limited_device_layer.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "device/device.h"
#include "device/vulkan/pipeline_file.h"
#include "engine/chooser.h"
#include "engine/measurements.h"

namespace acuity {

extern const KernelFile mse_kernels;
extern const KernelFile zensim_kernels;

namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class VulkanLimitsTest : public testing::Test {
 protected:
  VulkanLimitsTest() {
    setenv("VK_LAYER_PATH", VULKAN_LAYERS, 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ACUITY_limited_device", 1);
    std::string name = (fs::temp_directory_path() / "acuity_limits_XXXXXX").string();
    folder = mkdtemp(name.data());
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);  // it would be in the same folder
  }
  ~VulkanLimitsTest() override { fs::remove_all(folder); }

  static void limit(const char* words) { setenv("ACUITY_LIMITED_DEVICE", words, 1); }

  static Result<Scorer> scorer(const char* metric, const char* device) {
    return Scorer::create({.metrics = {{metric, {}}}, .device = device, .expected_pairs = 1 << 20, .threads = 1}, kSide,
                          kSide);
  }
  static Score score(const char* metric, const char* device) {
    Result<Scorer> made = scorer(metric, device);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (!made.ok()) return {};
    std::vector<unsigned char> reference, distorted;
    for (int i = 0; i < kSide * kSide * 3; ++i) {
      reference.push_back(static_cast<unsigned char>(i * i / 97));
      distorted.push_back(static_cast<unsigned char>(reference.back() ^ (i % 11)));
    }
    const auto view = [](const std::vector<unsigned char>& samples) {
      return interleaved_view(samples.data(), kSide, kSide, Channels::rgb, SampleType::u8);
    };
    const Result<std::vector<Score>> scores = made->score(view(reference), view(distorted));
    EXPECT_TRUE(scores.ok()) << scores.status().message();
    return scores.ok() ? scores->front() : Score();
  }

  static constexpr int kSide = 96;
  fs::path folder;
};

TEST_F(VulkanLimitsTest, KernelsThatDoNotFitAreRefusedByName) {
  limit("groups shared");
  const Result<std::shared_ptr<Device>> device = open_device("vulkan");
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->info().group_threads, 256);
  EXPECT_EQ((*device)->info().shared_bytes, 16384);
  const KernelInfo too_large{&zensim_kernels, "sum_strips", 32, 12};
  const Status refused = (*device)->prepare(too_large);
  EXPECT_EQ(refused.code(), StatusCode::device);
  EXPECT_TRUE(contains(refused.message(),
                       " lacks groups of 384 threads (at most 256), 22344 bytes of shared memory (at "
                       "most 16384), which kernel sum_strips of zensim_kernels needs; use another "
                       "device"))
      << refused.message();
  EXPECT_EQ((*(*device)->create_queue())->launch(too_large, 1, 1, {}).message(), refused.message());
  EXPECT_TRUE(contains((*device)->prepare({&mse_kernels, "sum_tiles", 512, 1}).message(), "groups of 512 threads"));
  EXPECT_TRUE(contains(scorer("ssimulacra2", "vulkan").status().message(), "16896 bytes of shared memory"));
  EXPECT_EQ(score("mse", "vulkan").value, score("mse", "cpu").value);
}

TEST_F(VulkanLimitsTest, UnderAutoTheCpuComputesWhatDoesNotFit) {
  limit("groups hardware");
  Measurements slow;
  for (int size = kSmallestClass; size <= kLargestClass; ++size) {
    slow.set({measured_cpu_key(), "zensim", RowMode{}, size}, {1e6, 1});
  }
  process_measurements().put(slow);
  const Score fallen_back = score("zensim", "auto");
  EXPECT_TRUE(fallen_back.provenance.device.starts_with("cpu")) << fallen_back.provenance.device;
  std::string reason;
  for (const std::string& line : fallen_back.provenance.assumptions) reason += line + "\n";
  EXPECT_TRUE(contains(reason, "auto chose the CPU, because vulkan:0 could not be used")) << reason;
  EXPECT_TRUE(contains(reason, "groups of 384 threads")) << reason;
}

TEST_F(VulkanLimitsTest, KernelsWithIntegersOf64BitsAreRefusedByName) {
  limit("integers");
  const Result<std::shared_ptr<Device>> device = open_device("vulkan");
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->info().lacks, uint32_t{needs_int64});
  FrameFormat format{{.width = kSide, .height = kSide}};
  const auto frames = [&](const char* metric) {
    return FrameScorer::create({.metrics = {{metric, {}}}, .format = format, .device = "vulkan"}).status();
  };
  const Status refused = frames("motion");
  EXPECT_EQ(refused.code(), StatusCode::device);
  EXPECT_TRUE(contains(refused.message(), " lacks 64-bit integers, which kernel sum_blurred_difference of "))
      << refused.message();
  EXPECT_TRUE(frames("float_motion").ok()) << frames("float_motion").message();
  EXPECT_EQ(score("mse", "vulkan").value, score("mse", "cpu").value);
}

// lavapipe's fma rounds twice, as SwiftShader's.
TEST_F(VulkanLimitsTest, WithoutFmaAndDoublesADeviceIsRefused) {
  limit("double groups");
  const Status refused = open_device("vulkan").status();
  EXPECT_EQ(refused.code(), StatusCode::device);
  EXPECT_TRUE(contains(refused.message(), "computes wrongly and is not used: fma(")) << refused.message();
  EXPECT_TRUE(contains(refused.message(), "; and it has no double precision to make up for it")) << refused.message();
}

TEST_F(VulkanLimitsTest, EachKindOfMemoryOfACardIsUsedForWhatItIsFor) {
  limit("memory");
  const Result<std::shared_ptr<Device>> device = open_device("vulkan");
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->info().memory_bytes, int64_t{1} << 30);
  constexpr size_t kBytes = size_t{64} << 20;  // more than the processor sees of the device's
  const Result<int64_t> before = (*device)->free_bytes();
  const auto memory = (*device)->allocate(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_EQ(*(*device)->free_bytes(), *before - static_cast<int64_t>(kBytes));
  const auto pinned = (*device)->allocate_pinned(kBytes);
  ASSERT_TRUE(pinned.ok()) << pinned.status().message();
  EXPECT_EQ(*(*device)->free_bytes(), *before - static_cast<int64_t>(kBytes));
  const Status too_much = (*device)->allocate(size_t{1} << 30).status();
  EXPECT_EQ(too_much.code(), StatusCode::device_memory) << too_much.message();
  EXPECT_EQ(score("mse", "vulkan").value, score("mse", "cpu").value);
}

/// The key of the only file.
std::string key_in(const fs::path& folder) {
  const std::string name = fs::directory_iterator(folder / "acuity")->path().stem();
  return name.substr(std::string("vulkan-").size());
}

TEST_F(VulkanLimitsTest, KernelsAreKeptAnewIfTheDriverIgnoredWhatWasKept) {
  limit("keeps");
  ASSERT_TRUE(open_device("vulkan").ok());
  const PipelineFile file(key_in(folder));
  const size_t bytes = file.load().size();
  EXPECT_GE(bytes, 100u);
  file.save(std::vector<std::byte>(100000));
  ASSERT_TRUE(open_device("vulkan").ok());
  EXPECT_EQ(file.load().size(), bytes);
}

TEST_F(VulkanLimitsTest, KeptKernelsThatTheDriverRefusesAreLeftOut) {
  limit("keeps");
  ASSERT_TRUE(open_device("vulkan").ok());
  limit("refuses");
  const Status opened = open_device("vulkan").status();
  EXPECT_TRUE(opened.ok()) << opened.message();
}

}  // namespace
}  // namespace acuity
