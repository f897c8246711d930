// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity devices' on lavapipe, and on a layer over it that shows a device with less.
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "cli/command.h"

namespace acuity::test {
namespace {

TEST(Devices, VerboseTellsLimitsAndRefusals) {
  const std::string text = acuity({"devices", "--verbose"}).out;
  for (const char* part : {"\n  groups           at most ", "\n  shared memory    ", "\n  sub-groups       ",
                           "\n  64-bit integers  yes\n", "\n  doubles          yes\n", "\n  16-bit memory    yes\n",
                           "\n  8-bit memory     yes\n", "\n  unified memory   yes\n", "\n  metrics          all\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("refused"), std::string::npos) << text;
}

#ifdef VULKAN_LAYERS
// On a device that has little more than Vulkan guarantees. lavapipe cannot do without doubles.
TEST(Devices, ListMetricsThatDoNotFit) {
  const auto limited = [](const char* words) {
    return Surroundings{.environment = {"VK_LAYER_PATH=" VULKAN_LAYERS,
                                        "VK_INSTANCE_LAYERS=VK_LAYER_ACUITY_limited_device",
                                        std::string("ACUITY_LIMITED_DEVICE=") + words}};
  };
  const std::string brief = acuity({"devices"}, limited("groups shared double")).out;
  std::smatch listed;
  ASSERT_TRUE(std::regex_search(brief, listed, std::regex("\n  metrics          all but (.*)\n"))) << brief;
  for (const char* name : {"zensim", "ssimulacra2", "dssim", "iwssim", "cambi", "vmaf", "float_ssim", "ciede"}) {
    EXPECT_TRUE(std::regex_search(listed.str(1), std::regex(std::string("\\b") + name + "\\b"))) << name << "\n"
                                                                                                 << brief;
  }
  for (const char* name : {"mse", "butteraugli", "psnr_hvs"}) {
    EXPECT_FALSE(std::regex_search(listed.str(1), std::regex(std::string("\\b") + name + "\\b"))) << name << "\n"
                                                                                                  << brief;
  }
  const std::string verbose = acuity({"devices", "--verbose"}, limited("groups shared")).out;
  for (const char* part :
       {"\n  groups           at most 256 threads, 256 x 256\n", "\n  shared memory    16384 bytes per group\n",
        "\n  refused          ssimulacra2: it needs 16896 bytes of shared memory (at most 16384)\n",
        "\n  refused          zensim: it needs groups of 384 threads (at most 256), "}) {
    EXPECT_NE(verbose.find(part), std::string::npos) << part << "\n" << verbose;
  }
  const std::string whole = acuity({"devices", "--verbose"}, limited("integers")).out;
  for (const char* part : {"\n  64-bit integers  no\n", "\n  refused          motion: it needs 64-bit integers\n",
                           "\n  refused          vmaf: it needs 64-bit integers\n"}) {
    EXPECT_NE(whole.find(part), std::string::npos) << part << "\n" << whole;
  }
  EXPECT_EQ(whole.find("refused          ssimulacra2"), std::string::npos) << whole;
  const std::string unusable = acuity({"devices", "--verbose"}, limited("double")).out;
  EXPECT_NE(unusable.find("\n  metrics          none: vulkan:0 ("), std::string::npos) << unusable;
  EXPECT_NE(unusable.find("\n  doubles          no\n"), std::string::npos) << unusable;
  EXPECT_NE(unusable.find("no double precision to make up for it"), std::string::npos) << unusable;
}
#endif

}  // namespace
}  // namespace acuity::test
