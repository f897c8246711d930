// SPDX-License-Identifier: BSD-2-Clause-Patent
// CUDA and HIP as far as they can be run without their hardware: on a driver library that only looks like theirs.
#include <array>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/backends.h"
#include "device/device.h"
#include "device/fake_driver_test.h"
#include "engine/auto_device.h"

namespace acuity {

extern const KernelFile probe_kernels;

namespace {

struct Names {
  const char* backend;
  const char* variable;
  const char* allocate;
  const char* load;
  const char* copy_up;
  const char* synchronize;
  const char* record;
  const char* wait_event;
  const char* out_of_memory;
  const char* no_device;
  const char* illegal_address;
  const char* invalid_value;
};
void PrintTo(const Names& names, std::ostream* out) { *out << names.backend; }
constexpr Names kCuda = {"cuda",
                         "ACUITY_CUDA_DRIVER",
                         "cuMemAlloc_v2",
                         "cuModuleLoadDataEx",
                         "cuMemcpyHtoDAsync_v2",
                         "cuStreamSynchronize",
                         "cuEventRecord",
                         "cuStreamWaitEvent",
                         "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
                         "CUDA_ERROR_NO_DEVICE (100)",
                         "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
                         "CUDA_ERROR_INVALID_VALUE (1)"};
constexpr Names kHip = {"hip",
                        "ACUITY_HIP_DRIVER",
                        "hipMalloc",
                        "hipModuleLoadDataEx",
                        "hipMemcpyHtoDAsync",
                        "hipStreamSynchronize",
                        "hipEventRecord",
                        "hipStreamWaitEvent",
                        "hipErrorOutOfMemory (2): out of memory",
                        "hipErrorNoDevice (100)",
                        "hipErrorIllegalAddress (700)",
                        "hipErrorInvalidValue (1)"};

constexpr Kernel<DeviceArray<const float>, int, DeviceArray<float>, float> kKernel = {
    {&probe_kernels, "something", 32, 4}};

class DriverTest : public FakeDriverTest, public testing::WithParamInterface<Names> {
 protected:
  void SetUp() override { load(GetParam().variable, FAKE_DRIVER); }

  std::string id(int index = 0) const { return fmt::format("{}:{}", GetParam().backend, index); }
  DeviceList list() const { return is_cuda() ? list_cuda_devices() : list_hip_devices(); }
  bool is_cuda() const { return GetParam().backend == std::string("cuda"); }
};

TEST_P(DriverTest, ListsDevices) {
  const DeviceList devices = list();
  ASSERT_EQ(devices.devices.size(), 2u);
  EXPECT_TRUE(devices.troubles.empty());
  const DeviceInfo& info = devices.devices[1];
  EXPECT_EQ(info.id, id(1));
  EXPECT_EQ(info.index, 1);
  EXPECT_EQ(info.name, is_cuda() ? "Fake GeForce" : "Fake Radeon");
  EXPECT_EQ(info.driver, is_cuda() ? "CUDA driver 12.4" : "HIP driver 6.3");
  EXPECT_EQ(info.memory_bytes, int64_t{8} << 30);
  EXPECT_EQ(info.uuid, is_cuda() ? "01000000-0000-0000-0000-0000000000cd" : "01000000-0000-0000-0000-0000000000ad");
  EXPECT_EQ(info.pci_address, "0000:1a:00.0");
}

TEST_P(DriverTest, OneCardOfTwoDriversIsToldAsOne) {
  const char* other = is_cuda() ? kHip.variable : kCuda.variable;
  setenv(other, FAKE_DRIVER, 1);
  std::vector<std::string> cards;
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.backend != Backend::vulkan) cards.push_back(info.id + " is " + info.same_as);
  }
  unsetenv(other);
  EXPECT_EQ(cards, (std::vector<std::string>{"cuda:0 is ", "cuda:1 is ", "hip:0 is cuda:0", "hip:1 is cuda:1"}));
}

