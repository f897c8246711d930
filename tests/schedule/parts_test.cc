// SPDX-License-Identifier: BSD-2-Clause-Patent
// The parts of a scheduler, each by itself.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/ledger.h"
#include "schedule/pictures.h"
#include "schedule/reference_cache.h"
#include "schedule/results.h"
#include "schedule/window.h"

namespace acuity {
namespace {

bool nothing_to_free(int64_t) { return false; }

Held taken(Ledger& ledger, int64_t bytes) {
  Result<Held> held = ledger.take(bytes);
  EXPECT_TRUE(held.ok());
  return std::move(*held);
}

TEST(Ledger, CountsWhatIsHeldAndTheMostThatWas) {
  Ledger ledger(100, nothing_to_free);
  {
    Held held = taken(ledger, 60);
    EXPECT_EQ(ledger.used(), 60);
    EXPECT_FALSE(held.try_more(41));
    EXPECT_TRUE(held.try_more(40));
    EXPECT_EQ(ledger.try_take(1).bytes(), 0);
    Held part = held.split(30);
    EXPECT_EQ(held.bytes(), 70);
    EXPECT_EQ(part.bytes(), 30);
    held.keep_only(10);
    EXPECT_EQ(ledger.used(), 40);
    part.add(std::move(held));
    EXPECT_EQ(part.bytes(), 40);
    part.more_anyway(100);
    EXPECT_EQ(ledger.used(), 140);
  }
  EXPECT_EQ(ledger.used(), 0);
  EXPECT_EQ(ledger.peak(), 140);
  EXPECT_EQ(ledger.take(101).status().code(), StatusCode::too_big);
}

TEST(Ledger, WhatIsOnlyCachedGoesFirst) {
  std::vector<Held> cached;
  Ledger ledger(100, [&](int64_t) {
    if (cached.empty()) return false;
    cached.pop_back();
    return true;
  });
  for (int i = 0; i < 4; ++i) cached.push_back(ledger.try_take(25));
  EXPECT_EQ(ledger.used(), 100);
  const Held held = taken(ledger, 60);
  EXPECT_EQ(cached.size(), 1u);
  EXPECT_EQ(ledger.used(), 85);
  cached.clear();  // before the ledger goes
}

TEST(Ledger, WhoAskedFirstIsServedFirst) {
  Ledger ledger(100, nothing_to_free);
  Held first = taken(ledger, 80);
  std::atomic<bool> large_is_served = false;
  std::thread large([&] {
    const Result<Held> held = ledger.take(90);
    EXPECT_TRUE(held.ok());
    large_is_served = true;
  });
  first.keep_only(0);
  large.join();
  EXPECT_TRUE(large_is_served);
  EXPECT_EQ(ledger.used(), 0);
}

TEST(Ledger, AfterCloseNobodyWaits) {
  Ledger ledger(100, nothing_to_free);
  const Held held = taken(ledger, 80);
  std::thread waits([&] { EXPECT_EQ(ledger.take(90).status().code(), StatusCode::cancelled); });
  ledger.close();
  waits.join();
}

TEST(Ledger, ManyThreadsNeverExceedTheLimit) {
  Ledger ledger(1000, nothing_to_free);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        Held held = taken(ledger, 1 + (i * 37 + t * 101) % 900);
        if (!held.try_more(50)) held.keep_only(held.bytes() / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.used(), 0);
  EXPECT_LE(ledger.peak(), 1000);
}

RowPointer row_of(int64_t index, const std::string& reference) {
  auto row = std::make_shared<Row>();
  row->index = index;
  row->task.reference = TaskPicture::file(reference);
  row->reference_name = name_of_reference(row->task.reference);
  return row;
}

class WindowTest : public testing::Test {
 protected:
  std::string next(Window& window) {
    const RowPointer row = window.take(stays_);
    return row ? row->task.reference.name + std::to_string(row->index) + (row->shares_reference ? "+" : "") : "none";
  }
  static bool always() { return true; }
  static void nothing(Row&) {}
  std::atomic<bool> stays_ = false;
};

TEST_F(WindowTest, RowsOfOneReferenceMeet) {
  Window window(100, 1);
  int64_t index = 0;
  for (const char* reference : {"a", "b", "a", "c", "b", "a"}) window.put(row_of(index++, reference), always, nothing);
  for (const char* expected : {"a0+", "a2+", "a5", "b1+", "b4", "c3"}) EXPECT_EQ(next(window), expected);
  window.close();
  EXPECT_EQ(next(window), "none");
}

TEST_F(WindowTest, NoRowWaitsForMoreThanAWindow) {
  Window window(3, 1);
  int64_t index = 0;
  window.put(row_of(index++, "a"), always, nothing);
  window.put(row_of(index++, "b"), always, nothing);
  std::string order;
  for (int i = 0; i < 8; ++i) {
    window.put(row_of(index++, "a"), always, nothing);
    order += next(window).substr(0, 2) + " ";
  }
  EXPECT_EQ(order, "a0 a2 a3 a4 b1 a5 a6 a7 ");
}

TEST_F(WindowTest, PutWaitsForRoomAndForWhatIsHeldBack) {
  Window window(2, 1);
  std::atomic<bool> held_back = false;
  const auto admit = [&] { return !held_back.load(); };
  std::atomic<int> put = 0;
  std::thread putter([&] {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(window.put(row_of(i, "a"), admit, nothing), Window::Put::yes);
      EXPECT_LE(++put, 5);
    }
    held_back = true;
    EXPECT_EQ(window.put(row_of(9, "a"), admit, nothing), Window::Put::closed);
  });
  for (const char* expected : {"a0", "a1", "a2", "a3", "a4"}) EXPECT_EQ(next(window).substr(0, 2), expected);
  while (!held_back) std::this_thread::yield();
  window.close();
  putter.join();
  EXPECT_FALSE(window.put_first(row_of(10, "a")));
}

TEST_F(WindowTest, PutWaitsNoLongerThanItMay) {
  Window window(1, 1);
  const auto soon = [] { return Clock::now() + std::chrono::milliseconds(20); };
  EXPECT_EQ(window.put(row_of(0, "a"), always, nothing, soon()), Window::Put::yes);
  const Clock::time_point until = soon();
  EXPECT_EQ(window.put(row_of(1, "a"), always, nothing, until), Window::Put::no_room);
  EXPECT_GE(Clock::now(), until);
  EXPECT_EQ(window.waiting(), 1u);
  EXPECT_EQ(next(window), "a0");
  EXPECT_EQ(window.put(row_of(1, "a"), [] { return false; }, nothing, soon()), Window::Put::no_room);
  EXPECT_EQ(window.waiting(), 0u);
}

TEST_F(WindowTest, RowsThatCameBackGoFirstAndAllAreTakenBack) {
  Window window(10, 1);
  window.put(row_of(1, "a"), always, nothing);
  window.put(row_of(2, "b"), always, nothing);
  window.put_first(row_of(0, "z"));
  EXPECT_EQ(next(window), "z0");
  window.put_first(row_of(3, "z"));
  for (const int64_t index : {1, 2, 3}) {
    const RowPointer row = window.take_back();
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->index, index);
  }
  EXPECT_EQ(window.take_back(), nullptr);
  EXPECT_EQ(window.waiting(), 0u);
  EXPECT_EQ(window.put(row_of(4, "a"), always, nothing), Window::Put::yes);
  EXPECT_EQ(next(window), "a4");
}

