// The terms of FUZZY and WILDCARD leaves and of completions. Compares dictionary traversals with the textbook
// edit distance and a plain matcher. Also tests the rules for weights, bounds and order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "index/engine.h"
#include "query/expansion/fuzzy_terms.h"
#include "query/expansion/wildcard_terms.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Hits;
using test::Plan;
using test::Wire;

// Many short words over a few characters of one to four bytes, so that many words are near each other.
class Words {
 public:
  explicit Words(uint64_t seed) : random_(seed) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::string word(uint32_t most) {
    static const std::vector<std::string> kCharacters = {"a", "b", "c", "d", "z", "\x7f", "ä", "ż", "א", "あ", "\xed\x9f\xbf", "\xee\x80\x80", "𝄞"};
    std::string text;
    for (uint32_t left = 1 + below(most); left > 0; --left) text += kCharacters[below(below(3) == 0 ? 13 : 4)];
    return text;
  }

 private:
  std::mt19937_64 random_;
};

// Publishes each word once. The engine decides the segments.
void publish_words(Engine& engine, const std::set<std::string>& words) {
  test::Document document;
  document.lsn = 1;
  uint32_t position = 0;
  for (const std::string& word : words) document.fields["content"][word] = {position++};
  ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(document)}, 1)).ok());
}

TermScan scan_of(const SegmentSet& set) {
  const Segment& segment = *set.segments[0].segment;
  return segment.scan(segment.sections(segment.collections()[0])[0]);
}

uint32_t term_begin(const SegmentSet& set) {
  const Segment& segment = *set.segments[0].segment;
  return segment.sections(segment.collections()[0])[0].termBegin;
}

Signatures signatures_of(const SegmentSet& set) {
  const Segment& segment = *set.segments[0].segment;
  StopSignal never(nullptr);
  return segment.signatures(segment.sections(segment.collections()[0])[0], never);
}

// Collects all results of `terms` in slices of the given number of steps, as the stop signal produces them.
template <class Terms, class Visit>
void in_rests(Terms& terms, uint32_t rest, Visit visit) {
  uint32_t left = rest;
  while (true) {
    if (terms.next(left)) {
      visit();
    } else if (left > 0) {
      return;
    }
    if (left == 0) left = rest;
  }
}

class Dictionary : public testing::TestWithParam<uint32_t> {
 protected:
  Dictionary() : words_(test::seed() + 7000 + GetParam()) {
    const uint32_t count = GetParam() == 0 ? 3 : 3000;
    while (known_.size() < count) known_.insert(words_.word(7));
    publish_words(engine_, known_);
    set_ = engine_.snapshot();
  }

  Words words_;
  std::set<std::string> known_;
  Engine engine_;
  std::shared_ptr<const SegmentSet> set_;
};

TEST_P(Dictionary, BlocksArePassedThatHaveOnlyTermsBelow) {
  for (uint32_t round = 0; round < 300; ++round) {
    TermScan scan = scan_of(*set_);
    std::string text;
    std::string target;
    auto at = known_.begin();
    while (at != known_.end()) {
      if (scan.is_at_border() && words_.below(3) == 0) {
        target = std::max(target, words_.below(3) == 0 ? *at : words_.word(7));
        const auto before = at;
        scan.pass_below(target);
        ASSERT_TRUE(scan.next());
        ASSERT_EQ(scan.shared(), 0U);
        at = known_.find(std::string(scan.suffix()));
        ASSERT_TRUE(at != known_.end());
        ASSERT_TRUE(at == before || *at <= target);
        // The next block begins above the target.
        if (*at <= target) {
          ASSERT_LE(std::distance(at, known_.upper_bound(target)), static_cast<ptrdiff_t>(kDictionaryBlockTerms));
        }
      } else {
        ASSERT_TRUE(scan.next());
      }
      text.resize(scan.shared());
      text += scan.suffix();
      ASSERT_EQ(text, *at);
      if (words_.below(2) == 0) {
        ASSERT_EQ(scan.entry().df, 1U);
        ASSERT_LT(scan.entry().postingsBegin, scan.entry().postingsEnd);
      }
      ++at;
    }
    ASSERT_FALSE(scan.next());
  }
}

