// See segment_filter.h.
#include "query/pruned/segment_filter.h"

#include <algorithm>
#include <bit>

namespace mds {
namespace {

// Returns the posting lists of a filter's values; those of all values if any will do.
std::vector<PostingList> filter_lists(const ResolvedSegment& segment, const MetaFilter& filter) {
  std::vector<PostingList> lists;
  const Segment& columns = *segment.ref->segment;
  const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, filter.key);
  if (section == nullptr) return lists;
  for (const std::string_view value : filter.values) {
    const std::optional<uint32_t> term = columns.find_term(*section, value);
    if (term) lists.emplace_back(columns, *section, *term);
  }
  if (!filter.anyValue) return lists;
  for (DictionaryWalk walk = columns.terms(*section); walk.next();) lists.emplace_back(columns, *section, walk.entry());
  return lists;
}

uint32_t count_of(const WindowBits& bits) noexcept {
  uint32_t count = 0;
  for (const uint64_t word : bits) count += static_cast<uint32_t>(std::popcount(word));
  return count;
}

}  // namespace

SegmentFilter::SegmentFilter(const ResolvedQuery& query, const ResolvedSegment& segment, const PrunedPlan& plan, const SlotBits* ranged, const WindowGrid& grid,
                             StopSignal& stop)
    : segment_(segment), grid_(grid), ranged_(ranged) {
  for (const MetaFilter& filter : query.plan->filters) {
    const std::vector<PostingList> lists = filter_lists(segment, filter);
    isImpossible_ = isImpossible_ || lists.empty();
    filters_.emplace_back(lists, grid, stop);
  }
  std::sort(filters_.begin(), filters_.end(), [](const SlotSet& a, const SlotSet& b) { return a.cost() < b.cost(); });
  std::vector<PostingList> lists;
  for (const uint32_t term : plan.excluded) {
    for (size_t field = 0; field < segment.fields.size(); ++field) {
      const TermEntry* found = query.term_at(segment, term, field);
      if (found != nullptr) lists.emplace_back(*segment.ref->segment, *segment.fields[field], *found);
    }
  }
  if (!lists.empty()) excluded_.emplace_back(lists, grid, stop);
}

uint32_t SegmentFilter::enter(uint32_t window) {
  window_ = window;
  begin_ = grid_.begin(window);
  hasExcluded_ = false;
  uint32_t count = grid_.end(window) - begin_;
  passed_.fill(~uint64_t{0});
  for (const SlotBits* documents : {ranged_, pass_}) {
    if (documents == nullptr) continue;
    documents->keep_window(begin_, passed_);
    count = count_of(passed_);
    if (count == 0) return 0;
  }
  for (SlotSet& filter : filters_) {
    WindowBits bits{};
    filter.add_to(window, bits);
    for (size_t word = 0; word < bits.size(); ++word) passed_[word] &= bits[word];
    count = count_of(passed_);
    if (count == 0) return 0;
  }
  return count;
}

bool SegmentFilter::admits(uint32_t slot) {
  if (!segment_.ref->alive(slot)) return false;
  if (excluded_.empty()) return true;
  if (!hasExcluded_) {
    keptOut_.fill(0);
    for (SlotSet& set : excluded_) set.add_to(window_, keptOut_);
    hasExcluded_ = true;
  }
  return !has_bit(keptOut_, slot - begin_);
}

}  // namespace mds