TEST_P(DriverTest, DoesWithoutAnIdentity) {
  fake->failing_function = is_cuda() ? "cuDeviceGetUuid" : "hipDeviceGetUuid";
  fake->failure = 1;
  const DeviceList devices = list();
  ASSERT_EQ(devices.devices.size(), 2u);
  EXPECT_EQ(devices.devices[0].uuid, "");
  EXPECT_FALSE(devices.devices[0].is_same_card(devices.devices[1]));
  EXPECT_FALSE(DeviceInfo().is_same_card({})) << "two of which nothing is known";
}

TEST_P(DriverTest, TellsWhyThereIsNoDevice) {
  const auto reason = [this] {
    const DeviceList devices = list();
    EXPECT_TRUE(devices.devices.empty());
    EXPECT_EQ(devices.troubles.size(), 1u);
    return devices.troubles.empty() ? "" : devices.troubles[0].reason;
  };
  fake->failing_call = 0;
  fake->failure = 100;
  EXPECT_TRUE(contains(reason(), GetParam().no_device)) << reason();

  fake->devices = 0;
  EXPECT_EQ(reason(), std::string(GetParam().backend) + ": the driver has no device");
  EXPECT_TRUE(contains(open_device(id()).status().message(), "the driver has 0 devices"));

  setenv(GetParam().variable, "/nowhere/libnothing.so", 1);
  EXPECT_TRUE(contains(reason(), "/nowhere/libnothing.so")) << reason();

  setenv(GetParam().variable, "libm.so.6", 1);
  EXPECT_EQ(reason(), fmt::format("{}: libm.so.6 has no function {}Init; a newer driver is needed", GetParam().backend,
                                  is_cuda() ? "cu" : "hip"));
  EXPECT_EQ(open_device(id()).status().code(), StatusCode::device);
}

TEST_P(DriverTest, RefusesIdsThatNameNothing) {
  const std::string backend = GetParam().backend;
  for (const std::string& name : {backend + ":", backend + ":x", backend + ":-1", backend + ":1x", backend + ": 1",
                                  backend + ":99999999999", backend + "1", backend + ":0:0", std::string(),
                                  std::string("gpu"), std::string("CUDA"), std::string(":0"), std::string("cpu")}) {
    const Status status = open_device(name).status();
    EXPECT_EQ(status.code(), StatusCode::unknown_device) << name;
    EXPECT_TRUE(contains(status.message(), fmt::format("unknown device '{}'", name))) << status.message();
  }
  EXPECT_TRUE(fake->calls.empty());
  const Status absent = open_device(id(2)).status();
  EXPECT_EQ(absent.code(), StatusCode::unknown_device);
  EXPECT_EQ(absent.message(),
            "there is no " + id(2) +
                ": the driver has 2 devices, numbered from 0; 'acuity devices' lists those that can be used");
}

TEST_P(DriverTest, OpensWhatAnswersRightly) {
  const auto device = open_device(GetParam().backend);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ((*device)->info().id, id(0));
  EXPECT_EQ((*device)->info().note, "");
  EXPECT_EQ((*device)->info().lacks, 0u);
  EXPECT_EQ(*(*device)->free_bytes(), 1 << 20);
}

TEST_P(DriverTest, AutoTakesItForMuchWork) {
  const std::array<CostedMetric, 1> metric{costed(registry().front())};
  ExpectedWork work{.pairs = 1, .width = 512, .height = 512, .threads = 1};
  EXPECT_EQ(choose_device(metric, work, {}).device, nullptr);
  EXPECT_TRUE(fake->calls.empty()) << "the driver was loaded for one small pair";
  work.pairs = 1000;
  DeviceChoice choice = choose_device(metric, work, {});
  ASSERT_NE(choice.device, nullptr) << choice.reason;
  EXPECT_TRUE(contains(choice.reason, fmt::format("auto chose {}: it is expected to score 1000 pairs in ", id())))
      << choice.reason;
  choice.device.reset();

  fake->mistake = FakeMistake::wrong_root;
  choice = choose_device(metric, work, {});
  EXPECT_EQ(choice.device, nullptr);
  EXPECT_TRUE(contains(choice.reason, "computes wrongly and is not used")) << choice.reason;
}