TEST_P(Dictionary, FuzzyTermsAreThoseWithinTheDistance) {
  for (uint32_t round = 0; round < 300; ++round) {
    const std::string word = words_.below(2) == 0 ? words_.word(8) : *std::next(known_.begin(), words_.below(static_cast<uint32_t>(known_.size())));
    const uint32_t edits = words_.below(3);
    const uint32_t prefix = words_.below(3) == 0 ? words_.below(5) : 0;
    std::vector<std::pair<std::string, uint32_t>> expected;
    const std::u32string wanted = test::code_points(word);
    const size_t fixed = std::min<size_t>(prefix, wanted.size());
    for (const std::string& term : known_) {
      const std::u32string text = test::code_points(term);
      const uint32_t distance = test::edit_distance(text.substr(std::min(fixed, text.size())), wanted.substr(fixed));
      if (text.substr(0, fixed) == wanted.substr(0, fixed) && distance <= edits) expected.emplace_back(term, distance);
    }
    std::vector<std::pair<std::string, uint32_t>> found;
    FuzzyTerms terms(word, edits, prefix, scan_of(*set_));
    in_rests(terms, 1 + words_.below(40), [&] { found.emplace_back(terms.term(), terms.edits()); });
    ASSERT_EQ(found, expected) << word << " edits " << edits << " prefix " << prefix;
    if (prefix > 0) continue;
    found.clear();
    FuzzyCandidates candidates(word, edits, scan_of(*set_), signatures_of(*set_), term_begin(*set_));
    in_rests(candidates, 1 + words_.below(40), [&] { found.emplace_back(candidates.term(), candidates.edits()); });
    ASSERT_EQ(found, expected) << word << " edits " << edits << " by signatures";
  }
}

TEST_P(Dictionary, WildcardTermsAreThoseThatThePatternMatches) {
  for (uint32_t round = 0; round < 300; ++round) {
    std::string pattern;
    for (uint32_t parts = 1 + words_.below(4); parts > 0; --parts) pattern += words_.below(3) == 0 ? words_.word(3) : words_.below(2) == 0 ? "*" : "?";
    std::vector<std::string> expected;
    for (const std::string& term : known_) {
      if (test::wildcard_matches(test::code_points(pattern), test::code_points(term))) expected.push_back(term);
    }
    std::vector<std::string> found;
    WildcardTerms terms(WildcardPattern(pattern), scan_of(*set_));
    in_rests(terms, 1 + words_.below(40), [&] { found.emplace_back(terms.term()); });
    ASSERT_EQ(found, expected) << pattern;
    found.clear();
    WildcardCandidates candidates(WildcardPattern(pattern), scan_of(*set_), signatures_of(*set_), term_begin(*set_));
    in_rests(candidates, 1 + words_.below(40), [&] { found.emplace_back(candidates.term()); });
    ASSERT_EQ(found, expected) << pattern << " by signatures";
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Dictionary, testing::Range(0U, 4U));

Hits search(const Engine& engine, const Plan& plan) { return test::read_hits(engine.search(test::plan_bytes(plan), {}).value(), plan.terms.size()); }

TEST(Fuzzy, CloserMatchesScoreHigherHoweverRareTheOthersAre) {
  Engine engine;
  std::vector<Wire> ops;
  for (uint32_t docid = 0; docid < 300; ++docid) {
    test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    document.fields["content"] = test::text_of({docid == 7 ? "serverr" : docid == 8 ? "serv" : "server", "x" + std::to_string(docid)});
    ops.push_back(test::upsert_op(document));
  }
  ASSERT_TRUE(engine.publish(test::batch_of(ops, 300)).ok());
  for (uint32_t algorithm = 0; algorithm < 3; ++algorithm) {
    Plan plan;
    plan.algorithm = algorithm;
    plan.k = 1000;
    plan.terms = {{"server", 1}};
    plan.root = {8, 0, 0, {}, {}, 2};
    const Hits hits = search(engine, plan);
    ASSERT_EQ(hits.hits.size(), 300U);
    EXPECT_EQ(hits.hits[298].docid, 7U);
    EXPECT_EQ(hits.hits[299].docid, 8U);
    EXPECT_NEAR(hits.hits[298].score, 0.8 * hits.hits[0].score, 1e-12);
    EXPECT_NEAR(hits.hits[299].score, 0.64 * hits.hits[0].score, 1e-12);
    EXPECT_EQ(hits.hits[299].expanded, std::set<std::string>{"0 2 serv"});
  }
}

TEST(Wildcard, AboveTheBoundTheCommonestTermsAreTaken) {
  Engine engine;
  std::vector<Wire> ops;
  constexpr uint32_t kTerms = 1500;
  for (uint32_t docid = 0; docid < 2; ++docid) {
    test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    for (uint32_t term = 0; term < kTerms; ++term) {
      if (docid == 0 || term >= 100) document.fields["content"]["t" + std::to_string(10000 + term)] = {term};
    }
    ops.push_back(test::upsert_op(document));
  }
  ASSERT_TRUE(engine.publish(test::batch_of(ops, 2)).ok());
  Plan plan;
  plan.terms = {{"t*", 1}};
  plan.root = {9, 0, 0, {}, {}};
  const Hits hits = search(engine, plan);
  EXPECT_EQ(hits.status, 2U);
  ASSERT_EQ(hits.hits.size(), 2U);
  EXPECT_EQ(hits.hits[0].expanded.size(), 1024U);
  EXPECT_TRUE(hits.hits[0].expanded.contains("0 0 t10100"));
  EXPECT_FALSE(hits.hits[0].expanded.contains("0 0 t10099"));
  EXPECT_FALSE(hits.hits[0].expanded.contains("0 0 t11499"));
  plan.terms = {{"t100*", 1}};
  EXPECT_EQ(search(engine, plan).status, 0U);
}

// Returns the number after `"score":` at `at`, and advances `at` past it.
double score_after(const std::string& json, size_t& at) {
  at = json.find("\"score\":", at) + 8;
  return std::stod(json.substr(at));
}

TEST(Explanation, PartsSumToTheScoreOfEveryHitOfRandomPlans) {
  test::Generator generator(test::seed());
  Engine engine;
  for (uint32_t batch = 0; batch < 3; ++batch) {
    std::vector<Wire> ops;
    for (uint32_t docid = batch * 100; docid < batch * 100 + 100; ++docid) ops.push_back(test::upsert_op(generator.document(1, docid, docid + 1)));
    ASSERT_TRUE(engine.publish(test::batch_of(ops, batch * 100 + 100)).ok());
  }
  uint32_t explained = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    Plan plan = generator.plan(1);
    plan.filters.clear();
    plan.ranges.clear();
    const Hits hits = search(engine, plan);
    std::set<uint32_t> found;
    for (const test::Hit& hit : hits.hits) {
      found.insert(hit.docid);
      const std::string json = engine.explain(test::plan_bytes(plan), hit.docid, {}).value();
      ASSERT_NE(json, "null");
      size_t at = 0;
      const double whole = score_after(json, at);
      double sum = 0;
      while (json.find("\"score\":", at) != std::string::npos) sum += score_after(json, at);
      ASSERT_NEAR(whole, hit.score, 1e-9 * (1 + hit.score)) << json;
      ASSERT_NEAR(sum * hit.factor, hit.score, 1e-9 * (1 + hit.score)) << json;
      ++explained;
    }
    for (uint32_t docid = 0; docid < 320; ++docid) {
      if (found.contains(docid)) continue;
      ASSERT_EQ(engine.explain(test::plan_bytes(plan), docid, {}).value(), "null");
    }
  }
  EXPECT_GT(explained, 1000U);
}

