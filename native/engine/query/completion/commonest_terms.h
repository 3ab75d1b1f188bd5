// The commonest terms with a prefix over the dictionaries of several segments and fields at once. Each dictionary tells its own commonest first (common_terms.h); what
// one tells is looked up in the others of its field; and it ends when no term that has not been told can be as common as those found: at most as common as the next ones
// of all dictionaries together (Fagin, Lotem & Naor, "Optimal aggregation algorithms for middleware", PODS 2001: the threshold algorithm). Used by one request on one
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

// Keeps the commonest so many of those that are added.
class BestCommonTerms {
 public:
  explicit BestCommonTerms(size_t most) : most_(most) {}

  void add(const CommonTerm& term);
  [[nodiscard]] bool is_full() const noexcept { return terms_.size() >= most_; }
  // Of those kept; there must be some.
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

  // Dictionary entries with the prefix, or some more.
  [[nodiscard]] uint64_t size() const noexcept { return size_; }
  // The `most` commonest, by reading all entries: for few. False and nothing where `steps` do not suffice.
  [[nodiscard]] bool walk(size_t most, uint32_t& steps, std::vector<CommonTerm>& best) const;
  // The `most` commonest, once. False where `steps` dictionary entries do not suffice to be sure; `best` is the commonest of those looked at.
  [[nodiscard]] bool find(size_t most, uint32_t& steps, std::vector<CommonTerm>& best);

 private:
  struct Group {
    uint32_t number;
    std::vector<CommonTerms> lists = {};
    std::vector<std::string> seen = {};  // in order
    // No unseen term is commoner, and of those that are as common none is before the text.
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
