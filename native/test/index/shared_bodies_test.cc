// Bodies in native memory: limits, the order of eviction, and which of two records an id has. Mainly for
// TSan: readers keep complete bodies while other threads replace and remove them.
#include "storage/shared_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "support/seed.h"

namespace mds {
namespace {

constexpr uint64_t kLargeBytes = uint64_t{1} << 30;
constexpr size_t kRecordBytes = 1000;
constexpr uint64_t kSharedBytes = kRecordBytes + kSharedBodyOverheadBytes;

BodyId id_of(uint32_t number) {
  BodyId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}

std::vector<uint8_t> record_of(uint8_t value, size_t bytes = kRecordBytes) { return std::vector<uint8_t>(bytes, value); }

// Returns the value that the record of an id is filled with, or -1 if the id has no record.
int value_of(SharedBodies& bodies, uint32_t number) {
  const SharedBody body = bodies.get(id_of(number));
  return body == nullptr ? -1 : body->front();
}

TEST(SharedBodies, WhatIsKeptIsNeverMoreThanTheBoundAndARefusalChangesNothing) {
  SharedBodies bodies;
  for (uint32_t number = 0; number < 3; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), 3 * kSharedBytes));
  EXPECT_FALSE(bodies.keep(id_of(3), record_of(1, 1), 3 * kSharedBytes));
  EXPECT_FALSE(bodies.keep(id_of(2), record_of(2, kRecordBytes + 1), 3 * kSharedBytes));
  EXPECT_FALSE(bodies.has(id_of(3)));
  EXPECT_EQ(value_of(bodies, 2), 1);
  EXPECT_EQ(bodies.stats().kept, 3U);
  EXPECT_EQ(bodies.stats().keptBytes, 3 * kSharedBytes);
  bodies.remove(id_of(0));
  EXPECT_TRUE(bodies.keep(id_of(3), record_of(3), 3 * kSharedBytes));
  EXPECT_FALSE(bodies.keep(id_of(4), record_of(4, 1), kSharedBytes)) << "a bound below what is kept already";
}

TEST(SharedBodies, EmptyRecordsCountAgainstTheBound) {
  SharedBodies bodies;
  EXPECT_TRUE(bodies.keep(id_of(1), {}, 2 * kSharedBodyOverheadBytes));
  EXPECT_TRUE(bodies.keep(id_of(2), {}, 2 * kSharedBodyOverheadBytes));
  EXPECT_FALSE(bodies.keep(id_of(3), {}, 2 * kSharedBodyOverheadBytes));
  ASSERT_NE(bodies.get(id_of(1)), nullptr);
  EXPECT_TRUE(bodies.get(id_of(1))->empty());
}

TEST(SharedBodies, AKeptRecordReplacesItsPredecessorAndFreesItsBytes) {
  SharedBodies bodies;
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(1), kSharedBytes));
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(2), kSharedBytes)) << "its predecessor frees capacity";
  EXPECT_EQ(value_of(bodies, 1), 2);
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(3, 10), kSharedBytes));
  EXPECT_EQ(bodies.stats().keptBytes, 10 + kSharedBodyOverheadBytes);
  EXPECT_EQ(bodies.stats().kept, 1U);
}

TEST(SharedBodies, TheLeastRecentlyUsedCachedRecordIsEvictedFirst) {
  SharedBodies bodies;
  for (uint32_t number = 0; number < 4; ++number) bodies.cache(id_of(number), record_of(static_cast<uint8_t>(number)), 4 * kSharedBytes);
  EXPECT_EQ(value_of(bodies, 0), 0);
  EXPECT_TRUE(bodies.has(id_of(1))) << "has moves nothing";
  bodies.cache(id_of(4), record_of(4), 4 * kSharedBytes);
  EXPECT_FALSE(bodies.has(id_of(1)));
  bodies.cache(id_of(5), record_of(5, 2 * kRecordBytes), 4 * kSharedBytes);  // slightly smaller than two records
  EXPECT_FALSE(bodies.has(id_of(2)));
  EXPECT_FALSE(bodies.has(id_of(3)));
  EXPECT_EQ(value_of(bodies, 0), 0);
  EXPECT_EQ(value_of(bodies, 4), 4);
  EXPECT_EQ(value_of(bodies, 5), 5);
  EXPECT_EQ(bodies.stats().cached, 3U);
  EXPECT_EQ(bodies.stats().cachedBytes, 2 * kSharedBytes + 2 * kRecordBytes + kSharedBodyOverheadBytes);
}

TEST(SharedBodies, ARecordOfMoreThanHalfTheBoundIsNotCachedAndItsPredecessorIsGone) {
  SharedBodies bodies;
  bodies.cache(id_of(1), record_of(1), 2 * kSharedBytes);
  bodies.cache(id_of(2), record_of(2, kRecordBytes + 1), 2 * kSharedBytes);
  EXPECT_FALSE(bodies.has(id_of(2)));
  EXPECT_EQ(value_of(bodies, 1), 1);
  bodies.cache(id_of(1), record_of(3, kRecordBytes + 1), 2 * kSharedBytes);
  EXPECT_FALSE(bodies.has(id_of(1)));
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(bodies.stats().cachedBytes, 0U);
}