TEST(Explanation, IsNoneOnceTheRequestIsStopped) {
  Engine engine;
  publish_words(engine, {"server", "serve", "sever"});
  Plan plan;
  plan.terms = {{"server", 1}, {"*e*", 1}};
  plan.pollWord = 4;
  for (const test::Tree& root : {test::Tree{1, 0, 0, {}, {}}, test::Tree{8, 0, 0, {}, {}, 2}, test::Tree{9, 1, 0, {}, {}}}) {
    plan.root = root;
    std::vector<int32_t> control = {1, 0};
    EXPECT_NE(engine.explain(test::plan_bytes(plan), 0, control).value(), "null");
    control[1] = 1;
    EXPECT_EQ(engine.explain(test::plan_bytes(plan), 0, control).value(), "null");
  }
  plan.pollWord = 8;
  EXPECT_FALSE(engine.explain(test::plan_bytes(plan), 0, std::vector<int32_t>{0, 0}).ok());
}

// Enough terms for the engine to search them by signatures. The result must be the same for one segment and
// for many small segments, which are searched by their dictionaries.
TEST(Expansion, IsTheSameBySignaturesAndByTheDictionaries) {
  Words words(test::seed() + 7100);
  Engine large;
  Engine small;
  std::vector<std::string> known;
  for (uint32_t docid = 0; docid < 40; ++docid) {
    test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    for (uint32_t position = 0; position < 400; ++position) {
      known.push_back(words.word(6));
      document.fields["content"][known.back()].push_back(position);
    }
    const Wire batch = test::batch_of({test::upsert_op(document)}, docid + 1);
    ASSERT_TRUE(large.publish(batch).ok());
    ASSERT_TRUE(small.publish(batch).ok());
  }
  ASSERT_TRUE(large.force_merge().ok());
  ASSERT_GE(large.snapshot()->segments[0].segment->term_count(), kSignatureTermsMin);
  const uint64_t bytesBefore = large.stats().memoryBytes;
  for (uint32_t round = 0; round < 100; ++round) {
    Plan plan;
    plan.k = 1000;
    plan.terms = {{known[words.below(static_cast<uint32_t>(known.size()))], 1},
                  {(words.below(2) == 0 ? "*" : "?") + words.word(2) + (words.below(2) == 0 ? "*" : ""), 1}};
    plan.root = words.below(2) == 0 ? test::Tree{8, 0, 0, {}, {}, 1 + words.below(2)} : test::Tree{9, 1, 0, {}, {}};
    const Hits one = search(large, plan);
    const Hits many = search(small, plan);
    ASSERT_EQ(one.status, many.status);
    ASSERT_EQ(one.hits, many.hits) << plan.terms[0].first << " " << plan.terms[1].first;
  }
  EXPECT_GT(large.stats().memoryBytes, bytesBefore);
}

