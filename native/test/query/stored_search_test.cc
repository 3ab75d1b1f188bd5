// Compares a stored segment with the in-memory segment that it was written from. Records must be
// byte-identical for ranked pages (pruned and exhaustive), phrases, filters and listings. The segment is so
// large that columns of every kind cross chunk borders. It has position blocks that are larger than a chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "index/segment_merger.h"
#include "query/search.h"
#include "storage/stored_segment.h"
#include "support/history.h"
#include "support/scratch_directory.h"
#include "support/seed.h"
#include "support/stored_walk.h"

namespace mds {
namespace {

using test::Plan;
using test::Tree;
using test::Wire;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kRounds = 100;
#else
constexpr uint32_t kRounds = 400;
#endif
constexpr uint32_t kDocuments = 12000;

class StoredSearch : public testing::TestWithParam<uint32_t> {
 protected:
  StoredSearch() : generator_(test::seed() + 9000 + GetParam()) {
    publish();
    EXPECT_TRUE(engine_.force_merge().ok());
    kill();
    memory_ = *engine_.snapshot();
    EXPECT_EQ(memory_.segments.size(), 1U);
    auto env = IndexEnv::open(directory_.path(), test::kTestMapBytes);
    EXPECT_TRUE(env.ok());
    env_ = std::move(env.value());
    const auto descriptor = write_stored_segment(*env_, 1, memory_.segments[0].segment->columns(), false);
    EXPECT_TRUE(descriptor.ok());
    auto chunks = open_stored_chunks(*env_, 1, descriptor.value().crc);
    EXPECT_TRUE(chunks.ok());
    chunks_ = std::move(chunks.value());
    const auto opened = Segment::open(1, views_of(chunks_), std::make_unique<test::NoLease>(), chunks_.bytes);
    EXPECT_TRUE(opened.ok());
    stored_ = memory_;
    stored_.segments[0].segment = opened.value();
  }

  static Wire answer(const SegmentSet& set, const Plan& plan) {
    const Wire bytes = test::plan_bytes(plan);
    const Result<SearchPlan> parsed = parse_search_plan(bytes);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    return parsed.ok() ? run_search(set, parsed.value(), StopSignal(nullptr)) : Wire{};
  }

  Plan ranked() {
    Plan plan = generator_.plan(1);
    plan.exactTotal = generator_.below(3) == 0;
    plan.k = 1 + generator_.below(30);
    plan.skip = generator_.below(3) == 0 ? generator_.below(50) : 0;
    if (generator_.below(3) > 0) return plan;
    plan.filters.clear();
    plan.terms = {{"w1", 1.0F}, {"w2", 1.0F}, {generator_.word(), 1.0F}};
    plan.root = Tree{5, 0, generator_.below(2), {{0, 0}, {1 + generator_.below(2), 1}}, {}};
    return plan;
  }

  Plan listing() {
    Plan plan;
    plan.root.kind = 6;
    plan.sort = 1 + generator_.below(4);
    plan.descending = generator_.below(2);
    plan.k = 1 + generator_.below(60);
    plan.skip = generator_.below(2) == 0 ? 0 : generator_.below(kDocuments);
    if (generator_.below(3) == 0) plan.filters.emplace_back("half", std::vector<std::string>{"yes"});
    if (generator_.below(3) == 0) plan.filters.emplace_back("m" + std::to_string(generator_.below(4)), std::nullopt);
    return plan;
  }

  test::Generator generator_;
  SegmentSet memory_;
  SegmentSet stored_;

 private:
  void publish() {
    std::vector<Wire> ops;
    for (uint32_t docid = 0; docid < kDocuments; ++docid) {
      test::Document document = generator_.document(1, docid, ++lsn_);
      if (generator_.below(2) == 0) document.meta.emplace("half", "yes");
      if (docid / 64 == 20) repeat(document.fields["content"]["w1"]);
      ops.push_back(test::upsert_op(document));
    }
    EXPECT_TRUE(engine_.publish(test::batch_of(ops, lsn_)).ok());
  }

  // Sixty-four adjacent documents with 6 000 occurrences each: about 200 KB in their block.
  void repeat(std::vector<uint32_t>& positions) {
    uint32_t position = positions.empty() ? 0 : positions.back() + 1;
    for (uint32_t left = 6000; left > 0; --left) positions.push_back(position += 1 + generator_.below(8));
  }

  void kill() {
    std::vector<Wire> deletes;
    for (uint32_t count = 0; count < 300; ++count) deletes.push_back(test::delete_op(1, generator_.below(kDocuments), ++lsn_));
    EXPECT_TRUE(engine_.publish(test::batch_of(deletes, lsn_)).ok());
  }

  uint64_t lsn_ = 0;
  Engine engine_;
  test::ScratchDirectory directory_;
  std::unique_ptr<IndexEnv> env_;
  StoredChunks chunks_{};
};

TEST_P(StoredSearch, AnswersAsTheSegmentInMemory) {
  for (uint32_t round = 0; round < kRounds; ++round) {
    const Plan plan = round % 2 == 0 ? ranked() : listing();
    ASSERT_EQ(answer(stored_, plan), answer(memory_, plan)) << "round " << round << " root " << plan.root.kind << " sort " << plan.sort << " exact " << plan.exactTotal;
  }
}

TEST_P(StoredSearch, MergesToTheSameColumns) {
  const std::atomic<bool> stop{false};
  const auto fromMemory = merge_segments(memory_.segments, 2, stop);
  const auto fromStored = merge_segments(stored_.segments, 2, stop);
  ASSERT_TRUE(fromMemory.ok() && fromStored.ok());
  zip_columns(fromMemory.value().segment->columns(), fromStored.value().segment->columns(), [](const auto& left, const auto& right, ColumnStart) {
    ASSERT_EQ(left.size(), right.size());
    ASSERT_TRUE(left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof left[0]) == 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoredSearch, testing::Range(0U, 2U));

}  // namespace
}  // namespace mds
