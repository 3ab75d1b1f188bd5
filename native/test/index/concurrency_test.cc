// Concurrent writers, readers and merges; mainly for TSan. Guarantees: a search sees only whole batches,
// never two versions of a document, and everything published before it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "index/engine.h"
#include "index/merge_policy.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Hits;
using test::Plan;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kRounds = 400;
#else
constexpr uint32_t kRounds = 4000;
#endif
constexpr uint32_t kPairs = 50;

// Document n and its twin are always written in one batch, with the round as their text and LSN.
test::Document twin_document(uint32_t docid, uint64_t round) {
  test::Document document;
  document.docid = docid;
  document.lsn = round;
  document.key = "k" + std::to_string(docid);
  document.meta = {{"round", std::to_string(round % 7)}};
  document.fields["content"] = test::text_of({"every", "round" + std::to_string(round % 13)});
  return document;
}

TEST(Concurrency, SearchesBesideWritesAndMergesSeeWholeBatches) {
  Engine engine;
  std::atomic<uint64_t> published{0};
  std::atomic<bool> isDone{false};
  std::atomic<uint32_t> searches{0};

  const auto read = [&] {
    Plan plan;
    plan.k = 1000;
    plan.terms = {{"every", 1.0F}};
    plan.root = {1, 0, 0, {}, {}};
    const test::Wire bytes = test::plan_bytes(plan);
    while (!isDone.load()) {
      const uint64_t before = published.load();
      const Result<test::Wire> record = engine.search(bytes, {});
      ASSERT_TRUE(record.ok());
      const Hits hits = test::read_hits(record.value());
      ASSERT_GE(hits.lsn, before);
      ASSERT_EQ(hits.total, hits.docCount);
      std::map<uint32_t, uint64_t> lsns;
      for (const test::Hit& hit : hits.hits) ASSERT_TRUE(lsns.emplace(hit.docid, hit.lsn).second) << "two versions of document " << hit.docid;
      for (const auto& [docid, lsn] : lsns) {
        const auto twin = lsns.find(docid ^ 1U);
        ASSERT_NE(twin, lsns.end());
        ASSERT_EQ(twin->second, lsn);
      }
      ++searches;
    }
  };
  std::thread readerA(read);
  std::thread readerB(read);
  std::thread merger([&] {
    while (!isDone.load()) {
      ASSERT_TRUE(engine.force_merge().ok());
      ASSERT_TRUE(engine.meta_keys(1).ok());
      (void)engine.stats();
    }
  });

  test::Generator generator(test::seed());
  for (uint64_t round = 1; round <= kRounds; ++round) {
    const uint32_t docid = generator.below(kPairs) * 2;
    const bool isDelete = generator.below(10) == 0;
    std::vector<test::Wire> ops;
    for (const uint32_t id : {docid, docid + 1}) ops.push_back(isDelete ? test::delete_op(1, id, round) : test::upsert_op(twin_document(id, round)));
    ASSERT_TRUE(engine.publish(test::batch_of(ops, round)).ok());
    published.store(round);
  }
  isDone.store(true);
  readerA.join();
  readerB.join();
  merger.join();
  EXPECT_GT(searches.load(), 0U);
  EXPECT_GT(engine.stats().merges, 0U);
}

TEST(Merging, SingleDocumentWritesNeverLeaveMoreSegmentsThanTheBound) {
  Engine engine;
  test::Generator generator(test::seed());
  uint32_t most = 0;
  for (uint32_t docid = 0; docid < kRounds; ++docid) {
    ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, docid, docid + 1))}, docid + 1)).ok());
    most = std::max(most, engine.stats().segments);
  }
  EXPECT_LE(most, kSegmentsMax);
  EXPECT_EQ(engine.stats().documents, kRounds);
}

// Waits as long as the lanes may take on a busy machine. Returns as soon as the condition holds.
bool comes_true(const std::function<bool()>& promise) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!promise() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return promise();
}

TEST(Merging, WritesBesideForcedMergesNeverLeaveMoreSegmentsThanTheBound) {
  Engine engine;
  test::Generator generator(test::seed());
  std::vector<test::Wire> ops;
  for (uint32_t docid = 0; docid < 5 * kRounds; ++docid) ops.push_back(test::upsert_op(generator.document(1, docid, docid + 1)));
  ASSERT_TRUE(engine.publish(test::batch_of(ops, ops.size())).ok());
  std::atomic<bool> isDone{false};
  std::thread merger([&] {
    while (!isDone.load()) ASSERT_TRUE(engine.force_merge().ok());
  });
  uint32_t most = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t docid = 5 * kRounds + round;
    const bool isPublished = engine.publish(test::batch_of({test::upsert_op(generator.document(1, docid, docid + 1))}, docid + 1)).ok();
    EXPECT_TRUE(isPublished);
    most = std::max(most, engine.stats().segments);
  }
  isDone.store(true);
  merger.join();
  EXPECT_LE(most, kSegmentsBesideForcedMergeMax);
  EXPECT_EQ(engine.stats().documents, 6 * kRounds);
}

