// See segment_search.h.
#include "query/exhaustive/segment_search.h"

#include <algorithm>

#include "query/exhaustive/boolean_iterators.h"
#include "query/exhaustive/leaf_iterators.h"
#include "query/exhaustive/phrase_iterator.h"
#include "query/exhaustive/proximity_iterator.h"
#include "query/exhaustive/union_iterator.h"
#include "query/exhaustive/window_disjunction.h"

namespace mds {
namespace {

DocIteratorPtr make_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop);

// Creates one iterator for many TERMs, and one for each other child.
DocIteratorPtr make_or(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop) {
  const auto is_term = [](const PlanNode& child) { return child.kind == NodeKind::kTerm; };
  const bool isLarge = std::count_if(node.children.begin(), node.children.end(), is_term) > kLargeDisjunctionTerms;
  std::vector<DocIteratorPtr> children;
  if (isLarge) children.push_back(make_union_iterator(query, segment, node.children, stop));
  for (const PlanNode& child : node.children) {
    if (!isLarge || !is_term(child)) children.push_back(make_iterator(query, segment, child, stop));
  }
  return make_or_iterator(std::move(children));
}

DocIteratorPtr make_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop) {
  if (node.kind == NodeKind::kOr) return make_or(query, segment, node, stop);
  std::vector<DocIteratorPtr> children;
  for (const PlanNode& child : node.children) children.push_back(make_iterator(query, segment, child, stop));
  switch (node.kind) {
    case NodeKind::kTerm:
      return make_term_iterator(query, segment, node.term);
    case NodeKind::kAnd:
      return make_and_iterator(std::move(children), stop);
    case NodeKind::kAndNot:
      return make_and_not_iterator(std::move(children[0]), std::move(children[1]), stop);
    case NodeKind::kPhrase:
      return make_phrase_iterator(query, segment, node, stop);
    case NodeKind::kProximity:
      return make_proximity_iterator(query, segment, node, stop);
    case NodeKind::kAll:
      return make_all_iterator(*segment.collection);
    case NodeKind::kOr:
    case NodeKind::kNone:
    case NodeKind::kFuzzy:  // expanded earlier
    case NodeKind::kWildcard:
      break;
  }
  return make_none_iterator();
}

bool is_term_disjunction(const PlanNode& root) noexcept {
  if (root.kind == NodeKind::kTerm) return true;
  if (root.kind != NodeKind::kOr) return false;
  for (const PlanNode& child : root.children) {
    if (child.kind != NodeKind::kTerm) return false;
  }
  return true;
}

// Number of postings that the plan's leaves would read without a filter.
uint64_t disjunction_cost(const ResolvedSegment& segment) noexcept {
  uint64_t postings = 0;
  for (const TermEntry& term : segment.terms) postings += term.df;
  return postings;
}

// A filter with fewer than 1/kSelectiveFilterFactor of the terms' postings leads a conjunction. A wider
// filter is cheaper as bits over a window.
constexpr uint64_t kSelectiveFilterFactor = 8;

}  // namespace

void search_segment(const ResolvedQuery& query, uint32_t index, const SegmentRefinement& refinement, TopK& top, StopSignal& stop) {
  const ResolvedSegment& segment = query.segments[index];
  std::vector<DocIteratorPtr> filters;
  uint64_t filterCost = UINT64_MAX;
  for (const MetaFilter& filter : query.plan->filters) {
    filters.push_back(make_filter_iterator(segment, filter, stop));
    filterCost = std::min(filterCost, filters.back()->cost());
  }
  if (refinement.ranged.bits) {
    filters.push_back(make_bits_iterator(*segment.collection, *refinement.ranged.bits));
    filterCost = std::min(filterCost, filters.back()->cost());
  }
  if (filterCost == 0 || stop.stopped()) return;
  if (is_term_disjunction(query.plan->root) && filterCost >= disjunction_cost(segment) / kSelectiveFilterFactor) {
    DocIteratorPtr filter = filters.empty() ? nullptr : make_and_iterator(std::move(filters), stop);
    WindowDisjunction(query, segment).run(std::move(filter), index, refinement, top, stop);
    return;
  }
  std::vector<DocIteratorPtr> all;
  all.push_back(make_iterator(query, segment, query.plan->root, stop));
  for (DocIteratorPtr& filter : filters) all.push_back(std::move(filter));
  const DocIteratorPtr matches = make_and_iterator(std::move(all), stop);
  for (uint32_t slot = matches->doc(); slot != kEndOfList && !stop.after(1); slot = matches->advance(slot + 1)) {
    if (segment.ref->alive(slot)) top.collect(index, slot, refinement.boosted(slot, matches->score()));
  }
}

}  // namespace mds