TEST_P(DriverTest, RefusesWhatAnswersWrongly) {
  const std::pair<FakeMistake, const char*> mistakes[] = {
      {FakeMistake::split_fma, "fma(0x1.99999ap-4, 0x1.4p+3, -0x1p+0) gave 0x0p+0, expected 0x1p-26"},
      {FakeMistake::wrong_division, " / "},
      {FakeMistake::wrong_root, "sqrt(0x1p+0) gave 0x1.fffffep-1, expected 0x1p+0"},
      {FakeMistake::wrong_sum, "0x1.99999ap-4 * 0x1.4p+3 + -0x1p+0 gave 0x1p-26, expected 0x0p+0"},
      {FakeMistake::no_barrier, "a value passed across a barrier gave "},
      {FakeMistake::no_shuffle, "a value swapped between threads gave "},
      {FakeMistake::unrounded_quotient, "fma(0x1.555556p-2 / 0x1.8p+1, 0x1.8p+1, -0x1p+0) gave "},
      {FakeMistake::flushes_subnormals, " gave 0x0p+0, expected 0x1p-149"},
  };
  for (const auto& [mistake, words] : mistakes) {
    fake->mistake = mistake;
    const Status status = open_device(id()).status();
    EXPECT_EQ(status.code(), StatusCode::device);
    EXPECT_TRUE(contains(status.message(), "computes wrongly and is not used: ")) << status.message();
    EXPECT_TRUE(contains(status.message(), words)) << status.message();
    expect_nothing_left();
  }
}

TEST_P(DriverTest, LoadsTheCodeThatFits) {
  if (is_cuda()) {
    for (const auto& [capability, target] : {std::pair(75, "sm_75"), {89, "sm_75"}, {90, "sm_90"}, {120, "sm_90"}}) {
      fake->capability = capability;
      fake->loaded.clear();
      ASSERT_TRUE(open_device(id()).ok());
      // Where ptxas was at hand a cubin is embedded, and preferred.
      const std::vector<std::string> cubin = {"cubin"};
      EXPECT_TRUE(fake->loaded == cubin || fake->loaded == std::vector<std::string>{target}) << capability;
    }
    fake->capability = 61;
    EXPECT_TRUE(contains(open_device(id()).status().message(), "compute capability 6.1 is too low"));
    EXPECT_EQ(list().troubles.size(), 2u);
  } else {
    for (const char* target : {"gfx906", "gfx1201"}) {
      fake->hip_target = target;
      fake->loaded.clear();
      ASSERT_TRUE(open_device(id()).ok());
      EXPECT_EQ(fake->loaded, std::vector<std::string>{target});
    }
    fake->hip_target = "gfx803";
    const Status status = open_device(id()).status();
    EXPECT_TRUE(contains(status.message(), "hipErrorNoBinaryForGpu (209)")) << status.message();
    EXPECT_TRUE(contains(status.message(), "gfx906, gfx90a")) << status.message();
  }
}

class CudaDriverTest : public DriverTest {};

TEST_P(CudaDriverTest, PrefersACubinOfExactlyThisArchitecture) {
  // Like embedded files, these end without a zero.
  const std::string_view text = ".target sm_75 ";
  const std::string_view magic = "\177ELF";
  const std::vector<unsigned char> ptx(text.begin(), text.end());
  const std::vector<unsigned char> cubin(magic.begin(), magic.end());
  const KernelCode codes[] = {
      {Backend::cuda, "sm_75", "", ptx},
      {Backend::cuda, "sm_86", "", cubin},
      {Backend::cuda, "sm_89", "", cubin},
  };
  const KernelFile file = {"two_forms", codes};
  for (const auto& [capability, target] : {std::pair(89, "cubin"), {90, "sm_75"}, {87, "sm_75"}}) {
    fake->capability = capability;
    auto device = open_device(id());
    ASSERT_TRUE(device.ok());
    fake->loaded.clear();
    ASSERT_TRUE((*device)->prepare({&file, "something", 1, 1}).ok());
    EXPECT_EQ(fake->loaded, std::vector<std::string>{target}) << capability;
  }
}