TEST_F(WindowTest, WorksWaitForTheirTurn) {
  Window window(10, 1);
  std::vector<RowPointer> works;
  for (int i = 0; i < 3; ++i) {
    works.push_back(row_of(i, ""));
    works.back()->is_work = true;
  }
  window.put(works[0], always, nothing);
  window.put(works[2], always, nothing);
  window.put(row_of(3, "a"), always, nothing);
  EXPECT_EQ(next(window), "0");
  EXPECT_TRUE(window.put_work(works[1])) << "which turned out to be one";
  EXPECT_EQ(next(window), "a3") << "the others have no place yet";
  window.end_work(*works[0]);
  window.end_work(*works[0]);  // by who gave it up, and when it returned
  EXPECT_EQ(next(window), "1");
  window.put(row_of(4, "a"), always, nothing);
  EXPECT_EQ(next(window), "a4");
  window.end_work(*works[1]);
  EXPECT_EQ(next(window), "2");
}

TEST(Results, AreHandedOutInOrder) {
  for (const bool ordered : {true, false}) {
    Results results(ordered);
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(results.expect(), i);
    std::vector<int64_t> order;
    for (const int64_t index : {2, 0, 3, 1}) {
      TaskResult result;
      result.index = index;
      results.deliver(std::move(result));
      while (const auto next = results.poll()) order.push_back(next->index);
    }
    EXPECT_EQ(order, (ordered ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{2, 0, 3, 1}));
    EXPECT_EQ(results.first_unfinished(), 4);
    EXPECT_FALSE(results.wait_any());
  }
}

