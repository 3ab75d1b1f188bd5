// Property tests: compare the engine with the model under random writes and plans, before and after merges.
// Also test guarantees of order, paging and statistics.
#include "support/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "index/engine.h"
#include "query/search.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Hit;
using test::Hits;
using test::Plan;
using test::Wire;

constexpr uint32_t kCollections = 3;

Hits search(const Engine& engine, const Plan& plan) {
  const Result<Wire> record = engine.search(test::plan_bytes(plan), {});
  EXPECT_TRUE(record.ok()) << record.status().message();
  return record.ok() ? test::read_hits(record.value(), plan.terms.size()) : Hits{};
}

// Searches a fixed snapshot. Two searches of it return the same result even if a merge changes the engine's
// statistics between them.
Hits search_in(const SegmentSet& set, const Plan& plan) {
  const Wire bytes = test::plan_bytes(plan);
  const Result<SearchPlan> parsed = parse_search_plan(bytes);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? test::read_hits(run_search(set, parsed.value(), StopSignal(nullptr)), plan.terms.size()) : Hits{};
}

// Engine and model after the same random writes.
class World {
 public:
  explicit World(uint64_t seed) : generator(seed) {}

  void write_batch(uint32_t opsMax) {
    std::vector<Wire> ops;
    for (uint32_t left = 1 + generator.below(opsMax); left > 0; --left) ops.push_back(write_op());
    const Status status = engine.publish(test::batch_of(ops, lsn_));
    ASSERT_TRUE(status.ok()) << status.message();
  }

  test::Generator generator;
  Engine engine;
  test::Model model;

 private:
  Wire write_op() {
    const uint32_t collection = 1 + generator.below(kCollections);
    const uint32_t what = generator.below(100);
    // Sometimes an older or equal LSN. It must be skipped, or replace the document only if requested.
    const uint64_t lsn = generator.below(10) == 0 && lsn_ > 50 ? lsn_ - generator.below(50) : ++lsn_;
    const uint32_t docid = generator.below(3) == 0 && docidNext_ > 0 ? generator.below(docidNext_) : docidNext_++;
    if (what < 15) {
      model.remove(collection, docid, lsn);
      deleted_.insert({collection, docid});
      return test::delete_op(collection, docid, lsn);
    }
    test::Document document = generator.document(collection, docid, lsn);
    // A deleted docid is never reused.
    while (deleted_.contains({document.collection, document.docid})) document.docid = docidNext_++;
    const bool replacesEqual = what < 20;
    if (replacesEqual) document.lsn = std::max<uint64_t>(1, lsn_);
    model.upsert(document, replacesEqual);
    return test::upsert_op(document, replacesEqual);
  }

  uint64_t lsn_ = 0;
  uint32_t docidNext_ = 0;
  std::set<std::pair<uint32_t, uint32_t>> deleted_;
};

void expect_same_matches(const Hits& hits, const std::map<uint32_t, Hit>& expected) {
  ASSERT_EQ(hits.total, expected.size());
  ASSERT_EQ(hits.hits.size(), expected.size());
  for (const Hit& hit : hits.hits) {
    const auto found = expected.find(hit.docid);
    ASSERT_NE(found, expected.end());
    EXPECT_EQ(hit.lsn, found->second.lsn);
    EXPECT_EQ(hit.matched, found->second.matched);
    EXPECT_EQ(hit.expanded, found->second.expanded);
    EXPECT_EQ(hit.factor, found->second.factor);
  }
}

void expect_scores(const Hits& hits, const std::map<uint32_t, Hit>& expected) {
  for (const Hit& hit : hits.hits) {
    const double wanted = expected.at(hit.docid).score;
    EXPECT_NEAR(hit.score, wanted, 1e-9 * (1 + std::abs(wanted)));
  }
}

// Expects the order by descending score, then ascending key, lang, docid.
void expect_score_order(const Hits& hits, const test::Model& model, uint32_t collection) {
  const auto rank = [&](const Hit& hit) {
    const test::Document& document = model.document(collection, hit.docid);
    return std::tuple(-hit.score, document.key, document.lang, hit.docid);
  };
  EXPECT_TRUE(std::is_sorted(hits.hits.begin(), hits.hits.end(), [&](const Hit& a, const Hit& b) { return rank(a) < rank(b); }));
}

class Property : public testing::TestWithParam<uint32_t> {};

