// The most frequent terms with a prefix over the dictionaries of several segments and fields. Each dictionary
// returns its own terms in descending df (common_terms.h). Candidates from one dictionary are looked up in
// the others of its field. The search ends when no unseen term can be as frequent as those found: the df of
// an unseen term is at most the sum of the next dfs of all dictionaries (Fagin, Lotem & Naor, "Optimal
// aggregation algorithms for middleware", PODS 2001: the threshold algorithm). Used by one request on one
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/completion/common_terms.h"
#include "query/expansion/term_union.h"

namespace mds {

struct CommonTerm {
  std::string text;
  uint32_t group;
  uint64_t df;  // includes dead documents
};

// By df descending, then by text and group.
[[nodiscard]] bool is_commoner(const CommonTerm& a, const CommonTerm& b) noexcept;

// Keeps the `most` most frequent terms of those that are added.
class BestCommonTerms {
 public:
  explicit BestCommonTerms(size_t most) : most_(most) {}

  void add(const CommonTerm& term);
  [[nodiscard]] bool is_full() const noexcept { return terms_.size() >= most_; }
  // Returns the least frequent of the kept terms; requires at least one.
  [[nodiscard]] const CommonTerm& rarest() const noexcept { return terms_.front(); }
  // Returns the kept terms, most frequent first, and empties the object.
  [[nodiscard]] std::vector<CommonTerm> take();

 private:
  size_t most_;
  std::vector<CommonTerm> terms_;  // a heap
};

class CommonestTerms {
 public:
  CommonestTerms(const std::vector<TermSource>& sources, std::string_view prefix);

  // Number of dictionary entries with the prefix; an upper bound.
  [[nodiscard]] uint64_t size() const noexcept { return size_; }
  // Finds the `most` most frequent terms by reading all entries: for small ranges. Returns false and adds
  // nothing if `steps` do not suffice.
  [[nodiscard]] bool walk(size_t most, uint32_t& steps, std::vector<CommonTerm>& best) const;
  // Finds the `most` most frequent terms. May be called once. Returns false if `steps` dictionary entries do
  // not suffice to prove the result; `best` then contains the most frequent of the entries that were read.
  [[nodiscard]] bool find(size_t most, uint32_t& steps, std::vector<CommonTerm>& best);

 private:
  struct Group {
    uint32_t number;
    std::vector<CommonTerms> lists = {};
    std::vector<std::string> seen = {};  // sorted
    // Bounds: no unseen term has a df above dfMax, and no unseen term of this df sorts before textMin.
    uint64_t dfMax = 0;
    std::string textMin = {};
  };

  static void set_bounds(Group& group);
  [[nodiscard]] static bool can_have(const Group& group, const BestCommonTerms& best) noexcept;
  // Looks up the next term of the group in its other lists.
  static void advance(Group& group, BestCommonTerms& best, uint32_t& steps);

  std::vector<Group> groups_;
  uint64_t size_ = 0;
};

}  // namespace mds
