// Property test: compares a page of a listing, read from the segments' permutations and bits, with the
// exhaustive path, which collects every match. The collections are large enough for dense bits, for scans
// that give up and select instead, and for groups of equal values that span many steps.
#include <gtest/gtest.h>

#include "index/engine.h"
#include "query/search.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Hit;
using test::Hits;
using test::Plan;
using test::Wire;

Hits search_in(const SegmentSet& set, const Plan& plan) {
  const Wire bytes = test::plan_bytes(plan);
  const Result<SearchPlan> parsed = parse_search_plan(bytes);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? test::read_hits(run_search(set, parsed.value(), StopSignal(nullptr)), plan.terms.size()) : Hits{};
}

// Under an AND the same plan is not a listing. Every match is collected, and every pair is compared by value,
// key, lang and docid.
Hits exhaustive(const SegmentSet& set, Plan plan) {
  plan.root = {2, 0, 0, {}, {{6, 0, 0, {}, {}}}};
  return search_in(set, plan);
}

// Metadata: "all" in every document; "half" and "tenth" evenly distributed; "early" in the oldest documents
// only (the worst case for a scan from the newest); "many" with more values than cursors; "rare" in a few
// documents.
test::Document document_of(test::Generator& generator, uint32_t collection, uint32_t docid, uint64_t lsn) {
  test::Document document = generator.document(collection, docid, lsn);
  document.fields.clear();
  document.addedAt = docid / (1 + generator.below(700)) + int64_t{generator.below(3)} - 2;
  document.updatedAt = generator.below(5) == 0 ? INT64_MAX - generator.below(2) : document.addedAt;
  document.key = "shared/prefix/" + std::to_string(generator.below(20000));
  document.lang = std::string(1, static_cast<char>('a' + generator.below(5)));
  document.meta = {{"all", "yes"}};
  if (generator.below(2) == 0) document.meta.emplace("half", "v" + std::to_string(generator.below(2)));
  if (generator.below(10) == 0) document.meta.emplace("tenth", "yes");
  if (docid < 900) document.meta.emplace("early", "yes");
  if (generator.below(3) == 0) document.meta.emplace("many", "v" + std::to_string(generator.below(300)));
  if (generator.below(400) == 0) document.meta.emplace("rare", "v" + std::to_string(generator.below(3)));
  return document;
}

Plan random_plan(test::Generator& generator, uint32_t collection) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> kFilters = {
      {"all", {"yes"}},    {"half", {"v0"}}, {"half", {"v0", "v1", "v1"}},           {"half", {}}, {"tenth", {"yes"}}, {"early", {"yes"}},
      {"many", {}},        {"many", {"v7"}}, {"many", {"v7", "v8", "v9", "absent"}}, {"rare", {}}, {"rare", {"v1"}},   {"absent", {}},
      {"half", {"absent"}}};
  Plan plan;
  plan.collection = collection;
  plan.sort = 1 + generator.below(4);
  plan.descending = generator.below(2);
  for (uint32_t count = generator.below(4); count > 0; --count) plan.filters.push_back(kFilters[generator.below(static_cast<uint32_t>(kFilters.size()))]);
  plan.k = generator.below(10) == 0 ? generator.below(3000) : generator.below(30);
  plan.skip = generator.below(2) == 0 ? 0 : generator.below(generator.below(2) == 0 ? 40 : 4000);
  return plan;
}

class Listing : public testing::TestWithParam<uint32_t> {
 protected:
  // Writes batches of new documents of three collections, mixed with replacements and deletes of old
  // documents.
  void write(uint32_t batches, uint32_t documents) {
    for (uint32_t batch = 0; batch < batches; ++batch) {
      std::vector<Wire> ops;
      for (uint32_t count = 0; count < documents; ++count) {
        const bool isOld = docidNext_ > 100 && generator_.below(8) == 0;
        const uint32_t docid = isOld ? generator_.below(docidNext_) : docidNext_++;
        // A docid belongs to one collection. The third collection is tiny.
        const uint32_t collection = docid % 500 == 0 ? 3 : 1 + docid % 3 / 2;
        ++lsn_;
        if (isOld && (docid % 2 == 0))
          ops.push_back(test::delete_op(collection, docid, lsn_));
        else if (!isOld || docid % 2 == 1)
          ops.push_back(test::upsert_op(document_of(generator_, collection, docid, lsn_)));
      }
      ASSERT_TRUE(engine_.publish(test::batch_of(ops, lsn_)).ok());
    }
  }

  void compare(uint32_t rounds) {
    const auto set = engine_.snapshot();
    for (uint32_t round = 0; round < rounds && !HasFailure(); ++round) {
      const Plan plan = random_plan(generator_, 1 + generator_.below(3));
      const Hits page = search_in(*set, plan);
      const Hits expected = exhaustive(*set, plan);
      EXPECT_EQ(page.total, expected.total);
      EXPECT_EQ(page.docCount, expected.docCount);
      ASSERT_EQ(page.hits.size(), expected.hits.size());
      for (size_t index = 0; index < page.hits.size(); ++index) {
        ASSERT_EQ(page.hits[index], expected.hits[index]) << "hit " << index << ", sort " << plan.sort << ", descending " << plan.descending << ", skip " << plan.skip;
      }
    }
  }

  test::Generator generator_{test::seed() + 5000 + GetParam()};
  Engine engine_;

 private:
  uint32_t docidNext_ = 0;
  uint64_t lsn_ = 0;
};

TEST_P(Listing, EqualsTheExhaustivePathOverSeveralSegmentsWithDeletes) {
  write(6, 900);
  compare(150);
  write(40, 20);
  compare(150);
}

TEST_P(Listing, EqualsTheExhaustivePathInAMergedSegment) {
  write(8, 700);
  ASSERT_TRUE(engine_.force_merge().ok());
  ASSERT_EQ(engine_.stats().segments, 1U);
  compare(150);
  write(2, 300);
  compare(100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Listing, testing::Range(0U, 4U));

TEST(ListingStop, AListingThatIsStoppedSaysSo) {
  Engine engine;
  test::Generator generator(1);
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 1, 1))}, 1)).ok());
  Plan plan;
  plan.sort = 1;
  plan.pollWord = 0;
  const std::vector<int32_t> control = {1};
  const Hits stopped = test::read_hits(engine.search(test::plan_bytes(plan), control).value());
  EXPECT_EQ(stopped.status, 1U);
  EXPECT_TRUE(stopped.hits.empty());
}

}  // namespace
}  // namespace mds
