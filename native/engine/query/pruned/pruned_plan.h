// The plans that pruned search understands, in one form: required, optional and excluded terms, or one
// phrase. Made once per query; borrows the plan.
//   TERM                           one optional term, and at least one has to match
//   OR of TERMs                    optional terms, likewise
//   AND of TERMs, of OR(TERMs, ALL) and of TERM AND-NOT TERMs
//                                  required terms, optional ones that only add their score, excluded ones
//   PHRASE
//   AND-NOT of one of these and a TERM or an OR of TERMs
// Everything else, other orders than by score, exact totals and long pages are left to the exhaustive scorer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "query/plan/search_plan.h"

namespace mds {

struct PrunedTerm {
  uint32_t term;
  bool isRequired;
};

struct PrunedPlan {
  // Scores are summed inside each group and then over the groups, in the order of the plan, like the
  // exhaustive scorer does.
  std::vector<std::vector<PrunedTerm>> groups;
  std::vector<uint32_t> excluded;
  const PlanNode* phrase = nullptr;
};

// An optional-only plan of more than kLargeDisjunctionTerms terms.
[[nodiscard]] bool is_large_disjunction(const PrunedPlan& plan) noexcept;

[[nodiscard]] std::optional<PrunedPlan> make_pruned_plan(const SearchPlan& plan);

}  // namespace mds
