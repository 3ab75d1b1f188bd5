// See sorted_page.h.
#include "query/sorted_page.h"

#include <algorithm>

#include "query/segment_listing.h"

namespace mds {
namespace {

class ListingMerge {
 public:
  ListingMerge(const ResolvedQuery& query, StopSignal& stop) : order_(query), skip_(query.plan->skip), wanted_(uint64_t{query.plan->skip} + query.plan->k) {
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
    if (wanted_ > 0) begin();
    while (!heads_.empty() && taken_ < wanted_) {
      std::pop_heap(heads_.begin(), heads_.end(), Later{order_});
      Head& head = heads_.back();
      if (taken_++ >= skip_) hits.push_back(head.candidate);
      advance(head);
    }
    return {total_, std::move(hits)};
  }

 private:
  struct Head {
    Candidate candidate;
    SegmentListing* listing;
  };
  struct Later {
    const PageOrder& order;
    bool operator()(const Head& a, const Head& b) const noexcept { return order.better(b.candidate, a.candidate); }
  };

  void begin() {
    // A single segment is its own order: what is skipped need not be looked at.
    if (listings_.size() == 1) taken_ = listings_.front().skip(skip_);
    for (SegmentListing& listing : listings_) {
      heads_.push_back({{}, &listing});
      if (listing.total() > 0)
        advance(heads_.back());
      else
        heads_.pop_back();
    }
  }

  // Puts the last head, which is in no heap yet, at its listing's next match; drops it at the end.
  void advance(Head& head) {
    const uint32_t slot = head.listing->next(wanted_ - taken_);
    if (slot == kEndOfList) return heads_.pop_back();
    head.candidate = order_.candidate(head.listing->index(), slot, 0);
    std::push_heap(heads_.begin(), heads_.end(), Later{order_});
  }

  PageOrder order_;
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
