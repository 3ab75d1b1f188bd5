// Makes plain terms of the FUZZY and WILDCARD leaves of a plan: each becomes an OR of the terms that it stands for in one snapshot, joined with an OR around it, so that
// every evaluation path serves them as it serves any query. Deterministic for a snapshot, whatever its segments. Which terms: docs/formats/search-plan.md; weights and
// bounds: docs/decisions/0014-fuzzy-and-wildcard-terms.md. Runs on the caller's thread.
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

// One term that a leaf stands for.
struct Expansion {
  uint32_t leaf;  // term of the plan as it came: the word, or the pattern
  uint32_t edits;
  const std::string* text;
};

struct ExpandedPlan {
  SearchPlan plan;                    // terms of the plan as it came, then those of the expansions
  std::vector<Expansion> expansions;  // in their order
  std::list<UnionTerm> terms;         // what the plan's terms point to
  bool isCut = false;                 // a leaf has more terms than it may stand for
};

[[nodiscard]] bool has_expandable(const PlanNode& node) noexcept;

// Incomplete when `stop` is set.
[[nodiscard]] ExpandedPlan expand_plan(const SegmentSet& set, const SearchPlan& plan, StopSignal& stop);

}  // namespace mds
