// Bodies held in memory: bounds, the order in which cached ones go, which of two records an id has, and, for TSan above all, that readers keep whole bodies while other
// threads replace and remove them.
#include "storage/held_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "seed.h"

namespace mds {
namespace {

constexpr uint64_t kRoomy = uint64_t{1} << 30;
constexpr size_t kRecordBytes = 1000;
constexpr uint64_t kHeldBytes = kRecordBytes + kHeldBodyOverheadBytes;

BodyId id_of(uint32_t number) {
  BodyId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}

std::vector<uint8_t> record_of(uint8_t value, size_t bytes = kRecordBytes) { return std::vector<uint8_t>(bytes, value); }

// The value that the record of an id is full of; -1 where it is not held.
int value_of(HeldBodies& bodies, uint32_t number) {
  const HeldBody body = bodies.get(id_of(number));
  return body == nullptr ? -1 : body->front();
}

TEST(HeldBodies, WhatIsKeptIsNeverMoreThanTheBoundAndARefusalChangesNothing) {
  HeldBodies bodies;
  for (uint32_t number = 0; number < 3; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), 3 * kHeldBytes));
  EXPECT_FALSE(bodies.keep(id_of(3), record_of(1, 1), 3 * kHeldBytes));
  EXPECT_FALSE(bodies.keep(id_of(2), record_of(2, kRecordBytes + 1), 3 * kHeldBytes));
  EXPECT_FALSE(bodies.has(id_of(3)));
  EXPECT_EQ(value_of(bodies, 2), 1);
  EXPECT_EQ(bodies.stats().kept, 3U);
  EXPECT_EQ(bodies.stats().keptBytes, 3 * kHeldBytes);
  bodies.remove(id_of(0));
  EXPECT_TRUE(bodies.keep(id_of(3), record_of(3), 3 * kHeldBytes));
  EXPECT_FALSE(bodies.keep(id_of(4), record_of(4, 1), kHeldBytes)) << "a bound below what is kept already";
}

TEST(HeldBodies, EmptyRecordsCountAgainstTheBound) {
  HeldBodies bodies;
  EXPECT_TRUE(bodies.keep(id_of(1), {}, 2 * kHeldBodyOverheadBytes));
  EXPECT_TRUE(bodies.keep(id_of(2), {}, 2 * kHeldBodyOverheadBytes));
  EXPECT_FALSE(bodies.keep(id_of(3), {}, 2 * kHeldBodyOverheadBytes));
  ASSERT_NE(bodies.get(id_of(1)), nullptr);
  EXPECT_TRUE(bodies.get(id_of(1))->empty());
}

TEST(HeldBodies, AKeptRecordReplacesTheOneBeforeInFull) {
  HeldBodies bodies;
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(1), kHeldBytes));
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(2), kHeldBytes)) << "the one before makes room";
  EXPECT_EQ(value_of(bodies, 1), 2);
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(3, 10), kHeldBytes));
  EXPECT_EQ(bodies.stats().keptBytes, 10 + kHeldBodyOverheadBytes);
  EXPECT_EQ(bodies.stats().kept, 1U);
}

TEST(HeldBodies, OfWhatIsCachedTheLeastRecentlyUsedGoesFirst) {
  HeldBodies bodies;
  for (uint32_t number = 0; number < 4; ++number) bodies.cache(id_of(number), record_of(static_cast<uint8_t>(number)), 4 * kHeldBytes);
  EXPECT_EQ(value_of(bodies, 0), 0);
  EXPECT_TRUE(bodies.has(id_of(1))) << "has moves nothing";
  bodies.cache(id_of(4), record_of(4), 4 * kHeldBytes);
  EXPECT_FALSE(bodies.has(id_of(1)));
  bodies.cache(id_of(5), record_of(5, 2 * kRecordBytes), 4 * kHeldBytes);  // two places and a little less
  EXPECT_FALSE(bodies.has(id_of(2)));
  EXPECT_FALSE(bodies.has(id_of(3)));
  EXPECT_EQ(value_of(bodies, 0), 0);
  EXPECT_EQ(value_of(bodies, 4), 4);
  EXPECT_EQ(value_of(bodies, 5), 5);
  EXPECT_EQ(bodies.stats().cached, 3U);
  EXPECT_EQ(bodies.stats().cachedBytes, 2 * kHeldBytes + 2 * kRecordBytes + kHeldBodyOverheadBytes);
}

TEST(HeldBodies, ARecordOfMoreThanHalfTheBoundIsNotCachedAndItsPredecessorIsGone) {
  HeldBodies bodies;
  bodies.cache(id_of(1), record_of(1), 2 * kHeldBytes);
  bodies.cache(id_of(2), record_of(2, kRecordBytes + 1), 2 * kHeldBytes);
  EXPECT_FALSE(bodies.has(id_of(2)));
  EXPECT_EQ(value_of(bodies, 1), 1);
  bodies.cache(id_of(1), record_of(3, kRecordBytes + 1), 2 * kHeldBytes);
  EXPECT_FALSE(bodies.has(id_of(1)));
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(bodies.stats().cachedBytes, 0U);
}