TEST(Results, WaitsNoLongerThanItMay) {
  Results results(/*ordered=*/true);
  EXPECT_TRUE(results.is_drained());
  results.expect();
  EXPECT_FALSE(results.wait_any(Clock::now() + std::chrono::milliseconds(20)));
  EXPECT_FALSE(results.is_drained());
  results.deliver({});
  EXPECT_TRUE(results.wait_any(Clock::now() + std::chrono::hours(1)));
  EXPECT_TRUE(results.is_drained());
}

TEST(ReferenceKeys, DependOnBytesAndFrame) {
  const std::vector<uint8_t> a = tests::drawn(1, 16, 16), b = tests::drawn(2, 16, 16);
  EXPECT_EQ(reference_key(a, {}), reference_key(std::vector<uint8_t>(a), {}));
  EXPECT_NE(reference_key(a, {}), reference_key(b, {}));
  EXPECT_NE(reference_key(a, 0), reference_key(a, 1));
}

class ReferenceCacheTest : public testing::Test {
 protected:
  ReferenceKey key(int number) const { return {static_cast<uint64_t>(number), 0, 0, -1, nullptr}; }
  std::shared_ptr<CachedReference> add(ReferenceCache& cache, int number, int64_t bytes) {
    bool is_new = false;
    std::shared_ptr<CachedReference> reference = cache.claim(key(number), is_new);
    EXPECT_TRUE(is_new);
    reference->held = ledger.try_take(bytes);
    reference->complete({});
    return reference;
  }
  Ledger ledger{1000, nothing_to_free};
};

TEST_F(ReferenceCacheTest, TheLeastRecentlyUsedThatNobodyUsesGoes) {
  ReferenceCache cache(1, 1000, 1000);
  for (int i = 0; i < 4; ++i) add(cache, i, 100);
  std::shared_ptr<CachedReference> used = cache.find(key(1));
  cache.find(key(0));
  EXPECT_TRUE(cache.drop(1));
  EXPECT_EQ(cache.find(key(2)), nullptr) << "the oldest";
  EXPECT_TRUE(cache.drop(1000));
  EXPECT_EQ(cache.find(key(0)), nullptr);
  EXPECT_EQ(cache.find(key(1)), used);
  EXPECT_FALSE(cache.drop(1000)) << "what is left is in use";
  used.reset();
  EXPECT_TRUE(cache.drop(1));
  EXPECT_EQ(ledger.used(), 0);
}

TEST_F(ReferenceCacheTest, ItKeepsItsShareAndForgetsWhatIsFar) {
  ReferenceCache share(1, 300, 1000);
  for (int i = 0; i < 9; ++i) add(share, i, 100);
  EXPECT_LE(ledger.used(), 400);
  share.clear();
  EXPECT_EQ(ledger.used(), 0);
  ReferenceCache far(1, 1000, 8);
  add(far, 0, 1);
  for (int i = 1; i < 40; ++i) add(far, i, 1);
  EXPECT_EQ(far.find(key(0)), nullptr);
  EXPECT_LE(ledger.used(), 12);
}

TEST_F(ReferenceCacheTest, WhoeverFindsOneBeingDecodedWaits) {
  ReferenceCache cache(1, 1000, 1000);
  bool is_new = false;
  const auto reference = cache.claim(key(5), is_new);
  ASSERT_TRUE(is_new);
  const auto same = cache.claim(key(5), is_new);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(same, reference);
  EXPECT_EQ(same->wait(1).code(), StatusCode::cancelled) << "the time is over";
  std::thread waits([&] { EXPECT_EQ(same->wait(0).message(), "damaged"); });
  cache.forget(reference);
  reference->complete(Status(StatusCode::input, "damaged"));
  waits.join();
  EXPECT_EQ(cache.find(key(5)), nullptr);
}

}  // namespace
}  // namespace acuity