TEST_P(Property, SearchesAnswerWhatTheModelAnswersBeforeAndAfterMerges) {
  World world(test::seed() + GetParam());
  for (uint32_t round = 0; round < 6; ++round) {
    for (uint32_t batch = 0; batch < 25; ++batch) world.write_batch(round % 2 == 0 ? 3 : 20);
    std::vector<Plan> plans;
    for (uint32_t count = 0; count < 40; ++count) plans.push_back(world.generator.plan(1 + world.generator.below(kCollections)));
    for (const Plan& plan : plans) expect_same_matches(search(world.engine, plan), world.model.matches(plan));

    ASSERT_TRUE(world.engine.force_merge().ok());
    EXPECT_EQ(world.engine.stats().segments, 1U);
    EXPECT_EQ(world.engine.stats().deadDocuments, 0U);
    EXPECT_EQ(world.engine.stats().documents, world.model.size());
    for (const Plan& plan : plans) {
      const Hits hits = search(world.engine, plan);
      const std::map<uint32_t, Hit> expected = world.model.matches(plan);
      expect_same_matches(hits, expected);
      expect_scores(hits, expected);
      expect_score_order(hits, world.model, plan.collection);
      EXPECT_EQ(hits.docCount, world.model.count(plan.collection));
      if (HasFailure()) return;
    }
    for (uint32_t collection = 1; collection <= kCollections; ++collection) {
      EXPECT_EQ(world.engine.meta_keys(collection).value(), world.model.meta_keys(collection));
    }
  }
}

TEST_P(Property, PagesOfAnyOrderAreSlicesOfTheWholeList) {
  World world(test::seed() + 1000 + GetParam());
  for (uint32_t batch = 0; batch < 60; ++batch) world.write_batch(10);
  const auto set = world.engine.snapshot();
  for (uint32_t round = 0; round < 60; ++round) {
    Plan plan = world.generator.plan(1);
    plan.sort = world.generator.below(5);
    plan.descending = world.generator.below(2);
    const Hits whole = search_in(*set, plan);
    plan.k = world.generator.below(20);
    plan.skip = world.generator.below(30);
    const Hits page = search_in(*set, plan);
    const size_t begin = std::min<size_t>(plan.skip, whole.hits.size());
    const size_t end = std::min<size_t>(begin + plan.k, whole.hits.size());
    EXPECT_EQ(page.hits, std::vector<Hit>(whole.hits.begin() + static_cast<ptrdiff_t>(begin), whole.hits.begin() + static_cast<ptrdiff_t>(end)));
    EXPECT_EQ(page.total, whole.total);
  }
}

TEST_P(Property, ListingsFollowTheirSortFieldWithTiesByKeyAndLang) {
  World world(test::seed() + 2000 + GetParam());
  for (uint32_t batch = 0; batch < 60; ++batch) world.write_batch(10);
  for (uint32_t sort = 1; sort <= 4; ++sort) {
    for (uint32_t descending = 0; descending <= 1; ++descending) {
      Plan plan;
      plan.k = 100000;
      plan.sort = sort;
      plan.descending = descending;
      const auto before = [&](const Hit& a, const Hit& b) {
        const test::Document& left = world.model.document(1, a.docid);
        const test::Document& right = world.model.document(1, b.docid);
        const auto by = [&](const auto& x, const auto& y) { return descending == 1 ? y < x : x < y; };
        if (sort == 1 && left.addedAt != right.addedAt) return by(left.addedAt, right.addedAt);
        if (sort == 2 && left.updatedAt != right.updatedAt) return by(left.updatedAt, right.updatedAt);
        if (sort == 3 && left.key != right.key) return by(left.key, right.key);
        if (sort == 4) return by(a.docid, b.docid);
        return std::tie(left.key, left.lang, a.docid) < std::tie(right.key, right.lang, b.docid);
      };
      const Hits hits = search(world.engine, plan);
      ASSERT_EQ(hits.hits.size(), world.model.count(1));
      EXPECT_TRUE(std::is_sorted(hits.hits.begin(), hits.hits.end(), before)) << "sort " << sort << " descending " << descending;
    }
  }
}

