// The best `skip + k` matches of a search in the plan's order (page_order.h). Used by one search on one
// thread.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "query/page/page_order.h"
#include "query/plan/resolved_query.h"

namespace mds {

class TopK {
 public:
  explicit TopK(const ResolvedQuery& query);

  // Counts a live match and keeps it if it is among the best so far.
  void collect(uint32_t segment, uint32_t slot, double score) {
    ++total_;
    if (!(score < scoreFloor_)) keep(segment, slot, score);
  }

  // With the order by score: a match with a score below it cannot enter any more. A match with an equal score
  // can, by its key. Minus infinity until the collector is full.
  [[nodiscard]] double score_floor() const noexcept { return scoreFloor_; }
  // skip + k.
  [[nodiscard]] uint64_t wanted() const noexcept { return wanted_; }
  [[nodiscard]] uint64_t total() const noexcept { return total_; }
  // Returns the hits of the page, best first, and empties the collector.
  [[nodiscard]] std::vector<Candidate> take_page();

 private:
  void keep(uint32_t segment, uint32_t slot, double score);

  const ResolvedQuery& query_;
  PageOrder order_;
  uint64_t wanted_;
  uint64_t total_ = 0;
  // With the order by score, once the collector is full: no score below it can enter.
  double scoreFloor_ = -std::numeric_limits<double>::infinity();
  std::vector<Candidate> heap_;  // a heap, worst first
};

}  // namespace mds
