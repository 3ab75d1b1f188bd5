// Finds the best slots by an estimate of the inner product. Shared by the index kinds with their own codes.
#pragma once

#include <algorithm>
#include <bit>

#include "base/stop_signal.h"
#include "vector/codes/vector_query.h"
#include "vector/scan/best_documents.h"
#include "vector/set/slot_filter.h"

namespace mds {

// `estimate(slot)` estimates the inner product of the query and the slot's vector. Appends to `found` the
// slots of the best `wanted` documents among the slots [0, end) that pass, unordered. Incomplete if `stop` is
// set.
template <class Estimate>
void scan_estimates(const SetView& view, const SlotFilter& filter, uint32_t end, const VectorQuery& query, size_t wanted, std::vector<uint32_t>& found, StopSignal& stop,
                    Estimate estimate) {
  BestDocuments best(wanted);
  for (uint32_t begin = 0; begin < end && !stop.after(kBlockSlots / 4); begin += kBlockSlots) {
    const BlockBits& passing = filter.rows(begin / kBlockSlots);
    const CodeBlock& block = *view.block_of(begin).codes;
    const uint32_t rows = std::min(kBlockSlots, end - begin);
    for (size_t word = 0; word * 64 < rows; ++word) {
      for (uint64_t left = passing[word]; left != 0; left &= left - 1) {
        const uint32_t row = static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(left));
        if (row >= rows) break;
        const RankFormula formula = query.formula(block.coded(row).norm);
        best.add({formula.factor * estimate(begin + row) + formula.offset, block.identity(row).docid, begin + row});
      }
    }
  }
  for (const VectorCandidate& candidate : best.cut()) found.push_back(candidate.slot);
}

}  // namespace mds
