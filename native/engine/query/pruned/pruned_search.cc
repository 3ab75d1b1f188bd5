// See pruned_search.h.
#include "query/pruned/pruned_search.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "query/pruned/list_search.h"
#include "query/pruned/phrase_windows.h"
#include "query/pruned/rare_lists.h"
#include "query/pruned/term_windows.h"

namespace mds {
namespace {

struct BoundedWindow {
  float bound;
  uint32_t window;
};

// Visits the windows in descending order of their bounds, so that the threshold soon excludes the others.
void search_windows(WindowSource& source, const WindowGrid& grid, double factorMost, DecodedBlockPool& pool, const TopK& top, StopSignal& stop) {
  std::vector<BoundedWindow> windows;
  windows.reserve(grid.count());
  for (uint32_t window = 0; window < grid.count(); ++window) {
    const float bound = source.bound_window(window);
    if (bound != kDeadWindow) windows.push_back({bound, window});
  }
  std::sort(windows.begin(), windows.end(), [](const BoundedWindow& a, const BoundedWindow& b) { return a.bound > b.bound; });
  for (const BoundedWindow& window : windows) {
    if (window.bound < estimate_threshold(top.score_floor() / factorMost, source.list_count()) || stop.after(kPrunedWindowDocs)) return;
    if (pool.used() > kDecodedBlocksMax) {
      source.forget_blocks();
      pool.clear();
    }
    source.search_window(window.window);
  }
}

DecodedBlockPool& thread_pool() noexcept {
  thread_local DecodedBlockPool pool;
  return pool;
}

// Shrinks the pool at the end of a search, even if an allocation failed.
struct PoolLease {
  DecodedBlockPool& pool = thread_pool();

  PoolLease() = default;
  PoolLease(const PoolLease&) = delete;
  PoolLease& operator=(const PoolLease&) = delete;
  ~PoolLease() { pool.shrink(); }
};

struct OnlyList {
  uint32_t term;
  size_t field;
};

// Returns the only list that the plan reduces to in a segment, if there is one and nothing else affects the
// result.
std::optional<OnlyList> only_list(const ResolvedQuery& query, const PrunedPlan& plan, const ResolvedSegment& segment, const SegmentRefinement& refinement) {
  if (!query.plan->filters.empty() || !plan.excluded.empty() || refinement.ranged.bits || !refinement.boosts.is_empty()) return std::nullopt;
  std::optional<OnlyList> only;
  for (const std::vector<PrunedTerm>& group : plan.groups) {
    for (const PrunedTerm& term : group) {
      if (term.isRequired) return std::nullopt;
      for (size_t field = 0; field < segment.fields.size(); ++field) {
        if (query.term_at(segment, term.term, field) == nullptr) continue;
        if (only) return std::nullopt;
        only = OnlyList{term.term, field};
      }
    }
  }
  return only;
}

// Number of lists that get their own bounds.
size_t bounded_lists(const ResolvedQuery& query, const PrunedPlan& plan, const ResolvedSegment& segment) {
  const bool isLarge = is_large_disjunction(plan);
  size_t lists = plan.phrase == nullptr ? 0 : plan.phrase->phrase.size() * segment.fields.size();
  for (const std::vector<PrunedTerm>& group : plan.groups) {
    for (const PrunedTerm& term : group) {
      if (isLarge && RareLists::is_rare(query, segment, term.term)) continue;
      for (size_t field = 0; field < segment.fields.size(); ++field) lists += query.term_at(segment, term.term, field) == nullptr ? 0 : 1;
    }
  }
  return lists;
}

// Higher factors could exceed the range of float.
constexpr double kPrunedFactorMax = 1e12;

}  // namespace

bool search_segment_pruned(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const SegmentRefinement& refinement, TopK& top, StopSignal& stop) {
  const ResolvedSegment& segment = query.segments[index];
  if (const std::optional<OnlyList> only = only_list(query, plan, segment, refinement)) return search_list(query, index, only->term, only->field, top, stop);
  if (bounded_lists(query, plan, segment) > kPrunedListsMax) return false;
  const std::vector<BoostPass>& passes = refinement.boosts.passes();
  if (std::any_of(passes.begin(), passes.end(), [](const BoostPass& pass) { return pass.factorMost > kPrunedFactorMax; })) return false;
  const WindowGrid grid(*segment.collection);
  const PoolLease lease;
  SegmentFilter filter(query, segment, plan, refinement.ranged_bits(), grid, stop);
  if (filter.is_impossible()) return true;
  const auto search = [&](WindowSource&& source) {
    if (!source.is_safe()) return false;
    if (refinement.boosts.is_empty()) search_windows(source, grid, 1, lease.pool, top, stop);
    for (const BoostPass& pass : refinement.boosts.passes()) {
      if (stop.stopped()) break;
      filter.begin_pass(pass.documents ? &*pass.documents : nullptr);
      source.begin_pass(refinement.boosts, pass.factorMost);
      search_windows(source, grid, pass.factorMost, lease.pool, top, stop);
    }
    return true;
  };
  if (plan.phrase != nullptr) return search(PhraseWindows(query, plan, index, grid, filter, lease.pool, top));
  return search(TermWindows(query, plan, index, grid, filter, lease.pool, top));
}

}  // namespace mds
