// The effect of boosts on the documents of one segment: the factor of each document, and the passes in which
// ranked search visits them. Each pass covers documents of about the same factor, highest factor first. The
// scores of the boosted documents raise the threshold, so that most of the other documents are skipped. Used
// by one search on one thread. Valid while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"
#include "query/plan/resolved_query.h"

namespace mds {

struct BoostPass {
  std::optional<SlotBits> documents;  // empty: all documents of the segment
  double factorMost;                  // upper bound of the factors of the pass's documents
};

class SegmentBoosts {
 public:
  // The object is incomplete once `stop` is set.
  SegmentBoosts(const ResolvedSegment& segment, const std::vector<Boost>& boosts, StopSignal& stop);

  // Whether no document of the segment has a boosted value.
  [[nodiscard]] bool is_empty() const noexcept { return boosted_.empty(); }
  // The product of the boosts that apply, in their order; at least kBoostFloor.
  [[nodiscard]] double factor(uint32_t slot) const noexcept;
  // Every document is in exactly one pass.
  [[nodiscard]] const std::vector<BoostPass>& passes() const noexcept { return passes_; }

 private:
  struct Boosted {
    SlotBits documents;
    double factor;
  };
  void make_passes(const CollectionEntry& collection);

  std::vector<Boosted> boosted_;
  std::vector<BoostPass> passes_;
};

}  // namespace mds
