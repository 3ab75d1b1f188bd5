// See plan_expansion.h.
#include "query/expansion/plan_expansion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"

namespace mds {
namespace {

// Weight of a match by its number of edits: a factor of 0.8 per edit.
constexpr std::array<double, kFuzzyEditsMax + 1> kEditWeights = {1, 0.8, 0.64};

PlanNode node_of(NodeKind kind) {
  PlanNode node;
  node.kind = kind;
  return node;
}

bool is_better(const UnionTerm& a, const UnionTerm& b) noexcept {
  if (a.edits != b.edits) return a.edits < b.edits;
  return a.df != b.df ? a.df > b.df : a.text < b.text;
}

bool is_before(const UnionTerm& a, const UnionTerm& b) noexcept { return a.edits != b.edits ? a.edits < b.edits : a.text < b.text; }

class PlanExpander {
 public:
  PlanExpander(const SegmentSet& set, const SearchPlan& plan, StopSignal& stop) : set_(set), plan_(plan), stop_(stop) {
    out_.plan = plan;
    left_ = plan.fields.empty() ? 0 : std::min<size_t>(kPlanExpansionsMax, kPlanCursorsMax / plan.fields.size());
  }

  ExpandedPlan run() {
    out_.plan.root = expanded(plan_.root);
    return std::move(out_);
  }

 private:
  PlanNode expanded(const PlanNode& node) {
    if (is_expandable(node)) return joined(NodeKind::kOr, expand(node));
    if (node.children.empty() || !has_expandable(node)) return node;
    PlanNode copy = node_of(node.kind);
    for (const PlanNode& child : node.children) {
      if (node.kind == NodeKind::kOr && is_expandable(child)) {
        for (PlanNode& term : expand(child)) copy.children.push_back(std::move(term));
      } else {
        copy.children.push_back(expanded(child));
      }
    }
    return node.kind == NodeKind::kOr ? joined(NodeKind::kOr, std::move(copy.children)) : copy;
  }

  static PlanNode joined(NodeKind kind, std::vector<PlanNode> children) {
    if (children.empty()) return node_of(NodeKind::kNone);
    if (children.size() == 1) return std::move(children[0]);
    PlanNode node = node_of(kind);
    node.children = std::move(children);
    return node;
  }

  // Returns the terms that the leaf matches, as TERM nodes.
  std::vector<PlanNode> expand(const PlanNode& leaf) {
    if (left_ == 0) {
      // The bound is used up: no match of this leaf could be kept.
      out_.isCut = true;
      return {};
    }
    std::vector<UnionTerm> found = best_terms(leaf, std::min<size_t>(left_, kLeafExpansionsMax));
    left_ -= found.size();
    FuzzyGroup group{static_cast<uint32_t>(out_.plan.terms.size()), 0, {}};
    std::vector<PlanNode> nodes;
    for (UnionTerm& each : found) {
      const UnionTerm& term = out_.terms.emplace_back(std::move(each));
      PlanNode& node = nodes.emplace_back(node_of(NodeKind::kTerm));
      node.term = static_cast<uint32_t>(out_.plan.terms.size());
      const PlanTerm& word = plan_.terms[leaf.term];
      out_.plan.terms.push_back({term.text, word.weight * kEditWeights[term.edits], word.fields, &term.locations});
      out_.expansions.push_back({leaf.term, term.edits, &term.text});
      group.edits.push_back(term.edits);
    }
    group.end = static_cast<uint32_t>(out_.plan.terms.size());
    if (leaf.kind == NodeKind::kFuzzy) out_.plan.fuzzyGroups.push_back(std::move(group));
    return nodes;
  }

  // Returns the best `most` terms of a leaf: by edits ascending, then by df descending, then by bytes. The
  // result is sorted by edits, then bytes.
  std::vector<UnionTerm> best_terms(const PlanNode& leaf, size_t most) {
    std::vector<TermSource> sources;
    for (const SegmentRef& ref : set_.segments) {
      const CollectionEntry* collection = ref.segment->find_collection(plan_.collection);
      if (collection == nullptr) continue;
      for (size_t field = 0; field < plan_.fields.size(); ++field) {
        if ((plan_.terms[leaf.term].fields >> field & 1) == 0) continue;
        const SectionEntry* section = ref.segment->find_section(*collection, SectionKind::kText, plan_.fields[field].name);
        if (section != nullptr) sources.push_back({ref.segment.get(), section, 0});
      }
    }
    const TermPattern pattern{plan_.terms[leaf.term].text, leaf.kind == NodeKind::kFuzzy ? TermMatch::kFuzzy : TermMatch::kWildcard, leaf.edits, leaf.prefix};
    TermUnion terms(sources, pattern, kExpansionScanMax, stop_);
    BestTerms best(most, is_better);
    for (UnionTerm term; terms.next(term);) best.add(term);
    std::vector<UnionTerm> taken = best.take(is_before);
    out_.isCut = out_.isCut || best.is_cut() || terms.is_cut();
    return taken;
  }

  const SegmentSet& set_;
  const SearchPlan& plan_;
  StopSignal& stop_;
  size_t left_;
  ExpandedPlan out_;
};

}  // namespace

bool has_expandable(const PlanNode& node) noexcept { return is_expandable(node) || std::any_of(node.children.begin(), node.children.end(), has_expandable); }

ExpandedPlan expand_plan(const SegmentSet& set, const SearchPlan& plan, StopSignal& stop) { return PlanExpander(set, plan, stop).run(); }

}  // namespace mds
