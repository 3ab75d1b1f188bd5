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

  // Skips most of the offset without merging. With r left to skip and s segments, it peeks p slots ahead in
  // each, p <= r/s. Consider the smallest of these slots in page order: up to it, its own segment has p slots
  // and every other segment has fewer. Together they have no more than r, so that all p of its segment can be
  // skipped. Only that segment is peeked into again while p stays below r/s: with p = r/2s, half of r is
  // skipped in s peeks. Takes 2 s log2(r) peeks instead of r steps.
  void leap() {
    std::vector<Head> ahead;
    for (SegmentListing& listing : listings_) {
      if (listing.left() > 0) ahead.push_back({{}, &listing, true});
    }
    uint64_t step = 0;
    const auto look = [&](Head& head) {
      const uint64_t last = std::min<uint64_t>(step, head.listing->left()) - 1;
      head.candidate = order_.candidate(head.listing->index(), head.listing->peek(last), 0);
    };
    while (!ahead.empty() && skip_ - taken_ >= kLeapMin * ahead.size()) {
      const uint64_t share = (skip_ - taken_) / ahead.size();
      // Much shorter steps than possible are left when segments have ended.
      if (step > share || step < share / 4) {
        step = share / 2;
        std::for_each(ahead.begin(), ahead.end(), look);
      }
      const auto first = std::min_element(ahead.begin(), ahead.end(), [this](const Head& a, const Head& b) { return order_.better(a.candidate, b.candidate); });
      SegmentListing& listing = *first->listing;
      taken_ += listing.pass(std::min<uint64_t>(step, listing.left()));
      if (stop_.stopped()) return;
      if (listing.left() > 0) {
        look(*first);
      } else {
        ahead.erase(first);
      }
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
