// The semantics of the engine, implemented as simply as possible over maps: the reference of the property
// tests. Statistics cover live documents, like the engine's statistics after a forced merge.
#pragma once

#include <map>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>

#include "support/wire.h"

namespace mds::test {

class Model {
 public:
  void upsert(const Document& document, bool replacesEqualLsn = false);
  void remove(uint32_t collection, uint32_t docid, uint64_t lsn);
  void drop(uint32_t collection);

  [[nodiscard]] size_t size() const { return documents_.size(); }
  [[nodiscard]] size_t count(uint32_t collection) const;
  // All matches of the plan with score and matched terms. Ignores k, skip and sort.
  [[nodiscard]] std::map<uint32_t, Hit> matches(const Plan& plan) const;
  [[nodiscard]] const Document& document(uint32_t collection, uint32_t docid) const { return documents_.at({collection, docid}); }
  [[nodiscard]] std::string meta_keys(uint32_t collection) const;

 private:
  struct Statistics;
  // A term that a FUZZY or WILDCARD leaf expands to.
  struct LeafTerm {
    std::string text;
    uint32_t edits;
    double idf;
  };
  struct NodeResult {
    bool matches;
    double score;
  };
  [[nodiscard]] Statistics statistics(const Plan& plan) const;
  [[nodiscard]] NodeResult evaluate(const Plan& plan, const Tree& node, const Document& document, const Statistics& statistics) const;
  [[nodiscard]] NodeResult evaluate_expanded(const Plan& plan, const Tree& leaf, const Document& document, const Statistics& statistics) const;
  [[nodiscard]] std::vector<LeafTerm> leaf_terms(const Plan& plan, const Tree& leaf, const Statistics& statistics) const;
  void add_expanded(const Plan& plan, const Tree& node, const Document& document, const Statistics& statistics, Hit& hit) const;
  [[nodiscard]] bool passes(const Plan& plan, const Document& document) const;
  [[nodiscard]] static bool is_within(const Range& range, const Document& document);

  std::map<std::pair<uint32_t, uint32_t>, Document> documents_;
  std::unordered_set<uint32_t> dropped_;
};

// Random documents and plans over a small vocabulary, so that every list, filter and phrase has matches.
// The textbook distance matrix over code points: insertions, deletions, substitutions, and transpositions of
// adjacent characters (optimal string alignment).
[[nodiscard]] uint32_t edit_distance(const std::u32string& a, const std::u32string& b);
[[nodiscard]] bool wildcard_matches(const std::u32string& pattern, const std::u32string& text);
[[nodiscard]] std::u32string code_points(const std::string& utf8);

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  [[nodiscard]] uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  [[nodiscard]] Document document(uint32_t collection, uint32_t docid, uint64_t lsn);
  [[nodiscard]] Plan plan(uint32_t collection);
  // Restricts the plan's terms to some of its fields.
  void look_in_fields(Plan& plan);
  // Adds ranges and boosts to the plan.
  void refine(Plan& plan);
  [[nodiscard]] std::string word();
  // Returns a wildcard pattern that some words match.
  [[nodiscard]] std::string pattern();

 private:
  [[nodiscard]] FieldText text(uint32_t lengthMax);
  [[nodiscard]] Tree tree(uint32_t depth, uint32_t termCount);

  std::mt19937_64 random_;
};

}  // namespace mds::test