TEST_P(CudaDriverTest, HasDriversThatCanCompileTheKernelsOfAFileSideBySide) {
  constexpr int kSplitCompile = 34;
  const std::string_view text = ".target sm_75 ";
  const std::vector<unsigned char> ptx(text.begin(), text.end());
  const KernelCode codes[] = {{Backend::cuda, "sm_75", "", ptx}};
  const KernelFile file = {"some_file", codes};
  for (const auto& [version, can] : {std::pair(12090, false), {13000, true}, {13020, true}}) {
    fake->cuda_version = version;
    auto device = must(open_device(id()));
    ASSERT_TRUE(device->prepare({&file, "something", 1, 1}).ok()) << version;
    EXPECT_EQ(std::count(fake->jit_options.begin(), fake->jit_options.end(), kSplitCompile), can ? 1 : 0) << version;
  }
}

TEST_P(DriverTest, PacksArgumentsAtTheirAlignment) {
  auto device = must(open_device(id()));
  auto queue = must(device->create_queue());
  ASSERT_TRUE(
      queue->run(kKernel, 7, 5, DeviceArray<const float>{0x1122334455667788}, 42, DeviceArray<float>{0xABCDEF}, 1.5f)
          .ok());
  const unsigned grid[] = {7, 5, 1, 32, 4, 1};
  EXPECT_EQ(std::memcmp(fake->grid, grid, sizeof(grid)), 0);
  ASSERT_EQ(fake->arguments.size(), 28u);
  struct {
    uint64_t first;
    int second;
    uint64_t third;
    float fourth;
  } expected = {0x1122334455667788, 42, 0xABCDEF, 1.5f};
  unsigned char* read = fake->arguments.data();
  EXPECT_EQ(std::memcmp(read, &expected.first, 8), 0);
  EXPECT_EQ(std::memcmp(read + 8, &expected.second, 4), 0);
  EXPECT_EQ(std::memcmp(read + 16, &expected.third, 8), 0);
  EXPECT_EQ(std::memcmp(read + 24, &expected.fourth, 4), 0);

  constexpr Kernel<int, double, uint32_t, int64_t> kNumbers = {{&probe_kernels, "something", 1, 1}};
  ASSERT_TRUE(queue->run(kNumbers, 1, 1, 42, 0.1, 4000000000u, int64_t{-5}).ok());
  ASSERT_EQ(fake->arguments.size(), 32u);
  const double number = 0.1;
  const uint32_t natural = 4000000000u;
  const int64_t whole = -5;
  read = fake->arguments.data();
  EXPECT_EQ(std::memcmp(read, &expected.second, 4), 0);
  EXPECT_EQ(std::memcmp(read + 8, &number, 8), 0);
  EXPECT_EQ(std::memcmp(read + 16, &natural, 4), 0);
  EXPECT_EQ(std::memcmp(read + 24, &whole, 8), 0);

  constexpr Kernel<> kWithout = {{&probe_kernels, "something", 1, 1}};
  ASSERT_TRUE(queue->run(kWithout, 1, 1).ok());
  EXPECT_TRUE(fake->arguments.empty());
}

TEST_P(DriverTest, CopiesAndClears) {
  auto device = must(open_device(id()));
  auto memory = must(device->allocate(64));
  auto pinned = must(device->allocate_pinned(64));
  auto queue = must(device->create_queue());
  for (int i = 0; i < 64; ++i) pinned->data()[i] = static_cast<std::byte>(i + 1);
  ASSERT_TRUE(queue->upload(*memory, 0, *pinned, 0, 64).ok());
  ASSERT_TRUE(queue->clear(*memory, 8, 4).ok());
  ASSERT_TRUE(queue->download(*pinned, 32, *memory, 4, 16).ok());
  ASSERT_TRUE(queue->wait().ok());
  const unsigned char expected[] = {5, 6, 7, 8, 0, 0, 0, 0, 13, 14, 15, 16, 17, 18, 19, 20};
  EXPECT_EQ(std::memcmp(pinned->data() + 32, expected, 16), 0);
}

