// See term_union.h.
#include "query/expansion/term_union.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace mds {
namespace {

bool is_large(const SectionEntry& section) noexcept { return section.termEnd - section.termBegin >= kSignatureTermsMin; }

}  // namespace

TermUnion::TermUnion(const std::vector<TermSource>& sources, const TermPattern& pattern, uint32_t scanMax, StopSignal& stop) : stop_(stop), left_(scanMax) {
  runs_.reserve(sources.size());
  for (const TermSource& source : sources) {
    runs_.push_back({pattern.match == TermMatch::kFuzzy ? fuzzy_terms(source, pattern, stop) : wildcard_terms(source, pattern, stop), source.section, source.group});
  }
  for (Run& run : runs_) {
    if (advance(run)) heap_.push_back(&run);
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
}

TermUnion::Terms TermUnion::fuzzy_terms(const TermSource& source, const TermPattern& pattern, StopSignal& stop) {
  const TermScan scan = source.segment->scan(*source.section);
  if (pattern.edits > 0 && pattern.prefix == 0 && is_large(*source.section)) {
    Signatures signatures = source.segment->signatures(*source.section, stop);
    if (signatures != nullptr) return FuzzyCandidates(pattern.text, pattern.edits, scan, std::move(signatures), source.section->termBegin);
  }
  return FuzzyTerms(pattern.text, pattern.edits, pattern.prefix, scan);
}

TermUnion::Terms TermUnion::wildcard_terms(const TermSource& source, const TermPattern& pattern, StopSignal& stop) {
  const TermScan scan = source.segment->scan(*source.section);
  WildcardPattern wildcard(pattern.text);
  if (wildcard.prefix().empty() && is_large(*source.section)) {
    Signatures signatures = source.segment->signatures(*source.section, stop);
    if (signatures != nullptr) return WildcardCandidates(std::move(wildcard), scan, std::move(signatures), source.section->termBegin);
  }
  return WildcardTerms(std::move(wildcard), scan);
}

bool TermUnion::later(const Run* a, const Run* b) noexcept {
  const int order = a->text.compare(b->text);
  return order != 0 ? order > 0 : a->group > b->group;
}

bool TermUnion::advance(Run& run) {
  bool isFound = false;
  while (!isFound && left_ > 0 && !stop_.stopped()) {
    // Advances in slices, so that a stop is noticed even if nothing matches.
    const uint32_t slice = std::min(left_, kStepsPerPoll);
    uint32_t unused = slice;
    isFound = std::visit([&unused](auto& terms) { return terms.next(unused); }, run.terms);
    left_ -= slice - unused;
    static_cast<void>(stop_.after(slice - unused));
    if (!isFound && unused > 0) break;
  }
  isCut_ = isCut_ || left_ == 0;
  if (isFound) run.text = std::visit([](const auto& terms) { return terms.term(); }, run.terms);
  return isFound;
}

void TermUnion::settle_first() {
  if (!advance(*heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return;
  }
  // Sifts down in one pass: with many runs this takes most of the time.
  for (size_t at = 0, child = 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && later(heap_[child], heap_[child + 1])) ++child;
    if (!later(heap_[at], heap_[child])) return;
    std::swap(heap_[at], heap_[child]);
    at = child;
  }
}

bool TermUnion::next(UnionTerm& out) {
  if (heap_.empty() || stop_.stopped()) return false;
  // Reuses the memory of the previous term: most terms are only inspected, not kept.
  out.text.assign(heap_.front()->text);
  out.group = heap_.front()->group;
  out.edits = heap_.front()->edits();
  out.df = 0;
  out.locations.clear();
  while (!heap_.empty() && heap_.front()->group == out.group && heap_.front()->text == out.text) {
    out.df += heap_.front()->entry().df;
    out.locations.push_back({heap_.front()->section, heap_.front()->entry()});
    settle_first();
  }
  return true;
}

void BestTerms::add(const UnionTerm& term) {
  if (hasWorst_ && !isBetter_(term, terms_[most_ - 1])) return;
  terms_.push_back(term);
  if (terms_.size() == kSurplusFactor * most_ + kSurplusFactor) drop_rest();
}

void BestTerms::drop_rest() {
  if (terms_.size() <= most_) return;
  isCut_ = true;
  hasWorst_ = most_ > 0;
  if (hasWorst_) std::nth_element(terms_.begin(), terms_.begin() + static_cast<ptrdiff_t>(most_ - 1), terms_.end(), isBetter_);
  terms_.resize(most_);
}

std::vector<UnionTerm> BestTerms::take(Order isBefore) {
  drop_rest();
  if (!std::is_sorted(terms_.begin(), terms_.end(), isBefore)) std::sort(terms_.begin(), terms_.end(), isBefore);
  hasWorst_ = false;
  return std::move(terms_);
}

}  // namespace mds
