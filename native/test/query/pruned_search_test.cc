// Property tests: compare the pruned search with the exhaustive scorer, its reference. Docids, order and
// scores must be bit-identical for every formula, weights, filters, deletes, segments, k and skip. Both
// search the same snapshot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "index/engine.h"
#include "query/search.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Hits;
using test::Plan;
using test::Tree;
using test::Wire;

// Several windows and blocks of the common words.
constexpr uint32_t kDocuments = 7000;

Hits search_in(const SegmentSet& set, const Plan& plan) {
  const Wire bytes = test::plan_bytes(plan);
  const Result<SearchPlan> parsed = parse_search_plan(bytes);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? test::read_hits(run_search(set, parsed.value(), StopSignal(nullptr)), plan.terms.size()) : Hits{};
}

Tree term(uint32_t index) { return {1, index, 0, {}, {}}; }

class Pruned : public testing::TestWithParam<uint32_t> {
 protected:
  Pruned() : generator_(test::seed() + 5000 + GetParam()) {}

  // One large segment and some small ones, all with dead documents.
  void fill() {
    publish(kDocuments);
    ASSERT_TRUE(engine_.force_merge().ok());
    for (uint32_t batch = 0; batch < 6; ++batch) publish(1 + below(300));
    std::vector<Wire> deletes;
    for (uint32_t count = 0; count < 400; ++count) deletes.push_back(test::delete_op(1, below(docidNext_), ++lsn_));
    ASSERT_TRUE(engine_.publish(test::batch_of(deletes, lsn_)).ok());
    set_ = engine_.snapshot();
  }

  uint32_t below(uint32_t bound) { return generator_.below(bound); }

  Tree terms_tree(uint32_t kind, const std::vector<uint32_t>& terms) {
    Tree tree{kind, 0, 0, {}, {}};
    for (const uint32_t index : terms) tree.children.push_back(term(index));
    return tree;
  }

  // Every shape of pruned_plan.h, over the terms 0 to 5.
  Tree shape() {
    const Tree any = terms_tree(3, {0, 1, 2});
    const Tree all = terms_tree(2, {0, 1});
    switch (below(11)) {
      case 8:
        return below(2) == 0 ? fuzzy(below(6)) : wildcard();
      case 9:
        return {3, 0, 0, {}, {term(0), fuzzy(1), wildcard(), fuzzy(2)}};
      case 10:
        return {4, 0, 0, {}, {{3, 0, 0, {}, {fuzzy(0), term(1)}}, below(2) == 0 ? fuzzy(4) : wildcard()}};
      case 0:
        return term(0);
      case 1:
        return any;
      case 2:
        return terms_tree(3, {0, 1, 2, 3, 4, 5, 0});
      case 3:
        return all;
      case 4:
        return {2, 0, 0, {}, {term(0), {3, 0, 0, {}, {term(1), term(2), {6, 0, 0, {}, {}}}}, term(3)}};
      case 5:
        return {4, 0, 0, {}, {below(2) == 0 ? any : all, below(2) == 0 ? term(4) : terms_tree(3, {4, 5})}};
      case 6:
        return {2, 0, 0, {}, {term(0), {4, 0, 0, {}, {term(1), term(2)}}}};
      default:
        return phrase();
    }
  }

  Tree fuzzy(uint32_t index) { return {8, index, 0, {}, {}, below(3), below(2)}; }

  Tree wildcard() { return {9, 6, 0, {}, {}}; }

  Tree phrase() {
    Tree tree{5, 0, below(2), {}, {}};
    uint32_t offset = below(2);
    for (uint32_t count = 1 + below(3); count > 0; --count, offset += 1 + below(2)) tree.phrase.emplace_back(below(6), offset);
    if (below(3) == 0) return {4, 0, 0, {}, {tree, term(below(6))}};
    return tree;
  }

  Plan plan() {
    Plan plan = generator_.plan(1);
    plan.terms.clear();
    for (uint32_t index = 0; index < 6; ++index) plan.terms.emplace_back(word(), below(10) == 0 ? 0.0F : static_cast<float>(1 + below(300)) / 100);
    plan.terms.emplace_back(below(2) == 0 ? "rare" + std::to_string(below(4)) + "*" : below(3) == 0 ? "*1*" : generator_.pattern(), 0.5F);
    plan.termFields.clear();
    if (below(4) == 0) generator_.look_in_fields(plan);
    if (below(4) > 0) plan.root = shape();
    for (auto& [name, weight] : plan.fields) weight = plan.algorithm != 2 || below(3) == 0 ? weight : static_cast<float>(below(500)) / 100;
    const float constants[] = {0, 0.3F, 1.2F, 8};
    plan.k1 = constants[below(4)];
    plan.b = constants[below(2)] + (below(2) == 0 ? 0.45F : 0.7F);
    plan.k = below(4) == 0 ? below(300) : 1 + below(12);
    plan.skip = below(3) == 0 ? below(40) : 0;
    return plan;
  }

  std::string word() { return below(5) == 0 ? "rare" + std::to_string(below(300)) : below(20) == 0 ? "nowhere" : generator_.word(); }

  Engine engine_;
  std::shared_ptr<const SegmentSet> set_;