TEST_P(DriverTest, RefusesCallsThatMakeNoSenseBeforeTheDriverSeesThem) {
  auto device = must(open_device(id()));
  auto memory = must(device->allocate(64));
  auto pinned = must(device->allocate_pinned(32));
  const size_t huge = ~size_t{0};
  const KernelInfo unnamed = {nullptr, nullptr, 1, 1};
  const KernelInfo wide = {&probe_kernels, "something", 2048, 1};
  const KernelInfo flat = {&probe_kernels, "something", 32, 0};
  ArgumentBlock large;
  for (int i = 0; i < 17; ++i) large.add(uint64_t{1});
  const std::pair<std::function<Status(Queue&)>, const char*> calls[] = {
      {[&](Queue& q) { return q.upload(*memory, 40, *pinned, 0, 32); },
       "32 bytes from 40 on do not fit the 64 bytes of device"},
      {[&](Queue& q) { return q.upload(*memory, 0, *pinned, 1, 32); },
       "32 bytes from 1 on do not fit the 32 bytes of pinned"},
      {[&](Queue& q) { return q.upload(*memory, 4, *pinned, 0, huge); }, "do not fit"},
      {[&](Queue& q) { return q.upload(*memory, huge, *pinned, 0, 4); }, "do not fit"},
      {[&](Queue& q) { return q.download(*pinned, 0, *memory, 33, 32); }, "do not fit"},
      {[&](Queue& q) { return q.download(*pinned, 32, *memory, 0, 1); }, "do not fit"},
      {[&](Queue& q) { return q.clear(*memory, 2, 4); }, "multiples of 4"},
      {[&](Queue& q) { return q.clear(*memory, 0, 6); }, "multiples of 4"},
      {[&](Queue& q) { return q.clear(*memory, 64, 4); }, "do not fit"},
      {[&](Queue& q) { return q.clear(*memory, 8, huge - 3); }, "do not fit"},
      {[&](Queue& q) { return q.launch(kKernel, 0, 1, {}); }, "0 x 1 groups"},
      {[&](Queue& q) { return q.launch(kKernel, 1, 65536, {}); }, "1 x 65536 groups"},
      {[&](Queue& q) { return q.launch(unnamed, 1, 1, {}); }, "without a name"},
      {[&](Queue& q) { return q.launch(wide, 1, 1, {}); }, "2048 x 1 threads"},
      {[&](Queue& q) { return q.launch(flat, 1, 1, {}); }, "32 x 0 threads"},
      {[&](Queue& q) { return q.launch(kKernel, 1, 1, large); }, "136 bytes of arguments: expected at most 128"},
  };
  for (const auto& [call, words] : calls) {
    auto queue = must(device->create_queue());
    const size_t before = fake->calls.size();
    const Status status = call(*queue);
    EXPECT_EQ(status.code(), contains(words, "65536") ? StatusCode::too_big : StatusCode::internal) << words;
    EXPECT_TRUE(contains(status.message(), words)) << status.message();
    EXPECT_EQ(queue->wait().message(), status.message()) << "work is missing now, so waiting fails too";
    EXPECT_EQ(fake->calls.size(), before) << words;
  }
  EXPECT_FALSE(device->allocate(0).ok());
  EXPECT_FALSE(device->allocate_pinned(0).ok());
  EXPECT_FALSE(device->prepare(unnamed).ok());
  auto queue = must(device->create_queue());
  EXPECT_TRUE(queue->upload(*memory, 64, *pinned, 32, 0).ok()) << "nothing, at the end";
}

TEST_P(DriverTest, OrdersQueuesByEvents) {
  auto device = must(open_device(id()));
  auto first = must(device->create_queue());
  auto second = must(device->create_queue());
  auto event = must(device->create_event());
  fake->calls.clear();
  ASSERT_TRUE(first->signal(*event).ok());
  ASSERT_TRUE(second->wait_for(*event).ok());
  std::vector<std::string> seen;
  for (const std::string& call : fake->calls) {
    if (call.starts_with(GetParam().record) || call.starts_with(GetParam().wait_event)) seen.push_back(call);
  }
  ASSERT_EQ(seen.size(), 2u);
  const auto stream_and_event = [](const std::string& call) { return call.substr(call.find(' ')); };
  EXPECT_TRUE(seen[0].starts_with(GetParam().record));
  EXPECT_TRUE(seen[1].starts_with(GetParam().wait_event));
  EXPECT_NE(stream_and_event(seen[0]), stream_and_event(seen[1])) << "the same stream";
  EXPECT_EQ(seen[0].substr(seen[0].find(" event")), seen[1].substr(seen[1].find(" event")));

  auto unsignalled = must(device->create_event());
  EXPECT_EQ(second->wait_for(*unsignalled).code(), StatusCode::internal);
}

