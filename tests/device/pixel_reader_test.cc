// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which queue waits for rows, on a device that only counts.
#include "device/pixels/reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/counting_device.h"

namespace acuity {
namespace {

class NotingQueue final : public Queue {
 public:
  Status upload(DeviceMemory&, size_t, const PinnedMemory&, size_t, size_t) override { return {}; }
  Status download(PinnedMemory&, size_t, const DeviceMemory&, size_t, size_t) override { return {}; }
  Status clear(DeviceMemory&, size_t, size_t) override { return {}; }
  Status launch(const KernelInfo&, int, int, const ArgumentBlock&) override { return {}; }
  Status signal(Event&) override { return {}; }
  Status wait_for(const Event&) override { return {}; }
  Status wait_for_outside(const Event&) override {
    ++waits;
    return {};
  }
  Status wait() override { return {}; }

  int waits = 0;  // for the outside
};

TEST(PixelReader, EveryQueueOfRecordedWorkWaitsForItsRows) {
  constexpr int kSide = 64;
  const auto pool = std::make_shared<DevicePool>(std::make_shared<CountingDevice>());
  const std::vector<unsigned char> samples(kSide * kSide * 3);
  const ImageView view = interleaved_view(samples.data(), kSide, kSide, Channels::rgb, SampleType::u8);
  const std::shared_ptr<Resident> resident = *Resident::create(pool, view);
  const Threads threads = Threads::idle(1);
  TaskThreads tasks;
  PixelReader reader(pool, {&threads, &tasks});
  NotingQueue sender, first, second;
  ASSERT_TRUE(reader.begin(sender, {*Rows::create(view, {}, {}), resident.get()}, kSide, 1).ok());
  PixelReader* const readers[] = {&reader};
  Queue* const queues[] = {&sender};
  ASSERT_TRUE(PixelReader::send(readers, queues, SendOrder::together, kSide).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reader.record_wait_for_rows(first, kSide).ok());
  ASSERT_TRUE(reader.record_wait_for_rows(second, kSide).ok());
  EXPECT_EQ(first.waits, 1) << "once is enough";
  EXPECT_EQ(second.waits, 1) << "what another queue waited for";
}

}  // namespace
}  // namespace acuity
