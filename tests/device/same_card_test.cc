// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which devices of a list are one card.
#include <gtest/gtest.h>

#include "device/device.h"

namespace acuity {
namespace {

DeviceInfo device(Backend backend, const char* id, const char* uuid, const char* address) {
  DeviceInfo info;
  info.backend = backend;
  info.id = id;
  info.uuid = uuid;
  info.pci_address = address;
  return info;
}

std::vector<std::string> same_cards(std::vector<DeviceInfo> devices) {
  mark_same_cards(devices);
  std::vector<std::string> same;
  for (const DeviceInfo& info : devices) same.push_back(info.same_as);
  return same;
}

using Same = std::vector<std::string>;

TEST(SameCard, TwoDriversOfVulkanMayShowOne) {
  EXPECT_EQ(same_cards({device(Backend::vulkan, "vulkan:0", "a", "0000:03:00.0"),
                        device(Backend::vulkan, "vulkan:1", "b", "0000:04:00.0"),
                        device(Backend::vulkan, "vulkan:2", "c", "0000:03:00.0")}),
            (Same{"", "", "vulkan:0"}));
  EXPECT_EQ(same_cards({device(Backend::vulkan, "vulkan:0", "a", ""), device(Backend::vulkan, "vulkan:1", "a", "")}),
            (Same{"", "vulkan:0"}));
}

TEST(SameCard, ThreeShowsOfOneAllNameTheFirst) {
  EXPECT_EQ(same_cards({device(Backend::hip, "hip:0", "h", "0000:03:00.0"),
                        device(Backend::vulkan, "vulkan:0", "a", "0000:03:00.0"),
                        device(Backend::vulkan, "vulkan:1", "a", "")}),
            (Same{"", "hip:0", "hip:0"}));
}

TEST(SameCard, PartsOfACardAreDevices) {
  EXPECT_EQ(
      same_cards(
          {device(Backend::cuda, "cuda:0", "a", "0000:03:00.0"), device(Backend::cuda, "cuda:1", "b", "0000:03:00.0"),
           device(Backend::hip, "hip:0", "c", "0000:07:00.0"), device(Backend::hip, "hip:1", "c", "0000:07:00.0")}),
      (Same{"", "", "", ""}));
}

TEST(SameCard, CardsOfOneModelMayShareAUuid) {
  EXPECT_EQ(same_cards({device(Backend::vulkan, "vulkan:0", "a", "0000:03:00.0"),
                        device(Backend::vulkan, "vulkan:1", "a", "0000:04:00.0")}),
            (Same{"", ""}));
}

TEST(SameCard, SoftwareIsNoCard) {
  std::vector<DeviceInfo> devices{device(Backend::vulkan, "vulkan:0", "a", ""),
                                  device(Backend::vulkan, "vulkan:1", "a", "")};
  devices[0].is_software = true;
  EXPECT_EQ(same_cards(devices), (Same{"", ""}));
}

}  // namespace
}  // namespace acuity
