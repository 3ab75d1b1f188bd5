// See term_windows.h.
#include "query/pruned/term_windows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "query/pruned/threshold_mask.h"

namespace mds {
namespace {

// If a filter passes fewer slots of a window than the terms have postings there, by this factor, the filter
// proposes the candidates itself.
constexpr uint64_t kSparseWindowFactor = 4;

constexpr uint32_t kTouchedDocs = kPrunedWindowDocs / 64;
static_assert(kTouchedDocs == kMaskValues);

// Adds scores in the same order as the exhaustive scorer: inside each group, in the order of the plan, and
// then over the groups.
class GroupedSum {
 public:
  void add(uint32_t group, double score) noexcept {
    if (group != group_) {
      sum_ += groupSum_;
      groupSum_ = 0;
      group_ = group;
    }
    groupSum_ += score;
    isAny_ = true;
  }
  [[nodiscard]] bool is_any() const noexcept { return isAny_; }
  [[nodiscard]] double total() const noexcept { return sum_ + groupSum_; }

 private:
  double sum_ = 0;
  double groupSum_ = 0;
  uint32_t group_ = 0;
  bool isAny_ = false;
};

}  // namespace

TermWindows::TermWindows(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const WindowGrid& grid, SegmentFilter& filter, DecodedBlockPool& pool,
                         TopK& top)
    : segment_(query.segments[index]), index_(index), grid_(grid), filter_(filter), top_(top), rare_(grid) {
  size_t terms = 0;
  for (const std::vector<PrunedTerm>& group : plan.groups) terms += group.size();
  leaves_.reserve(terms);
  const bool isLarge = is_large_disjunction(plan);
  uint32_t planIndex = 0;
  for (uint32_t group = 0; group < plan.groups.size(); ++group) {
    for (const PrunedTerm& term : plan.groups[group]) {
      ++planIndex;
      if (isLarge && RareLists::is_rare(query, segment_, term.term)) {
        rare_.add(query, segment_, term.term, planIndex, group);
        continue;
      }
      Leaf& leaf = leaves_.emplace_back(Leaf{PrunedLeaf(query, segment_, term.term, grid, pool), term.isRequired, planIndex, group});
      listCount_ += leaf.scores.list_count();
      if (leaf.scores.is_empty()) {
        isImpossible_ = isImpossible_ || term.isRequired;
        leaves_.pop_back();
      } else {
        (term.isRequired ? required_ : optional_).push_back(&leaf);
      }
    }
  }
  rare_.sort_by_window();
  listCount_ += rare_.list_count();
  std::stable_sort(required_.begin(), required_.end(), [](const Leaf* a, const Leaf* b) { return a->scores.df() > b->scores.df(); });
  present_.reserve(leaves_.size());
}

bool TermWindows::is_safe() const noexcept {
  return rare_.is_safe() && std::all_of(leaves_.begin(), leaves_.end(), [](const Leaf& leaf) { return leaf.scores.is_safe(); });
}

float TermWindows::bound_window(uint32_t window) const noexcept {
  if (isImpossible_) return kDeadWindow;
  float bound = rare_.window_max(window);
  bool isAny = !rare_.is_absent(window);
  for (const Leaf& leaf : leaves_) {
    const bool isAbsent = leaf.scores.is_absent(window);
    if (isAbsent && leaf.isRequired) return kDeadWindow;
    isAny = isAny || !isAbsent;
    bound += leaf.scores.window_max(window);
  }
  return isAny ? bound : kDeadWindow;
}

void TermWindows::search_window(uint32_t window) {
  threshold_ = estimate_threshold(top_.score_floor() / factorMost_, listCount_);
  candidates_.clear();
  const uint32_t passing = filter_.enter(window);
  if (passing == 0) return;
  window_ = window;
  begin_ = grid_.begin(window);
  order_leaves();
  size_t first = first_proposer();
  uint64_t postings = 0;
  for (size_t at = first; at < present_.size(); ++at) postings += present_[at].leaf->scores.df();
  if (rare_.is_absent(window) && filter_.has_filters() && passing * kSparseWindowFactor < postings / grid_.count()) {
    first = present_.size();
    propose_filtered();
  } else if (rare_.is_absent(window) && first + 1 == present_.size() && present_[first].leaf->scores.is_single()) {
    propose_list(present_[first].leaf->scores.only_list(), threshold_ - present_[first].before);
  } else {
    propose_sums(first);
  }
  while (first-- > 0 && !candidates_.empty()) join(present_[first]);
  settle_threshold();
  collect_exact();
}

void TermWindows::order_leaves() {
  present_.clear();
  for (Leaf* leaf : optional_) {
    if (leaf->scores.is_absent(window_)) continue;
    present_.push_back({leaf, leaf->scores.window_max(window_), 0, 0});
  }
  std::sort(present_.begin(), present_.end(), [](const Present& a, const Present& b) { return a.max < b.max; });
  for (Leaf* leaf : required_) present_.push_back({leaf, leaf->scores.window_max(window_), 0, 0});
  leafSum_ = 0;
  for (Present& present : present_) {
    present.before = leafSum_;
    leafSum_ += present.max;
  }
  // Summed separately from the back: a difference of sums would have the rounding error of the largest of
  // them.
  float behind = rare_.window_max(window_);
  for (size_t at = present_.size(); at-- > 0;) {
    present_[at].behind = behind;
    behind += present_[at].max;
  }
}

size_t TermWindows::first_proposer() const noexcept {
  if (present_.empty() || (!rare_.is_absent(window_) && leafSum_ < threshold_)) return present_.size();
  size_t first = present_.size() - 1;
  if (!required_.empty()) return first;
  // MaxScore: leaves whose bounds together cannot reach the threshold propose no candidates.
  while (first > 0 && !(present_[first].before < threshold_)) --first;
  return first;
}

void TermWindows::propose_filtered() {
  for_each_bit(filter_.passed(), [this](uint32_t at) { candidates_.push_back({begin_ + at, 0}); });
}

void TermWindows::propose_list(WindowedList& list, float least) {
  list.visit_window(window_, least, [&](const uint32_t* slots, const float* estimates, uint32_t count, uint32_t) {
    for (uint32_t begin = 0; begin < count; begin += kMaskValues) {
      uint32_t bits = at_least(estimates + begin, least);
      if (count - begin < kMaskValues) bits &= (1U << (count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t index = begin + static_cast<uint32_t>(std::countr_zero(bits));
        propose(slots[index], estimates[index]);
      }
    }
  });
}

void TermWindows::propose_sums(size_t first) {
  const float least = threshold_ - (first == present_.size() ? leafSum_ : present_[first].before);
  // With a threshold above zero, a slot without a posting never passes. Otherwise slots with postings must be
  // marked.
  const bool isMarked = !(least > 0);
  for (size_t at = first; at < present_.size(); ++at) {
    PrunedLeaf& leaf = present_[at].leaf->scores;
    // A document may be dropped, or its sum left too small, if the bound of its block and the bounds of all
    // other leaves together cannot reach the threshold.
    if (leaf.is_single()) {
      add_estimates(leaf.only_list(), threshold_ - (present_[at].before + present_[at].behind));
    } else {
      add_parts(leaf);
    }
    if (isMarked) mark_matches(leaf);
  }
  add_rare(isMarked);
  if (isMarked) return propose_marked(least);
  for (; touched_ != 0; touched_ &= touched_ - 1) {
    const uint32_t group = static_cast<uint32_t>(std::countr_zero(touched_)) * kTouchedDocs;
    for (uint32_t bits = at_least(sums_.data() + group, least); bits != 0; bits &= bits - 1) {
      const uint32_t at = group + static_cast<uint32_t>(std::countr_zero(bits));
      propose(begin_ + at, sums_[at]);
    }
    std::memset(sums_.data() + group, 0, kTouchedDocs * sizeof(float));
  }
}

void TermWindows::add_estimates(WindowedList& list, float least) {
  uint64_t touched = 0;
  float* const sums = sums_.data();
  const uint32_t begin = begin_;
  list.visit_window(window_, least, [&](const uint32_t* slots, const float* estimates, uint32_t count, uint32_t) {
    for (uint32_t index = 0; index < count; ++index) {
      const uint32_t at = slots[index] - begin;
      sums[at] += estimates[index];
      touched |= uint64_t{1} << (at / kTouchedDocs);
    }
  });
  touched_ |= touched;
}

// For a leaf of several lists: sums their parts before the formula converts the sum into a score.
void TermWindows::add_parts(PrunedLeaf& leaf) {
  WindowBits found{};
  for (WindowedList& list : leaf.lists()) {
    list.visit_window(window_, 0, [&](const uint32_t* slots, const float* estimates, uint32_t count, uint32_t) {
      for (uint32_t index = 0; index < count; ++index) {
        parts_[slots[index] - begin_] += estimates[index];
        set_bit(found, slots[index] - begin_);
      }
    });
  }
  for_each_bit(found, [this, &leaf](uint32_t at) {
    sums_[at] += leaf.finish(parts_[at]);
    parts_[at] = 0;
    touched_ |= uint64_t{1} << (at / kTouchedDocs);
  });
}

void TermWindows::add_rare(bool isMarked) {
  for (const RareLists::Posting& posting : rare_.postings(window_)) {
    const uint32_t at = posting.slot - begin_;
    sums_[at] += posting.estimate;
    touched_ |= uint64_t{1} << (at / kTouchedDocs);
    if (isMarked) set_bit(matches_, at);
  }
}

void TermWindows::mark_matches(PrunedLeaf& leaf) {
  for (WindowedList& list : leaf.lists()) {
    list.visit_window(window_, 0, [this](const uint32_t* slots, const float*, uint32_t count, uint32_t) {
      for (uint32_t index = 0; index < count; ++index) set_bit(matches_, slots[index] - begin_);
    });
  }
}

void TermWindows::propose_marked(float least) {
  for_each_bit(matches_, [this, least](uint32_t at) {
    if (!(sums_[at] < least)) propose(begin_ + at, sums_[at]);
    sums_[at] = 0;
  });
  matches_.fill(0);
  touched_ = 0;
}

void TermWindows::join(const Present& present) {
  PrunedLeaf& leaf = present.leaf->scores;
  const bool isRequired = present.leaf->isRequired;
  const float threshold = threshold_;
  Candidate* kept = candidates_.data();
  for (Candidate candidate : candidates_) {
    const float bound = leaf.bound_at(window_, candidate.slot);
    if (candidate.estimate + std::max(bound, 0.0F) + present.before < threshold) continue;
    const double score = bound == kNoMatch ? kNoMatch : leaf.score_after_bound(window_, candidate.slot);
    if (score != kNoMatch) {
      candidate.estimate += static_cast<float>(score);
    } else if (isRequired) {
      continue;
    }
    if (!(candidate.estimate + present.before < threshold)) *kept++ = candidate;
  }
  candidates_.resize(static_cast<size_t>(kept - candidates_.data()));
}

void TermWindows::settle_threshold() {
  std::erase_if(candidates_, [this](const Candidate& candidate) { return candidate.estimate < threshold_ || !filter_.admits(candidate.slot); });
  if (boosts_ != nullptr) boost_candidates();
  const uint64_t wanted = top_.wanted();
  if (candidates_.size() <= wanted) return;
  scratch_.clear();
  for (const Candidate& candidate : candidates_) scratch_.push_back(candidate.estimate);
  const auto last = scratch_.begin() + static_cast<ptrdiff_t>(wanted - 1);
  std::nth_element(scratch_.begin(), last, scratch_.end(), std::greater<>());
  // Both sides of the comparison are estimates: the slack is doubled.
  threshold_ = std::max(threshold_, estimate_threshold(static_cast<double>(*last), 2 * estimate_terms() + 2));
}

void TermWindows::boost_candidates() {
  threshold_ = estimate_threshold(top_.score_floor(), estimate_terms());
  for (Candidate& candidate : candidates_) candidate.estimate *= static_cast<float>(boosts_->factor(candidate.slot));
  std::erase_if(candidates_, [this](const Candidate& candidate) { return candidate.estimate < threshold_; });
}

void TermWindows::collect_exact() {
  for (const Candidate& candidate : candidates_) {
    if (candidate.estimate < threshold_) continue;
    const double score = exact_score(candidate.slot);
    if (score == kNoMatch) continue;
    top_.collect(index_, candidate.slot, boosts_ == nullptr ? score : score * boosts_->factor(candidate.slot));
    threshold_ = std::max(threshold_, estimate_threshold(top_.score_floor(), estimate_terms()));
  }
}

double TermWindows::exact_score(uint32_t slot) {
  rareFound_.clear();
  for (const RareLists::Posting& posting : rare_.postings(window_)) {
    if (posting.slot == slot) rareFound_.push_back(posting);
  }
  GroupedSum sum;
  auto rare = rareFound_.begin();
  for (Leaf& leaf : leaves_) {
    for (; rare != rareFound_.end() && rare_.plan_index(*rare) < leaf.planIndex; ++rare) sum.add(rare_.group(*rare), rare_.score(*rare));
    const double score = leaf.scores.score_at(window_, slot);
    if (score != kNoMatch) {
      sum.add(leaf.group, score);
    } else if (leaf.isRequired) {
      return kNoMatch;
    }
  }
  for (; rare != rareFound_.end(); ++rare) sum.add(rare_.group(*rare), rare_.score(*rare));
  return sum.is_any() ? sum.total() : kNoMatch;
}

void TermWindows::forget_blocks() noexcept {
  for (Leaf& leaf : leaves_) leaf.scores.forget_blocks();
}

}  // namespace mds
