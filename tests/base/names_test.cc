// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/names.h"

#include <vector>

#include <gtest/gtest.h>

namespace acuity {
namespace {

const std::vector<std::string> kKnown{"ssimulacra2", "psnr", "mse"};

TEST(Names, TheNearest) {
  EXPECT_EQ(nearest("ssimulacra", kKnown), "ssimulacra2");
  EXPECT_EQ(nearest("ssim", kKnown), "ssimulacra2");
  EXPECT_EQ(nearest("SSIMU2", kKnown), "ssimulacra2");
  EXPECT_EQ(nearest("msr", kKnown), "mse");
  EXPECT_EQ(nearest("PSNRR", kKnown), "psnr");
  EXPECT_EQ(nearest("butteraugli", kKnown), "");
  EXPECT_EQ(nearest("se", kKnown), "mse");
  EXPECT_EQ(nearest("mes", kKnown), "mse");
  EXPECT_EQ(nearest("sc2", kKnown), "ssimulacra2");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100000, 'm'), kKnown), "");
  EXPECT_EQ(did_you_mean("psn", kKnown), " (did you mean 'psnr'?)");
  EXPECT_EQ(did_you_mean("cvvdp", kKnown), "");
}

TEST(Names, CaseDoesNotMatter) {
  EXPECT_TRUE(same_name("SSIMULACRA2", "ssimulacra2"));
  EXPECT_TRUE(same_name("", ""));
  EXPECT_FALSE(same_name("psnr", "psnr_yuv"));
  EXPECT_FALSE(same_name("\xc3\x84", "\xc3\xa4"));
}

}  // namespace
}  // namespace acuity