TEST(Expansion, SignaturesAreMadeForManyThreadsAtOnce) {
  Words words(test::seed() + 7200);
  std::set<std::string> known;
  while (known.size() < 2 * kSignatureTermsMin) known.insert(words.word(6));
  Engine engine;
  publish_words(engine, known);
  Plan plan;
  plan.terms = {{"abcd", 1}};
  plan.root = {8, 0, 0, {}, {}, 2};
  constexpr uint32_t kThreads = 4;
  std::vector<Hits> found(kThreads);
  std::vector<std::thread> threads;
  for (Hits& hits : found) threads.emplace_back([&engine, &plan, &hits] { hits = search(engine, plan); });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(found[0].hits.size(), 1U);
  for (const Hits& hits : found) EXPECT_EQ(hits.hits, found[0].hits);
}

TEST(Completions, AreTheCommonestTermsOverAllSegmentsAndFields) {
  Engine engine;
  const auto publish = [&engine](uint32_t docid, const std::vector<std::string>& content, const std::vector<std::string>& title) {
    test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    document.meta = {{"title", "serious"}};
    document.fields["content"] = test::text_of(content);
    if (!title.empty()) document.fields["meta.title"] = test::text_of(title);
    ASSERT_TRUE(engine.publish(test::batch_of({test::upsert_op(document)}, docid + 1)).ok());
  };
  publish(0, {"server", "service", "sea"}, {"server"});
  publish(1, {"service", "serv\"ice", "ser*"}, {});
  publish(2, {"service", "server"}, {"server"});
  const auto ask = [&engine](std::string_view field, std::string_view prefix, uint32_t most) {
    const std::vector<std::string_view> fields(field.empty() ? 0 : 1, field);
    return engine.completions({1, fields, prefix, most}).value();
  };
  EXPECT_EQ(ask("", "serv", 10), R"([["service","content",3],["server","content",2],["server","meta.title",2],["serv\"ice","content",1]])");
  EXPECT_EQ(ask("", "serv", 2), R"([["service","content",3],["server","content",2]])");
  EXPECT_EQ(ask("meta.title", "s", 10), R"([["server","meta.title",2]])");
  EXPECT_EQ(ask("", "ser*", 10), R"([["ser*","content",1]])");
  EXPECT_EQ(ask("", "zebra", 10), "[]");
  EXPECT_EQ(ask("title", "s", 10), "[]");
  EXPECT_EQ(ask("", "s", 0), "[]");
  EXPECT_EQ(engine.completions({2, {}, "s", 10}).value(), "[]");
  EXPECT_FALSE(engine.completions({1, {}, std::string(129, 's'), 10}).ok());
}

TEST(Completions, LookAtSoManyEntriesOnly) {
  Engine engine;
  std::set<std::string> words = {"zlast"};
  for (uint32_t word = 0; word < 12000; ++word) words.insert("a" + std::to_string(100000 + word));
  publish_words(engine, words);
  const std::string json = engine.completions({1, {}, "", 1000}).value();
  EXPECT_NE(json.find("\"a100999\""), std::string::npos);
  EXPECT_EQ(json.find("\"a101000\""), std::string::npos);
  EXPECT_EQ(engine.completions({1, {}, "zl", 10}).value(), R"([["zlast","content",1]])");
}

}  // namespace
}  // namespace mds