TEST_P(DriverTest, LeavesTheThreadAsItWas) {
  auto device = must(open_device(id(1)));
  fake->calls.clear();
  ASSERT_TRUE(device->free_bytes().ok());
  const std::vector<std::string> cuda = {"cuCtxPushCurrent_v2", "cuMemGetInfo_v2", "cuCtxPopCurrent_v2"};
  const std::vector<std::string> hip = {"hipGetDevice", "hipSetDevice", "hipMemGetInfo", "hipSetDevice"};
  EXPECT_EQ(fake->calls, is_cuda() ? cuda : hip);
}

TEST_P(DriverTest, TellsHowMuchMemoryIsMissing) {
  auto device = must(open_device(id()));
  const Status status = device->allocate(size_t{3} << 20).status();
  EXPECT_EQ(status.code(), StatusCode::device_memory);
  EXPECT_TRUE(contains(status.message(), GetParam().out_of_memory)) << status.message();
  EXPECT_TRUE(contains(status.message(), "3145728 bytes were needed and 1048576 of 8589934592 are free"))
      << status.message();
  EXPECT_TRUE(device->allocate(1000).ok()) << "the device is usable as before";
  const Status pinned = device->allocate_pinned(size_t{3} << 20).status();
  EXPECT_EQ(pinned.code(), StatusCode::out_of_memory);
  EXPECT_TRUE(contains(pinned.message(), "3145728 bytes of page-locked"));
}

TEST_P(DriverTest, RepeatsAFailureThatLosesTheDevice) {
  auto device = must(open_device(id()));
  auto memory = must(device->allocate(64));
  auto queue = must(device->create_queue());
  auto other = must(device->create_queue());
  fake->failing_function = GetParam().synchronize;
  fake->failure = 700;
  const Status status = queue->wait();
  EXPECT_TRUE(contains(status.message(), GetParam().illegal_address)) << status.message();
  EXPECT_EQ(queue->clear(*memory, 0, 64).message(), status.message());
  EXPECT_EQ(other->wait().message(), status.message());
  EXPECT_EQ(device->allocate(1).status().message(), status.message());
  EXPECT_EQ(device->free_bytes().status().message(), status.message());
  EXPECT_EQ(device->create_queue().status().message(), status.message());
  // Who opens it anew does not get the lost one, though it is still held.
  fake->failure = 0;
  EXPECT_TRUE(open_device(id()).ok());
}

TEST_P(DriverTest, RepeatsAFailureOfAQueueOnThatQueueAlone) {
  auto device = must(open_device(id()));
  auto memory = must(device->allocate(64));
  auto pinned = must(device->allocate_pinned(64));
  auto queue = must(device->create_queue());
  auto other = must(device->create_queue());
  fake->failing_function = GetParam().copy_up;
  fake->failure = 1;
  const Status status = queue->upload(*memory, 0, *pinned, 0, 64);
  EXPECT_TRUE(contains(status.message(), GetParam().invalid_value)) << status.message();
  EXPECT_EQ(queue->wait().message(), status.message());
  EXPECT_TRUE(other->upload(*memory, 0, *pinned, 0, 64).ok());
  EXPECT_TRUE(other->wait().ok());
}

TEST_P(DriverTest, TellsWhichKernelIsAbsent) {
  auto device = must(open_device(id()));
  const Status status = device->prepare({&probe_kernels, "absent", 1, 1});
  EXPECT_EQ(status.code(), StatusCode::device);
  EXPECT_TRUE(contains(status.message(), "(kernel absent of probe_kernels)")) << status.message();
  const KernelFile empty = {"empty_file", {}};
  EXPECT_TRUE(contains(device->prepare({&empty, "something", 1, 1}).message(), "empty_file has no code"));
}