TEST_P(Property, BothEvaluationPathsGiveEqualScoresToTheBit) {
  World world(test::seed() + 3000 + GetParam());
  for (uint32_t batch = 0; batch < 60; ++batch) world.write_batch(20);
  const auto set = world.engine.snapshot();
  for (uint32_t round = 0; round < 60; ++round) {
    Plan plan = world.generator.plan(1);
    plan.root = {3, 0, 0, {}, {}};
    for (uint32_t term = 0; term < plan.terms.size(); ++term) plan.root.children.push_back({1, term, 0, {}, {}});
    const Hits windowed = search_in(*set, plan);
    // Under an AND the same disjunction is evaluated document at a time.
    plan.root = {2, 0, 0, {}, {plan.root, {6, 0, 0, {}, {}}}};
    EXPECT_EQ(search_in(*set, plan).hits, windowed.hits);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, testing::Range(0U, 6U));

// More documents than one window and many blocks contain, so that every boundary is crossed.
TEST(LargeLists, WindowsAndBlocksCoverEveryDocumentOnce) {
  Engine engine;
  test::Model model;
  test::Generator generator(test::seed());
  constexpr uint32_t kDocuments = 6000;
  std::vector<Wire> ops;
  for (uint32_t docid = 0; docid < kDocuments; ++docid) {
    test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    document.key = "k" + std::to_string(docid);
    document.meta = {{"all", "yes"}, {"third", docid % 3 == 0 ? "yes" : "no"}, {"rare", docid % 1000 == 0 ? "yes" : "no"}};
    document.fields["content"] = test::text_of({"everywhere", generator.word(), generator.word(), "tail"});
    model.upsert(document);
    ops.push_back(test::upsert_op(document));
  }
  ASSERT_TRUE(engine.publish(test::batch_of(ops, kDocuments)).ok());
  for (const char* filter : {"", "all", "third", "rare"}) {
    for (uint32_t algorithm = 0; algorithm < 3; ++algorithm) {
      Plan plan;
      plan.algorithm = algorithm;
      plan.k = 100000;
      plan.terms = {{"everywhere", 1.0F}, {"w1", 2.0F}, {"tail", 1.0F}};
      plan.root = {3, 0, 0, {}, {{1, 0, 0, {}, {}}, {1, 1, 0, {}, {}}, {5, 0, 1, {{0, 0}, {2, 3}}, {}}}};
      if (*filter != 0) plan.filters = {{filter, std::vector<std::string>{"yes"}}};
      const std::map<uint32_t, Hit> expected = model.matches(plan);
      const Hits hits = search(engine, plan);
      expect_same_matches(hits, expected);
      expect_scores(hits, expected);
      plan.root.children.pop_back();
      const Hits windowed = search(engine, plan);
      expect_same_matches(windowed, model.matches(plan));
      expect_scores(windowed, model.matches(plan));
    }
  }
}

TEST(Stop, AControlWordThatIsSetEndsTheSearchWithStatusStopped) {
  Engine engine;
  test::Generator generator(1);
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 1, 1))}, 1)).ok());
  std::vector<int32_t> control(8);
  Plan plan;
  plan.pollWord = 20;
  EXPECT_EQ(test::read_hits(engine.search(test::plan_bytes(plan), control).value()).status, 0U);
  control[5] = 1;
  const Hits stopped = test::read_hits(engine.search(test::plan_bytes(plan), control).value());
  EXPECT_EQ(stopped.status, 1U);
  EXPECT_EQ(stopped.total, 0U);
}

TEST(DropCollection, RemovesItsDocumentsForEver) {
  Engine engine;
  test::Generator generator(1);
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 1, 1)), test::upsert_op(generator.document(2, 2, 2))}, 2)).ok());
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 3, 3)), test::drop_op(1, 4), test::upsert_op(generator.document(1, 5, 5))}, 5)).ok());
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 6, 6))}, 6)).ok());
  Plan plan;
  EXPECT_EQ(search(engine, plan).total, 0U);
  plan.collection = 2;
  EXPECT_EQ(search(engine, plan).total, 1U);
  EXPECT_EQ(engine.stats().documents, 1U);
}

TEST(Rebuild, ADeleteSeenBeforeItsDocumentKeepsItOut) {
  Engine engine;
  test::Generator generator(1);
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 9, 9))}, 9)).ok());
  ASSERT_TRUE(engine.begin_rebuild().ok());
  EXPECT_EQ(engine.stats().documents, 0U);
  EXPECT_TRUE(engine.stats().rebuilding);
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(generator.document(1, 2, 2)), test::delete_op(1, 1, 20), test::delete_op(1, 2, 21)}, 21)).ok());
  // The page was read before the deletes.
  ASSERT_TRUE(engine
                  .publish(test::batch_of({test::upsert_op(generator.document(1, 1, 5)), test::upsert_op(generator.document(1, 2, 2)),
                                           test::upsert_op(generator.document(1, 3, 3)), test::upsert_op(generator.document(1, 2, 2), true)},
                                          5))
                  .ok());
  engine.end_rebuild();
  const Hits hits = search(engine, Plan{});
  ASSERT_EQ(hits.hits.size(), 1U);
  EXPECT_EQ(hits.hits[0].docid, 3U);
  EXPECT_EQ(hits.lsn, 21U);
  EXPECT_FALSE(engine.stats().rebuilding);
}

}  // namespace
}  // namespace mds
