// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cards that several backends list, on a stand-in for the drivers of CUDA and HIP.
#include <string>
#include <vector>

#include "device/fake_driver_test.h"
#include "engine/chooser.h"
#include "schedule/plans.h"

namespace acuity {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const std::vector<DeviceInfo>& card) {
  Ids ids;
  for (const DeviceInfo& device : card) ids.push_back(device.id);
  return ids;
}

class CardsTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    setenv("ACUITY_HIP_DRIVER", FAKE_DRIVER, 1);
  }
  void TearDown() override {
    unsetenv("ACUITY_HIP_DRIVER");
    FakeDriverTest::TearDown();
  }

  static Ids places(const std::vector<std::string>& names = {"auto"}) {
    Ids ids;
    for (const Place& place : must(open_places(names))) ids.push_back(place.id);
    return ids;
  }
};

TEST_F(CardsTest, AreInTheOrderOfTheListWhileNothingWasMeasured) {
  const auto cards = cards_of(list_devices(), {});
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(ids_of(cards[0]), (Ids{"cuda:0", "hip:0"}));
  EXPECT_EQ(ids_of(cards[1]), (Ids{"cuda:1", "hip:1"}));
}

TEST_F(CardsTest, TheFasterBackendComesFirst) {
  const DeviceList list = list_devices();
  Measurements measured;
  const auto set = [&](size_t device, const char* metric, double ns) {
    measured.set({measured_key(list.devices[device]), metric, RowMode{}, 10}, {ns, 1});
  };
  ASSERT_EQ(list.devices[2].id, "hip:0");
  set(0, "mse", 2);
  EXPECT_EQ(ids_of(cards_of(list, measured)[0]), (Ids{"cuda:0", "hip:0"})) << "one was not measured";
  set(2, "ssimulacra2", 1);
  EXPECT_EQ(ids_of(cards_of(list, measured)[0]), (Ids{"cuda:0", "hip:0"})) << "nothing was measured on both";
  set(2, "mse", 1);
  EXPECT_EQ(ids_of(cards_of(list, measured)[0]), (Ids{"hip:0", "cuda:0"}));
  EXPECT_EQ(ids_of(cards_of(list, measured)[1]), (Ids{"cuda:1", "hip:1"}));
}

TEST_F(CardsTest, AnotherBackendIsTriedIfTheFirstCannotOpenTheCard) {
  EXPECT_EQ(places(), (Ids{"cuda:0", "cuda:1", "cpu"}));
  reset();
  fake->failing_function = "cuDevicePrimaryCtxRetain";
  fake->failure = 1;  // once
  EXPECT_EQ(places(), (Ids{"hip:0", "cuda:1", "cpu"}));
}

TEST_F(CardsTest, ACardThatIsNamedIsUsedOnceThroughTheFirstName) {
  EXPECT_EQ(places({"hip:0", "auto"}), (Ids{"hip:0", "cuda:1", "cpu"}));
  EXPECT_EQ(places({"cpu", "auto", "hip:1"}), (Ids{"cpu", "cuda:0", "cuda:1"}));
  EXPECT_EQ(places({"hip:0", "cuda:0", "cuda:1", "hip", "cuda"}), (Ids{"hip:0", "cuda:1"}));
}

}  // namespace
}  // namespace acuity