 private:
  void publish(uint32_t documents) {
    std::vector<Wire> ops;
    for (; documents > 0; --documents) {
      test::Document document = generator_.document(1, docidNext_++, ++lsn_);
      // Words of every frequency, and some documents with equal scores.
      test::FieldText& content = document.fields["content"];
      content["rare" + std::to_string(below(300))].push_back(1000);
      for (uint32_t at = below(4) == 0 ? below(40) : 0; at > 0; --at) content["w1"].push_back(1001 + at);
      std::sort(content["w1"].begin(), content["w1"].end());
      if (content["w1"].empty()) content.erase("w1");
      ops.push_back(test::upsert_op(document));
    }
    ASSERT_TRUE(engine_.publish(test::batch_of(ops, lsn_)).ok());
  }

  test::Generator generator_;
  uint32_t docidNext_ = 0;
  uint64_t lsn_ = 0;
};

TEST_P(Pruned, FindsWhatTheExhaustiveScorerFinds) {
  fill();
  for (uint32_t round = 0; round < 400; ++round) {
    Plan plan = this->plan();
    plan.exactTotal = true;
    const Hits exact = search_in(*set_, plan);
    plan.exactTotal = false;
    const Hits pruned = search_in(*set_, plan);
    ASSERT_EQ(pruned.hits, exact.hits) << "round " << round << " algorithm " << plan.algorithm << " root " << plan.root.kind << " k " << plan.k << " skip " << plan.skip;
    EXPECT_LE(pruned.total, exact.total);
    if (plan.k > 0) {
      EXPECT_GE(pruned.total, std::min(exact.total, plan.skip + plan.k));
    }
  }
}

TEST_P(Pruned, CommonTermsAreNotCountedToTheEnd) {
  fill();
  for (const uint32_t kind : {1U, 3U, 2U}) {
    Plan plan;
    plan.terms = {{"w1", 1}, {"w2", 1}};
    plan.root = kind == 1 ? term(0) : terms_tree(kind, {0, 1});
    const Hits exact = search_in(*set_, plan);
    plan.exactTotal = false;
    const Hits pruned = search_in(*set_, plan);
    EXPECT_EQ(pruned.hits, exact.hits);
    EXPECT_LT(pruned.total, exact.total / 2);
  }
}

// A pattern that matches dozens of words, combined with a word. The results of each alone determine the
// result of both.
TEST_P(Pruned, UnionsOfManyTermsObeyTheLawsOfSets) {
  fill();
  for (uint32_t round = 0; round < 40; ++round) {
    Plan plan = this->plan();
    plan.root = {};
    // Multiplying a sum by a factor rounds differently from summing the products.
    plan.boosts.clear();
    plan.exactTotal = true;
    plan.k = 100000;
    plan.skip = 0;
    plan.terms[6] = {below(2) == 0 ? "*1*" : "rare" + std::to_string(1 + below(2)) + "*", 0.5F};
    const auto scores_of = [&](Tree root) {
      plan.root = std::move(root);
      std::map<uint32_t, double> scores;
      for (const test::Hit& hit : search_in(*set_, plan).hits) scores[hit.docid] = hit.score;
      return scores;
    };
    const std::map<uint32_t, double> word = scores_of(term(0));
    const std::map<uint32_t, double> pattern = scores_of(wildcard());
    std::map<uint32_t, double> both;
    std::map<uint32_t, double> wordOnly;
    std::map<uint32_t, double> either = pattern;
    for (const auto& [docid, score] : word) {
      either[docid] += score;
      if (pattern.contains(docid)) {
        both[docid] = score + pattern.at(docid);
      } else {
        wordOnly[docid] = score;
      }
    }
    EXPECT_EQ(scores_of({2, 0, 0, {}, {term(0), wildcard()}}), both);
    EXPECT_EQ(scores_of({4, 0, 0, {}, {term(0), wildcard()}}), wordOnly);
    // Each is wrapped in an AND, so that they stay two children of the OR.
    EXPECT_EQ(scores_of({3, 0, 0, {}, {{2, 0, 0, {}, {wildcard()}}, {2, 0, 0, {}, {term(0)}}}}), either);
  }
}

// Beyond the range of float the exhaustive scorer is used.
TEST_P(Pruned, WeightsAtTheEndsOfTheirRangeDecideTheOrder) {
  fill();
  for (const float weight : {1e-44F, 1e-30F, 1e-13F, 1e13F, 3e38F}) {
    for (uint32_t algorithm = 0; algorithm < 3; ++algorithm) {
      Plan plan;
      plan.algorithm = algorithm;
      plan.fields = {{"content", algorithm == 2 ? weight : 1}};
      plan.terms = {{"w1", weight}, {"w4", weight}};
      plan.root = terms_tree(3, {0, 1});
      const Hits exact = search_in(*set_, plan);
      plan.exactTotal = false;
      EXPECT_EQ(search_in(*set_, plan).hits, exact.hits) << weight << " algorithm " << algorithm;
    }
  }
}

TEST_P(Pruned, NothingIsFoundWhereNoFieldIsScored) {
  fill();
  Plan plan;
  plan.algorithm = 2;
  plan.fields.clear();
  plan.terms = {{"w1", 1}, {"w2", 1}};
  plan.root = terms_tree(3, {0, 1});
  plan.exactTotal = false;
  EXPECT_TRUE(search_in(*set_, plan).hits.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Pruned, testing::Range(0U, 4U));

}  // namespace
}  // namespace mds