TEST(Merging, SegmentsReplacedByAMergeOrADropAreFreedWithoutAnotherWrite) {
  test::Generator generator(test::seed());
  for (uint32_t round = 0; round < 20; ++round) {
    Engine engine;
    for (uint32_t docid = 0; docid < 3; ++docid) {
      ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, docid, docid + 1))}, docid + 1)).ok());
    }
    std::weak_ptr<const Segment> source = engine.snapshot()->segments[0].segment;
    ASSERT_TRUE(engine.force_merge().ok());
    ASSERT_TRUE(comes_true([&] { return source.expired(); }));
    source = engine.snapshot()->segments[0].segment;
    ASSERT_TRUE(engine.drop_all().ok());
    ASSERT_TRUE(comes_true([&] { return source.expired(); }));
  }
}

TEST(MergePolicy, EightOfATierAreMergedAndSevenAreNot) {
  std::vector<MergeCandidate> candidates;
  for (uint32_t index = 0; index < 7; ++index) candidates.push_back({index, 1000, 10, 0});
  EXPECT_TRUE(pick_merge(candidates, MergeLane::kQuick).empty());
  candidates.push_back({7, 1000, 10, 0});
  EXPECT_EQ(pick_merge(candidates, MergeLane::kQuick).size(), 8U);
  EXPECT_TRUE(pick_merge(candidates, MergeLane::kLong).empty());
}

TEST(MergePolicy, LargeMergesGoToTheLongLane) {
  std::vector<MergeCandidate> candidates;
  for (uint32_t index = 0; index < 8; ++index) candidates.push_back({index, 6 << 20, 10, 0});
  EXPECT_TRUE(pick_merge(candidates, MergeLane::kQuick).empty());
  EXPECT_EQ(pick_merge(candidates, MergeLane::kLong).size(), 8U);
}

TEST(MergePolicy, AtRestTheSmallOnesTogetherAreLessThanAnEighthOfTheNextLarger) {
  std::mt19937_64 random(test::seed());
  for (uint32_t round = 0; round < 200; ++round) {
    std::vector<MergeCandidate> left;
    for (uint64_t count = 1 + random() % 40; count > 0; --count) left.push_back({static_cast<uint32_t>(left.size()), uint64_t{1} << (random() % 22), 10, 0});
    for (std::vector<uint32_t> picked = pick_resting_merge(left); !picked.empty(); picked = pick_resting_merge(left)) {
      ASSERT_GE(picked.size(), 2U);
      uint64_t bytes = 0;
      for (const uint32_t index : picked) bytes += left[index].liveBytes;
      std::erase_if(left, [&picked](const MergeCandidate& candidate) { return std::find(picked.begin(), picked.end(), candidate.index) != picked.end(); });
      left.push_back({0, bytes, 10, 0});
      for (uint32_t index = 0; index < left.size(); ++index) left[index].index = index;
    }
    std::sort(left.begin(), left.end(), [](const MergeCandidate& a, const MergeCandidate& b) { return a.liveBytes < b.liveBytes; });
    uint64_t smaller = 0;
    for (const MergeCandidate& candidate : left) {
      EXPECT_LT(smaller * kRestingShareDivisor, candidate.liveBytes);
      smaller += candidate.liveBytes;
    }
  }
  EXPECT_TRUE(pick_resting_merge(std::vector<MergeCandidate>{{0, kRestingMergeBytesMax, 10, 0}, {1, kRestingMergeBytesMax, 10, 0}}).empty());
}

TEST(MergePolicy, AGroupThatIsTooLargeForOneSegmentIsMergedAsFarAsItFits) {
  for (const uint64_t bytes : {uint64_t{40} << 20, uint64_t{200} << 20}) {
    std::vector<MergeCandidate> tier;
    for (uint32_t index = 0; index < 32; ++index) tier.push_back({index, bytes, 10, 0});
    const size_t picked = pick_merge(tier, MergeLane::kLong).size();
    EXPECT_GE(picked, 2U);
    EXPECT_LE(picked * bytes, kMergedBytesMax);
    EXPECT_GT((picked + 1) * bytes, kMergedBytesMax);
  }
  // Seven segments in each of three tiers. None is full. Together they are more than wanted, and more than
  // one segment may contain.
  std::vector<MergeCandidate> mixed;
  for (uint32_t index = 0; index < 21; ++index) mixed.push_back({index, uint64_t{6 << 20} << (index / 7 * 3), 10, 0});
  EXPECT_GE(pick_merge(mixed, MergeLane::kLong).size(), 8U);
}

TEST(MergePolicy, ASegmentThatIsMoreThanAThirdDeadIsRewritten) {
  const std::vector<MergeCandidate> candidates = {{0, 1 << 20, 90, 30}, {1, 1 << 18, 90, 31}};
  EXPECT_EQ(pick_merge(candidates, MergeLane::kQuick), std::vector<uint32_t>{1});
}

TEST(MergePolicy, MoreSegmentsThanWantedAreMergedSmallestFirst) {
  std::vector<MergeCandidate> candidates;
  for (uint32_t index = 0; index < 18; ++index) candidates.push_back({index, uint64_t{1000} << (index + index / 2), 10, 0});
  const std::vector<uint32_t> picked = pick_merge(candidates, MergeLane::kQuick);
  ASSERT_GE(picked.size(), 2U);
  for (uint32_t index = 0; index < picked.size(); ++index) EXPECT_EQ(picked[index], index);
}

}  // namespace
}  // namespace mds
