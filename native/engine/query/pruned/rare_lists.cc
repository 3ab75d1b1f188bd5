// See rare_lists.h.
#include "query/pruned/rare_lists.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "segment/postings/posting_list.h"

namespace mds {

bool RareLists::is_rare(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term) noexcept {
  uint32_t lists = 0;
  for (size_t field = 0; field < segment.fields.size(); ++field) {
    const TermEntry* entry = query.term_at(segment, term, field);
    if (entry == nullptr) continue;
    if (++lists > 1 || entry->df > kBlockPostings) return false;
  }
  return lists == 1;
}

void RareLists::add(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term, uint32_t planIndex, uint32_t group) {
  size_t field = 0;
  while (query.term_at(segment, term, field) == nullptr) ++field;
  const SectionEntry& section = *segment.fields[field];
  const Segment& columns = *segment.ref->segment;
  const PostingList list(columns, section, *query.term_at(segment, term, field));
  const List& added = lists_.emplace_back(List{LeafScorer(*query.plan, query.averageLengths, query.idfs[term], query.plan->terms[term].weight), field, planIndex, group,
                                               query.plan->algorithm == Algorithm::kBm25f});
  const ScoreEstimate estimate = ScoreEstimate::whole(added.scorer, field);
  isSafe_ = isSafe_ && estimate.is_safe();

  std::array<uint32_t, kBlockPostings> slots;
  std::array<uint32_t, kBlockPostings> tfs;
  std::array<uint32_t, kBlockPostings> lengths;
  std::array<float, kBlockPostings> estimates;
  PackedBlock packed{};
  if (!list.read(0, packed) || !decode_slots(packed, slots.data())) return;
  decode_tfs(packed, tfs.data());
  columns.lengths(section).gather(std::span(slots).first(packed.count), lengths.data());
  for (uint32_t index = packed.count; index % 4 != 0; ++index) tfs[index] = lengths[index] = 1;
  estimate.estimate(tfs.data(), lengths.data(), packed.count, estimates.data());
  const auto number = static_cast<uint32_t>(lists_.size() - 1);
  for (uint32_t index = 0; index < packed.count; ++index) postings_.push_back({slots[index], number, tfs[index], lengths[index], estimates[index]});
}

void RareLists::sort_by_window() {
  if (lists_.empty()) return;
  begins_.resize(size_t{grid_.count()} + 1);
  for (const Posting& posting : postings_) ++begins_[grid_.window_of(posting.slot) + 1];
  for (uint32_t window = 0; window < grid_.count(); ++window) begins_[window + 1] += begins_[window];
  std::vector<Posting> sorted(postings_.size());
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (const Posting& posting : postings_) sorted[next[grid_.window_of(posting.slot)]++] = posting;
  postings_ = std::move(sorted);

  std::array<float, kPrunedWindowDocs> sums{};
  windowMaxes_.resize(grid_.count());
  for (uint32_t window = 0; window < grid_.count(); ++window) {
    for (const Posting& posting : postings(window)) {
      float& sum = sums[posting.slot - grid_.begin(window)];
      sum += posting.estimate;
      windowMaxes_[window] = std::max(windowMaxes_[window], sum);
    }
    for (const Posting& posting : postings(window)) sums[posting.slot - grid_.begin(window)] = 0;
  }
}

double RareLists::score(const Posting& posting) const noexcept {
  const List& list = lists_[posting.list];
  if (!list.isFields) return list.scorer.score(list.field, posting.tf, posting.length);
  return list.scorer.score_sum(list.scorer.field_tf(list.field, posting.tf, posting.length));
}

}  // namespace mds
