// The plans that pruned search supports, in one normalized form: required, optional and excluded terms, or
// one phrase. Built once per query; borrows the plan.
//   TERM                           one optional term; at least one has to match
//   OR of TERMs                    optional terms; at least one has to match
//   AND of TERMs, of OR(TERMs, ALL) and of TERM AND-NOT TERMs
//                                  required terms, optional ones that only add their score, excluded ones
//   PHRASE
//   AND-NOT of one of these and a TERM or an OR of TERMs
// All other plans, orders other than by score, exact totals and long pages are left to the exhaustive scorer.
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
  // Scores are summed inside each group and then over the groups, in the order of the plan, as in the
  // exhaustive scorer.
  std::vector<std::vector<PrunedTerm>> groups;
  std::vector<uint32_t> excluded;
  const PlanNode* phrase = nullptr;
};

// Whether the plan has more than kLargeDisjunctionTerms terms, all optional.
[[nodiscard]] bool is_large_disjunction(const PrunedPlan& plan) noexcept;

[[nodiscard]] std::optional<PrunedPlan> make_pruned_plan(const SearchPlan& plan);

}  // namespace mds