TEST(SharedBodies, ACachedRecordReplacesItsPredecessorAndIsEvictedLast) {
  SharedBodies bodies;
  for (uint32_t number = 0; number < 2; ++number) bodies.cache(id_of(number), record_of(1), 2 * kSharedBytes);
  bodies.cache(id_of(0), record_of(2), 2 * kSharedBytes);
  EXPECT_EQ(bodies.stats().cachedBytes, 2 * kSharedBytes);
  bodies.cache(id_of(2), record_of(3), 2 * kSharedBytes);
  EXPECT_EQ(value_of(bodies, 0), 2);
  EXPECT_EQ(value_of(bodies, 1), -1);
}

TEST(SharedBodies, AKeptRecordReplacesACachedOneOfTheSameId) {
  SharedBodies bodies;
  bodies.cache(id_of(1), record_of(1), kLargeBytes);
  EXPECT_FALSE(bodies.keep(id_of(1), record_of(2), 1));
  EXPECT_EQ(value_of(bodies, 1), 1) << "a refused record takes no capacity";
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(2), kLargeBytes));
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(bodies.stats().cachedBytes, 0U);
  bodies.cache(id_of(1), record_of(3), kLargeBytes);
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(value_of(bodies, 1), 2);
  bodies.remove(id_of(1));
  EXPECT_FALSE(bodies.has(id_of(1)));
}

TEST(SharedBodies, ClearRemovesKeptRecordsOnly) {
  SharedBodies bodies;
  for (uint32_t number = 0; number < 10; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), kLargeBytes));
  bodies.cache(id_of(10), record_of(2), kLargeBytes);
  bodies.clear();
  EXPECT_FALSE(bodies.has(id_of(0)));
  EXPECT_EQ(value_of(bodies, 10), 2);
  EXPECT_EQ(bodies.stats().kept, 0U);
  EXPECT_EQ(bodies.stats().keptBytes, 0U);
  EXPECT_TRUE(bodies.keep(id_of(0), record_of(3), kSharedBytes)) << "the whole capacity is free again";
}

TEST(SharedBodies, BytesOfAReaderOutliveTheRecord) {
  SharedBodies bodies;
  for (uint32_t number = 1; number <= 3; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), kLargeBytes));
  bodies.cache(id_of(4), record_of(1), 2 * kSharedBytes);
  const std::vector<SharedBody> read = {bodies.get(id_of(1)), bodies.get(id_of(2)), bodies.get(id_of(3)), bodies.get(id_of(4))};
  bodies.remove(id_of(1));
  ASSERT_TRUE(bodies.keep(id_of(2), record_of(2), kLargeBytes));
  bodies.clear();
  for (uint32_t number = 5; number < 8; ++number) bodies.cache(id_of(number), record_of(2), 2 * kSharedBytes);
  ASSERT_FALSE(bodies.has(id_of(4)));
  for (const SharedBody& body : read) EXPECT_EQ(*body, record_of(1));
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kRounds = 20'000;
#else
constexpr uint32_t kRounds = 200'000;
#endif
constexpr uint32_t kIds = 24;
constexpr uint32_t kThreads = 4;
// Half of the bytes that the threads want to keep and cache, so that both limits are reached all the time.
constexpr uint64_t kScarce = kIds / 2 * kSharedBytes;

// Filled with one value, which also determines the size. A record that mixes two values is detected.
std::vector<uint8_t> sized_record(uint32_t random) {
  const auto value = static_cast<uint8_t>(random >> 8);
  return record_of(value, kRecordBytes / 2 + value);
}

void expect_whole(const SharedBody& body) {
  if (body == nullptr) return;
  ASSERT_FALSE(body->empty());
  ASSERT_EQ(body->size(), kRecordBytes / 2 + body->front());
  ASSERT_TRUE(std::all_of(body->begin(), body->end(), [&](uint8_t byte) { return byte == body->front(); }));
}

void act(SharedBodies& bodies, uint32_t random) {
  const BodyId id = id_of(random % kIds);
  switch (random / kIds % 8) {
    case 0:
    case 1:
      (void)bodies.keep(id, sized_record(random), kScarce);
      break;
    case 2:
    case 3:
      bodies.cache(id, sized_record(random), kScarce);
      break;
    case 4:
      bodies.remove(id);
      break;
    case 5:
      if (random % 512 == 0) bodies.clear();
      (void)bodies.has(id);
      break;
    default:
      expect_whole(bodies.get(id));
  }
}

TEST(SharedBodies, ThreadsSeeWholeBodiesAndNeverMoreThanTheBounds) {
  SharedBodies bodies;
  std::atomic<uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&bodies, &running, thread] {
      std::mt19937 random(static_cast<uint32_t>(test::seed()) + thread);
      for (uint32_t round = 0; round < kRounds && !testing::Test::HasFatalFailure(); ++round) act(bodies, static_cast<uint32_t>(random()));
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) {
    const SharedBodies::Stats stats = bodies.stats();
    EXPECT_LE(stats.keptBytes, kScarce);
    EXPECT_LE(stats.cachedBytes, kScarce);
    EXPECT_LE(stats.kept + stats.cached, kIds) << "an id has one record";
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t number = 0; number < kIds; ++number) bodies.remove(id_of(number));
  const SharedBodies::Stats end = bodies.stats();
  EXPECT_EQ(end.kept + end.cached, 0U);
  EXPECT_EQ(end.keptBytes + end.cachedBytes, 0U) << "what was counted in is counted out";
}

}  // namespace
}  // namespace mds
