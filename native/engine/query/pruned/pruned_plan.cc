// See pruned_plan.h.
#include "query/pruned/pruned_plan.h"

#include <algorithm>

#include "base/limits.h"

namespace mds {
namespace {

bool is_term(const PlanNode& node) noexcept { return node.kind == NodeKind::kTerm; }

// Adds the children that are TERMs. The other children must be ALL; there must be exactly `allCount` of them.
bool add_terms(const PlanNode& node, size_t allCount, std::vector<PrunedTerm>& terms) {
  size_t others = 0;
  for (const PlanNode& child : node.children) {
    if (is_term(child)) {
      terms.push_back({child.term, false});
    } else if (child.kind == NodeKind::kAll) {
      ++others;
    } else {
      return false;
    }
  }
  return others == allCount;
}

bool add_excluded(const PlanNode& node, PrunedPlan& pruned) {
  if (is_term(node)) {
    pruned.excluded.push_back(node.term);
    return true;
  }
  std::vector<PrunedTerm> terms;
  if (node.kind != NodeKind::kOr || !add_terms(node, 0, terms)) return false;
  for (const PrunedTerm& term : terms) pruned.excluded.push_back(term.term);
  return true;
}

bool add_conjunction(const PlanNode& node, PrunedPlan& pruned) {
  bool hasRequired = false;
  for (const PlanNode& child : node.children) {
    std::vector<PrunedTerm>& group = pruned.groups.emplace_back();
    // A term with its own exclusions (`a AND b -c`): an exclusion of one child applies to the whole
    // conjunction.
    const bool isAndNot = child.kind == NodeKind::kAndNot && add_excluded(child.children[1], pruned);
    const PlanNode& wanted = isAndNot ? child.children[0] : child;
    if (is_term(wanted)) {
      group.push_back({wanted.term, true});
      hasRequired = true;
    } else if (isAndNot || child.kind != NodeKind::kOr || !add_terms(child, 1, group)) {
      return false;
    }
  }
  return hasRequired;
}

bool add_wanted(const PlanNode& node, PrunedPlan& pruned) {
  switch (node.kind) {
    case NodeKind::kTerm:
      pruned.groups.push_back({{node.term, false}});
      return true;
    case NodeKind::kOr:
      return add_terms(node, 0, pruned.groups.emplace_back());
    case NodeKind::kAnd:
      return add_conjunction(node, pruned);
    case NodeKind::kPhrase:
      pruned.phrase = &node;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_large_disjunction(const PrunedPlan& plan) noexcept {
  size_t terms = 0;
  for (const std::vector<PrunedTerm>& group : plan.groups) {
    terms += group.size();
    if (std::any_of(group.begin(), group.end(), [](const PrunedTerm& term) { return term.isRequired; })) return false;
  }
  return terms > kLargeDisjunctionTerms;
}

std::optional<PrunedPlan> make_pruned_plan(const SearchPlan& plan) {
  // Without a scored field there are no scores to bound.
  if (plan.fields.empty()) return std::nullopt;
  if (plan.exactTotal || plan.sort != SortField::kScore || plan.k == 0 || uint64_t{plan.skip} + plan.k > kPrunedHitsMax) return std::nullopt;
  PrunedPlan pruned;
  const PlanNode& root = plan.root;
  const bool isUnderstood = root.kind == NodeKind::kAndNot ? add_wanted(root.children[0], pruned) && add_excluded(root.children[1], pruned) : add_wanted(root, pruned);
  if (!isUnderstood) return std::nullopt;
  return pruned;
}

}  // namespace mds
