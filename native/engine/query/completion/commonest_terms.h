// The commonest terms with a prefix over the dictionaries of several segments and fields at once. Each
// dictionary returns its own commonest first (common_terms.h). Candidates from one dictionary are looked up
// in the others of its field. The search ends when no unseen term can be as common as those found: the df of
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
  uint64_t df;  // dead documents included
};

// By df descending, then by text and group.
[[nodiscard]] bool is_commoner(const CommonTerm& a, const CommonTerm& b) noexcept;

// Keeps the `most` commonest terms of those that are added.
class BestCommonTerms {
 public:
  explicit BestCommonTerms(size_t most) : most_(most) {}

  void add(const CommonTerm& term);
  [[nodiscard]] bool is_full() const noexcept { return terms_.size() >= most_; }
  // The rarest of the kept terms; requires at least one.
  [[nodiscard]] const CommonTerm& rarest() const noexcept { return terms_.front(); }
  // The commonest first. Empties it.
  [[nodiscard]] std::vector<CommonTerm> take();

 private:
  size_t most_;
  std::vector<CommonTerm> terms_;  // a heap
};

class CommonestTerms {
 public:
  CommonestTerms(const std::vector<TermSource>& sources, std::string_view prefix);

  // Number of dictionary entries with the prefix, or somewhat more.
  [[nodiscard]] uint64_t size() const noexcept { return size_; }
  // The `most` commonest, by reading all entries: for small ranges. False, with nothing added, where `steps`
  // do not suffice.
  [[nodiscard]] bool walk(size_t most, uint32_t& steps, std::vector<CommonTerm>& best) const;
  // The `most` commonest. Call it once. False where `steps` dictionary entries do not suffice for certainty;
  // `best` then has the commonest of the entries that were read.
  [[nodiscard]] bool find(size_t most, uint32_t& steps, std::vector<CommonTerm>& best);

 private:
  struct Group {
    uint32_t number;
    std::vector<CommonTerms> lists = {};
    std::vector<std::string> seen = {};  // in order
    // No unseen term has a higher df, and none of this df comes before the text.
    uint64_t dfMax = 0;
    std::string textMin = {};
  };

  static void set_bounds(Group& group);
  [[nodiscard]] static bool can_have(const Group& group, const BestCommonTerms& best) noexcept;
  // Looks up the next term of the group.
  static void advance(Group& group, BestCommonTerms& best, uint32_t& steps);

  std::vector<Group> groups_;
  uint64_t size_ = 0;
};

}  // namespace mds
