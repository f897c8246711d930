// SPDX-License-Identifier: BSD-2-Clause-Patent
// SwiftShader, a Vulkan device in software that has neither a fused multiply-add nor doubles to make one of. A program
// of its own, for a process keeps the driver that it found first.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "device/device.h"

namespace acuity {
namespace {

namespace fs = std::filesystem;

TEST(SwiftShader, IsRefusedByName) {
  const fs::path driver = "/usr/lib/chromium/libvk_swiftshader.so";
  if (!fs::exists(driver)) GTEST_SKIP() << "SwiftShader is not here: it comes with Debian's chromium-common";
  std::string name = (fs::temp_directory_path() / "acuity_swiftshader_XXXXXX").string();
  const fs::path folder = mkdtemp(name.data()), description = folder / "driver.json";
  std::ofstream(description) << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" << driver.string()
                             << R"(", "api_version": "1.1"}})";
  for (const char* variable : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) setenv(variable, description.c_str(), 1);
  const Status refused = open_device("vulkan").status();
  fs::remove_all(folder);
  EXPECT_EQ(refused.code(), StatusCode::device);
  const std::string& message = refused.message();
  EXPECT_NE(message.find("SwiftShader"), std::string::npos) << message;
  EXPECT_NE(message.find("computes wrongly and is not used: fma("), std::string::npos) << message;
  EXPECT_NE(message.find("it has no double precision to make up for it"), std::string::npos) << message;
}

}  // namespace
}  // namespace acuity
