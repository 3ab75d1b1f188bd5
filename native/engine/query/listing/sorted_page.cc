// See sorted_page.h.
#include "query/listing/sorted_page.h"

#include <algorithm>

#include "query/listing/segment_listing.h"

namespace mds {
namespace {

class ListingMerge {
 public:
  ListingMerge(const ResolvedQuery& query, StopSignal& stop)
      : stop_(stop),
        order_(query),
        isFiltered_(!query.plan->filters.empty() || !query.plan->ranges.empty()),
        skip_(query.plan->skip),
        wanted_(uint64_t{query.plan->skip} + query.plan->k) {
    listings_.reserve(query.segments.size());
    for (uint32_t index = 0; index < query.segments.size() && !stop.poll(); ++index) {
      const CollectionEntry& collection = *query.segments[index].collection;
      const uint64_t share = wanted_ * (collection.slotEnd - collection.slotBegin) / query.documents + 1;
      listings_.emplace_back(query, index, share, stop);
      total_ += listings_.back().total();
    }
    if (query.plan->k == 0) wanted_ = 0;
  }

  Page run() {
    const size_t expected = static_cast<size_t>(std::min(wanted_, total_));
    std::vector<Candidate> hits;
    hits.reserve(expected - static_cast<size_t>(std::min<uint64_t>(skip_, expected)));
    if (wanted_ > 0 && !listings_.empty()) begin();
    while (!heads_.empty() && taken_ < wanted_) {
      std::pop_heap(heads_.begin(), heads_.end(), Later{order_});
      Head& head = heads_.back();
      if (!head.isBound && taken_++ >= skip_) hits.push_back(head.candidate);
      advance(head);
    }
    return {total_, std::move(hits)};
  }

 private:
  struct Head {
    Candidate candidate;
    SegmentListing* listing;
    bool isBound;  // the candidate may not match, but no match of the listing sorts before it
  };
  struct Later {
    const PageOrder& order;
    bool operator()(const Head& a, const Head& b) const noexcept { return order.better(b.candidate, a.candidate); }
  };

  // Initially a listing is represented by its first slot, whether it matches or not. It searches for its
  // first match only if that slot sorts before all other candidates. With an order by time, most segments
  // never reach that point.
  void begin() {
    if (!isFiltered_) leap();
    for (SegmentListing& listing : listings_) {
      if (listing.total() == 0 || listing.left() == 0) continue;
      heads_.push_back({order_.candidate(listing.index(), listing.peek(0), 0), &listing, true});
    }
    std::make_heap(heads_.begin(), heads_.end(), Later{order_});
  }

  // Skips most of the offset without merging. With r left to skip and s segments, it peeks r/s slots ahead in
  // each. Consider the smallest of these slots in page order: up to it, its own segment has r/s slots and
  // every other segment has fewer. Together they have no more than r, so that all r/s of its segment can be
  // skipped. Takes s ln(r) rounds instead of r.
  void leap() {
    std::vector<Head> ahead;
    for (SegmentListing& listing : listings_) ahead.push_back({{}, &listing, true});
    while (skip_ - taken_ >= kLeapMin * listings_.size()) {
      const uint64_t step = (skip_ - taken_) / listings_.size();
      const Head* first = nullptr;
      for (Head& head : ahead) {
        const uint64_t left = head.listing->left();
        if (left == 0) continue;
        head.candidate = order_.candidate(head.listing->index(), head.listing->peek(std::min(step, left) - 1), 0);
        if (first == nullptr || order_.better(head.candidate, first->candidate)) first = &head;
      }
      if (first == nullptr) return;
      taken_ += first->listing->pass(std::min<uint64_t>(step, first->listing->left()));
      if (stop_.stopped()) return;
    }
  }

  // Moves the last head, which is not in the heap, to its listing's next match. Removes it at the end.
  void advance(Head& head) {
    const uint32_t slot = head.listing->next(wanted_ - taken_);
    if (slot == kEndOfList) return heads_.pop_back();
    head = {order_.candidate(head.listing->index(), slot, 0), head.listing, false};
    std::push_heap(heads_.begin(), heads_.end(), Later{order_});
  }

  // With fewer matches to skip per segment, merging costs less than leaping.
  static constexpr uint64_t kLeapMin = 8;

  StopSignal& stop_;
  PageOrder order_;
  bool isFiltered_;
  uint64_t skip_;
  uint64_t wanted_;
  uint64_t taken_ = 0;
  uint64_t total_ = 0;
  std::vector<SegmentListing> listings_;
  std::vector<Head> heads_;
};

}  // namespace

bool is_listing(const SearchPlan& plan) noexcept { return plan.sort != SortField::kScore && plan.root.kind == NodeKind::kAll; }

Page sorted_page(const ResolvedQuery& query, StopSignal& stop) { return ListingMerge(query, stop).run(); }

}  // namespace mds
