// See code_scan.h.
#include "vector/scan/code_scan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "vector/kernels/vector_kernels.h"

namespace mds {
namespace {

struct BoundedSlot {
  double upper;
  uint32_t slot;
};

// Computes the inner products of the query with those rows of a block that pass. Calls `visit(row, dot)` for
// each.
template <class Visit>
void visit_dots(const BlockRef& block, const BlockBits& passing, uint32_t rowBegin, uint32_t rowEnd, const VectorQuery& query, Visit visit) {
  const size_t dims = query.full().size();
  const VectorKernels& kernels = vector_kernels();
  uint32_t passed = 0;
  for (const uint64_t word : passing) passed += static_cast<uint32_t>(std::popcount(word));
  // If most rows of the block pass, all rows are computed in one call.
  if (passed > (rowEnd - rowBegin) / 4 * 3) {
    std::array<int32_t, kBlockSlots> dots;
    kernels.dot_i8_rows(query.codes(), block.codes->codes(rowBegin), code_stride(dims), dims, rowEnd - rowBegin, dots.data());
    for (uint32_t row = rowBegin; row < rowEnd; ++row) {
      if (has_row(passing, row)) visit(row, dots[row - rowBegin]);
    }
    return;
  }
  for (size_t word = rowBegin / 64; word * 64 < rowEnd; ++word) {
    for (uint64_t left = passing[word]; left != 0; left &= left - 1) {
      const uint32_t row = static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(left));
      if (row >= rowBegin && row < rowEnd) visit(row, kernels.dot_i8(query.codes(), block.codes->codes(row), dims));
    }
  }
}

template <class Visit>
void visit_range(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, StopSignal& stop, Visit visit) {
  for (uint32_t begin = range.begin; begin < range.end;) {
    const uint32_t block = begin / kBlockSlots;
    const uint32_t end = std::min(range.end, (block + 1) * kBlockSlots);
    visit_dots(view.blocks[block], filter.rows(block), begin % kBlockSlots, end - block * kBlockSlots, query,
               [&](uint32_t row, int32_t dot) { visit(view.blocks[block], block * kBlockSlots + row, row, dot); });
    begin = end;
    if (stop.after(kBlockSlots / 4)) return;
  }
}

// Scores the slots by their f32 vectors in descending order of upper bound. Stops when the next slot cannot
// be among the best.
void score_slots(const SetView& view, const VectorQuery& query, std::vector<BoundedSlot>& slots, double bound, size_t most, BestDocuments& best, StopSignal& stop) {
  std::erase_if(slots, [&](const BoundedSlot& slot) { return slot.upper < bound; });
  std::sort(slots.begin(), slots.end(), [](const BoundedSlot& a, const BoundedSlot& b) { return a.upper > b.upper; });
  // The ranks of the slots scored so far. Bounds are ranks, too.
  BestDocuments ranks(most);
  size_t untilCut = most;
  for (const BoundedSlot& slot : slots) {
    if (slot.upper < ranks.bound() || stop.after(8)) return;
    const SlotIdentity& identity = view.identity(slot.slot);
    const float norm = view.coded(slot.slot).norm;
    const VectorQuery::Scored scored = query.score(view.full(slot.slot), norm);
    best.add({scored.score, identity.docid, slot.slot});
    ranks.add({scored.rank, identity.docid, slot.slot});
    if (--untilCut == 0) {
      (void)ranks.cut();
      untilCut = std::max<size_t>(most / 2, 8);
    }
  }
}

// The slots of one worker's pieces that may be among the best.
struct BoundedScan {
  explicit BoundedScan(size_t most) : lowest(most) {}

  void add(const BlockRef& block, uint32_t slot, uint32_t row, int32_t dot, const VectorQuery& query) {
    const VectorQuery::Bounds bounds = query.bounds(dot, block.codes->coded(row));
    const double upper = bounds.rank + bounds.error;
    if (upper < lowest.bound()) return;
    slots.push_back({upper, slot});
    lowest.add({bounds.rank - bounds.error, block.codes->identity(row).docid, slot});
  }

  BestDocuments lowest;
  std::vector<BoundedSlot> slots;
};

}  // namespace

void scan_exactly(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop) {
  BoundedScan scan(most);
  visit_range(view, filter, range, query, stop, [&](const BlockRef& block, uint32_t slot, uint32_t row, int32_t dot) { scan.add(block, slot, row, dot, query); });
  (void)scan.lowest.cut();
  score_slots(view, query, scan.slots, scan.lowest.bound(), most, best, stop);
}

void scan_exactly_shared(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop,
                         ScanHelpers& helpers, uint32_t threads) {
  std::vector<BoundedScan> scans(threads, BoundedScan(most));
  std::atomic<uint32_t> nextPiece{0};
  const uint32_t pieces = (view.slots + kScanPieceSlots - 1) / kScanPieceSlots;
  helpers.share(threads, [&](uint32_t worker) {
    BoundedScan& scan = scans[worker];
    StopSignal ownStop = stop;
    for (uint32_t piece = nextPiece.fetch_add(1, std::memory_order_relaxed); piece < pieces && !ownStop.stopped();
         piece = nextPiece.fetch_add(1, std::memory_order_relaxed)) {
      const uint32_t begin = piece * kScanPieceSlots;
      visit_range(view, filter, {begin, std::min(begin + kScanPieceSlots, view.slots)}, query, ownStop,
                  [&](const BlockRef& block, uint32_t slot, uint32_t row, int32_t dot) { scan.add(block, slot, row, dot, query); });
    }
  });
  BoundedScan& whole = scans.front();
  for (uint32_t worker = 1; worker < threads; ++worker) {
    whole.slots.insert(whole.slots.end(), scans[worker].slots.begin(), scans[worker].slots.end());
    for (const VectorCandidate& candidate : scans[worker].lowest.cut()) whole.lowest.add(candidate);
  }
  (void)whole.lowest.cut();
  score_slots(view, query, whole.slots, whole.lowest.bound(), most, best, stop);
}

void scan_codes(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, std::vector<uint32_t>& found, StopSignal& stop) {
  BestDocuments best(most);
  visit_range(view, filter, range, query, stop, [&](const BlockRef& block, uint32_t slot, uint32_t row, int32_t dot) {
    best.add({query.bounds(dot, block.codes->coded(row)).rank, block.codes->identity(row).docid, slot});
  });
  for (const VectorCandidate& candidate : best.cut()) found.push_back(candidate.slot);
}

}  // namespace mds
