// Replaces the FUZZY and WILDCARD leaves of a plan by plain terms. Each leaf becomes an OR of the terms that
// it matches in one snapshot. If its parent is an OR, the terms are merged into it. Every evaluation path can
// then run the plan. The result is deterministic for a snapshot, regardless of its segments. For the choice
// of terms see docs/formats/search-plan.md; for weights and bounds, docs/decisions/search/term-expansion.md.
// Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "base/stop_signal.h"
#include "query/expansion/term_union.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// One term that a leaf expands to.
struct Expansion {
  uint32_t leaf;  // index of a term of the original plan: the word or the pattern
  uint32_t edits;
  const std::string* text;
};

struct ExpandedPlan {
  SearchPlan plan;                    // terms of the original plan, followed by those of the expansions
  std::vector<Expansion> expansions;  // in the order of the plan's expanded terms
  std::list<UnionTerm> terms;         // owns the texts that the plan's terms refer to
  bool isCut = false;                 // a leaf matches more terms than its bound
};

[[nodiscard]] bool has_expandable(const PlanNode& node) noexcept;

// The result is incomplete when `stop` is set.
[[nodiscard]] ExpandedPlan expand_plan(const SegmentSet& set, const SearchPlan& plan, StopSignal& stop);

}  // namespace mds
