// See common_terms.h.
#include "query/completion/common_terms.h"

#include <algorithm>

#include "base/limits.h"

namespace mds {
namespace {

// Returns the smallest string greater than every string that begins with `prefix`; empty if there is none.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) ++end.back();
  return end;
}

void take(uint32_t& steps, uint32_t count) noexcept { steps -= std::min(steps, count); }

}  // namespace

CommonTerms::CommonTerms(const Segment& segment, const SectionEntry& section, std::string_view prefix)
    : segment_(&segment),
      section_(&section),
      prefix_(prefix),
      begin_(section.termBegin < section.termEnd ? segment.block_for(section, prefix) : section.termEnd),
      end_(section.termEnd) {
  const std::string end = end_of(prefix);
  if (!end.empty() && begin_ < end_) end_ = std::min(end_, segment.block_ahead(begin_, end_, end) + kDictionaryBlockTerms);
}

// With equal dfs, the term or run that begins first takes precedence. A run may have its most frequent term
// at its beginning, and has none before it.
bool CommonTerms::comes_later(const Run& a, const Run& b) noexcept { return a.df != b.df ? a.df < b.df : a.first > b.first; }

void CommonTerms::push(const Run& run) {
  heap_.push_back(run);
  std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

void CommonTerms::push_runs(size_t begin, size_t end, uint32_t level) {
  uint64_t terms = kDictionaryBlockTerms;
  for (uint32_t above = 1; above < level; ++above) terms *= kMaximaFanout;
  const std::vector<uint32_t>& highest = (*maxima_)[level - 1];
  for (size_t run = begin; run < std::min(end, highest.size()); ++run) {
    const uint64_t first = section_->termBegin + run * terms;
    if (first < end_ && first + terms > begin_) push({highest[run], static_cast<uint32_t>(first), level});
  }
}

void CommonTerms::begin(uint32_t& steps) {
  if (size() == 0) return;
  if (section_->termEnd - section_->termBegin >= kTermMaximaTermsMin) {
    maxima_ = segment_->maxima(*section_);
    push_runs(0, maxima_->back().size(), static_cast<uint32_t>(maxima_->size()));
  } else {
    for (uint32_t first = begin_; first < end_; first += kDictionaryBlockTerms) read_block(first, steps);
  }
  settle(steps);
}

void CommonTerms::read_block(uint32_t first, uint32_t& steps) {
  DictionaryWalk walk = segment_->terms(first, std::min(end_, first + kDictionaryBlockTerms));
  while (walk.next()) {
    take(steps, 1);
    if (walk.term().starts_with(prefix_)) push({walk.entry().df, walk.index(), 0});
  }
}

void CommonTerms::settle(uint32_t& steps) {
  while (!heap_.empty() && heap_.front().level > 0 && steps > 0) {
    const Run run = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    heap_.pop_back();
    if (run.level == 1) {
      read_block(run.first, steps);
      continue;
    }
    uint64_t terms = kDictionaryBlockTerms;
    for (uint32_t above = 2; above < run.level; ++above) terms *= kMaximaFanout;
    const auto below = static_cast<size_t>((run.first - section_->termBegin) / terms);
    push_runs(below, below + kMaximaFanout, run.level - 1);
  }
}

const std::string& CommonTerms::text() {
  const Run& run = heap_.front();
  if (run.level == 0 && textOf_ != run.first) {
    text_ = segment_->term(*section_, run.first);
    textOf_ = run.first;
  }
  return text_;
}

void CommonTerms::next(uint32_t& steps) {
  std::pop_heap(heap_.begin(), heap_.end(), comes_later);
  heap_.pop_back();
  ++passed_;
  settle(steps);
}

uint32_t CommonTerms::df_of(std::string_view term, uint32_t& steps) const noexcept {
  if (size() == 0) return 0;
  take(steps, 1);
  const std::optional<TermEntry> entry = segment_->find_entry(begin_, end_, term);
  return entry ? entry->df : 0;
}

}  // namespace mds