TEST(HeldBodies, ACachedRecordReplacesTheOneBeforeAndIsTheLastToGo) {
  HeldBodies bodies;
  for (uint32_t number = 0; number < 2; ++number) bodies.cache(id_of(number), record_of(1), 2 * kHeldBytes);
  bodies.cache(id_of(0), record_of(2), 2 * kHeldBytes);
  EXPECT_EQ(bodies.stats().cachedBytes, 2 * kHeldBytes);
  bodies.cache(id_of(2), record_of(3), 2 * kHeldBytes);
  EXPECT_EQ(value_of(bodies, 0), 2);
  EXPECT_EQ(value_of(bodies, 1), -1);
}

TEST(HeldBodies, UnderOneIdWhatIsKeptWins) {
  HeldBodies bodies;
  bodies.cache(id_of(1), record_of(1), kRoomy);
  EXPECT_FALSE(bodies.keep(id_of(1), record_of(2), 1));
  EXPECT_EQ(value_of(bodies, 1), 1) << "a refused record takes no place";
  ASSERT_TRUE(bodies.keep(id_of(1), record_of(2), kRoomy));
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(bodies.stats().cachedBytes, 0U);
  bodies.cache(id_of(1), record_of(3), kRoomy);
  EXPECT_EQ(bodies.stats().cached, 0U);
  EXPECT_EQ(value_of(bodies, 1), 2);
  bodies.remove(id_of(1));
  EXPECT_FALSE(bodies.has(id_of(1)));
}

TEST(HeldBodies, ClearForgetsWhatIsKeptAndLeavesWhatIsCached) {
  HeldBodies bodies;
  for (uint32_t number = 0; number < 10; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), kRoomy));
  bodies.cache(id_of(10), record_of(2), kRoomy);
  bodies.clear();
  EXPECT_FALSE(bodies.has(id_of(0)));
  EXPECT_EQ(value_of(bodies, 10), 2);
  EXPECT_EQ(bodies.stats().kept, 0U);
  EXPECT_EQ(bodies.stats().keptBytes, 0U);
  EXPECT_TRUE(bodies.keep(id_of(0), record_of(3), kHeldBytes)) << "all of the room is there again";
}

TEST(HeldBodies, AReaderKeepsItsBytesWhateverBecomesOfTheId) {
  HeldBodies bodies;
  for (uint32_t number = 1; number <= 3; ++number) ASSERT_TRUE(bodies.keep(id_of(number), record_of(1), kRoomy));
  bodies.cache(id_of(4), record_of(1), 2 * kHeldBytes);
  const std::vector<HeldBody> held = {bodies.get(id_of(1)), bodies.get(id_of(2)), bodies.get(id_of(3)), bodies.get(id_of(4))};
  bodies.remove(id_of(1));
  ASSERT_TRUE(bodies.keep(id_of(2), record_of(2), kRoomy));
  bodies.clear();
  for (uint32_t number = 5; number < 8; ++number) bodies.cache(id_of(number), record_of(2), 2 * kHeldBytes);
  ASSERT_FALSE(bodies.has(id_of(4)));
  for (const HeldBody& body : held) EXPECT_EQ(*body, record_of(1));
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kRounds = 20'000;
#else
constexpr uint32_t kRounds = 200'000;
#endif
constexpr uint32_t kIds = 24;
constexpr uint32_t kThreads = 4;
// Room for half of what the threads want to keep and cache, so that both bounds are met all the time.
constexpr uint64_t kScarce = kIds / 2 * kHeldBytes;

// Full of one value, from which the size follows: a record that mixes two is seen.
std::vector<uint8_t> sized_record(uint32_t random) {
  const auto value = static_cast<uint8_t>(random >> 8);
  return record_of(value, kRecordBytes / 2 + value);
}

void expect_whole(const HeldBody& body) {
  if (body == nullptr) return;
  ASSERT_FALSE(body->empty());
  ASSERT_EQ(body->size(), kRecordBytes / 2 + body->front());
  ASSERT_TRUE(std::all_of(body->begin(), body->end(), [&](uint8_t byte) { return byte == body->front(); }));
}

void act(HeldBodies& bodies, uint32_t random) {
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

TEST(HeldBodies, ThreadsSeeWholeBodiesAndNeverMoreThanTheBounds) {
  HeldBodies bodies;
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
    const HeldBodies::Stats stats = bodies.stats();
    EXPECT_LE(stats.keptBytes, kScarce);
    EXPECT_LE(stats.cachedBytes, kScarce);
    EXPECT_LE(stats.kept + stats.cached, kIds) << "an id has one record";
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t number = 0; number < kIds; ++number) bodies.remove(id_of(number));
  const HeldBodies::Stats end = bodies.stats();
  EXPECT_EQ(end.kept + end.cached, 0U);
  EXPECT_EQ(end.keptBytes + end.cachedBytes, 0U) << "what was counted in is counted out";
}

}  // namespace
}  // namespace mds
