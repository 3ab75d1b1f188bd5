// See term_union.h.
#include "query/term_union.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace mds {

TermUnion::TermUnion(const std::vector<TermSource>& sources, const TermPattern& pattern, uint32_t scanMax, StopSignal& stop) : stop_(stop), left_(scanMax) {
  runs_.reserve(sources.size());
  for (const TermSource& source : sources) {
    const DictionaryWalk walk = source.segment->terms(*source.section);
    if (pattern.match == TermMatch::kFuzzy) {
      runs_.push_back({FuzzyTerms(pattern.text, pattern.edits, pattern.prefix, walk), source.section, source.group});
    } else {
      runs_.push_back({WildcardTerms(pattern.match == TermMatch::kPrefix ? WildcardPattern::begins_with(pattern.text) : WildcardPattern(pattern.text), walk),
                       source.section, source.group});
    }
  }
  for (Run& run : runs_) {
    heap_.push_back(&run);
    advance_last();
  }
}

bool TermUnion::later(const Run* a, const Run* b) noexcept {
  const int order = a->term().compare(b->term());
  return order != 0 ? order > 0 : a->group > b->group;
}

void TermUnion::advance_last() {
  Run& run = *heap_.back();
  bool isFound = false;
  while (!isFound && left_ > 0 && !stop_.stopped()) {
    // A slice at a time, so that the stop is noticed also where nothing matches.
    const uint32_t slice = std::min(left_, kStepsPerPoll);
    uint32_t unused = slice;
    isFound = std::visit([&unused](auto& terms) { return terms.next(unused); }, run.terms);
    left_ -= slice - unused;
    static_cast<void>(stop_.after(slice - unused));
    if (!isFound && unused > 0) break;
  }
  isCut_ = isCut_ || left_ == 0;
  if (isFound) {
    std::push_heap(heap_.begin(), heap_.end(), later);
  } else {
    heap_.pop_back();
  }
}

bool TermUnion::next(UnionTerm& out) {
  if (heap_.empty() || stop_.stopped()) return false;
  out = {std::string(heap_.front()->term()), heap_.front()->group, heap_.front()->edits(), 0, {}};
  while (!heap_.empty() && heap_.front()->group == out.group && heap_.front()->term() == out.text) {
    out.df += heap_.front()->entry().df;
    out.places.push_back({heap_.front()->section, heap_.front()->entry()});
    std::pop_heap(heap_.begin(), heap_.end(), later);
    advance_last();
  }
  return true;
}

void BestTerms::add(UnionTerm term) {
  terms_.push_back(std::move(term));
  if (terms_.size() == kRoom * most_ + kRoom) drop_rest();
}

void BestTerms::drop_rest() {
  if (terms_.size() <= most_) return;
  std::nth_element(terms_.begin(), terms_.begin() + static_cast<ptrdiff_t>(most_), terms_.end(), isBetter_);
  terms_.resize(most_);
  isCut_ = true;
}

std::vector<UnionTerm> BestTerms::take(Order isBefore) {
  drop_rest();
  if (!std::is_sorted(terms_.begin(), terms_.end(), isBefore)) std::sort(terms_.begin(), terms_.end(), isBefore);
  return std::move(terms_);
}

}  // namespace mds