TEST_P(DriverTest, LoadsAFileOnceForAllThreads) {
  auto device = must(open_device(id(1)));
  const int before = calls_of(GetParam().load);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&device] {
      auto queue = must(device->create_queue());
      for (int k = 0; k < 50; ++k) {
        EXPECT_TRUE(queue->run(kKernel, 1, 1, DeviceArray<const float>{}, 1, DeviceArray<float>{}, 1.0f).ok());
      }
      EXPECT_TRUE(queue->wait().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls_of(GetParam().load), before) << "the probe had loaded it";
}

/// Everything a device can do.
Status use_everything(const std::string& id) {
  auto device = open_device(id);
  if (!device.ok()) return device.status();
  if (const auto bytes = (*device)->free_bytes(); !bytes.ok()) return bytes.status();
  auto memory = (*device)->allocate(256);
  if (!memory.ok()) return memory.status();
  auto pinned = (*device)->allocate_pinned(256);
  if (!pinned.ok()) return pinned.status();
  auto first = (*device)->create_queue();
  if (!first.ok()) return first.status();
  auto second = (*device)->create_queue();
  if (!second.ok()) return second.status();
  auto event = (*device)->create_event();
  if (!event.ok()) return event.status();
  const DeviceArray<const float> in{(*memory)->address()};
  const DeviceArray<float> out{(*memory)->address() + 128};
  for (const Status& status :
       {(*device)->prepare(kKernel), (*first)->clear(**memory, 0, 256), (*first)->upload(**memory, 0, **pinned, 0, 128),
        (*first)->signal(**event), (*second)->wait_for(**event), (*second)->run(kKernel, 1, 1, in, 1, out, 1.0f),
        (*second)->download(**pinned, 0, **memory, 0, 256), (*first)->wait(), (*second)->wait()}) {
    if (!status.ok()) return status;
  }
  const auto upload = [&] { return (*first)->upload(**memory, 0, **pinned, 0, 128); };
  auto recording = (*device)->record(**first, [&] {
    const Status waited = (*first)->wait_for_outside(**event);
    return waited.ok() ? upload() : waited;
  });
  if (!recording.ok()) return recording.status();
  const Status status = *recording != nullptr ? (*recording)->replay() : upload();
  return status.ok() ? (*first)->wait() : status;
}

TEST_P(DriverTest, EveryFailingCallIsToldAndLeavesNothingBehind) {
  ASSERT_TRUE(use_everything(id(1)).ok());
  const std::vector<std::string> calls = fake->calls;
  // Where giving back or leaving fails there is nobody to tell; what cannot be instantiated is given anew.
  const auto is_silent = [](const std::string& call) {
    for (const char* word : {"Free", "Unload", "Destroy", "Release", "PopCurrent", "hipSetDevice", "hipGetDevice",
                             "PushCurrent", "StreamSynchronize", "Instantiate", "Uuid", "PCIBusId"}) {
      if (contains(call, word)) return true;
    }
    return false;
  };
  int told = 0;
  for (const int failure : {1, 700}) {
    for (size_t number = 0; number < calls.size(); ++number) {
      reset();
      fake->failing_call = static_cast<int>(number);
      fake->failure = failure;
      const Status status = use_everything(id(1));
      expect_nothing_left();
      EXPECT_TRUE(!status.ok() || is_silent(calls[number])) << calls[number];
      if (status.ok()) continue;
      ++told;
      const bool lost = failure == 700 && status.code() == StatusCode::device_lost;
      EXPECT_TRUE(lost || status.code() == StatusCode::device) << status.message();
      const char* name = failure == 1 ? GetParam().invalid_value : GetParam().illegal_address;
      EXPECT_TRUE(contains(status.message(), name)) << calls[number] << ": " << status.message();
      if (failure == 1) {
        const std::string function = calls[number].substr(0, calls[number].find(' '));
        EXPECT_TRUE(contains(status.message(), function + " failed with ")) << function << ": " << status.message();
      }
    }
  }
  EXPECT_GT(told, 60);
}

INSTANTIATE_TEST_SUITE_P(Drivers, CudaDriverTest, testing::Values(kCuda),
                         [](const auto& test) { return std::string(test.param.backend); });
INSTANTIATE_TEST_SUITE_P(Drivers, DriverTest, testing::Values(kCuda, kHip),
                         [](const auto& test) { return std::string(test.param.backend); });

}  // namespace
}  // namespace acuity
