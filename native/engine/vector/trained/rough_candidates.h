// The best slots by four-bit codes, narrowed to the best by eight-bit codes. A search reads the f32 vectors
// of the latter only. Used by one search on one thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "vector/codes/vector_query.h"
#include "vector/scan/best_documents.h"
#include "vector/set/slot_filter.h"
#include "vector/trained/table_codes.h"

namespace mds {

class RoughCandidates {
 public:
  // `codes` must outlive this object. `turned` is the query with the same rotation and padding as the encoded
  // vectors.
  RoughCandidates(const SetView& view, const VectorQuery& query, const TableCodes& codes, const FloatRows& turned, size_t most)
      : view_(view), query_(query), codes_(codes), tables_(codes.tables(turned)), isRankedBySums_(query.metric() == VectorMetric::kCosine || view.isUnit), most_(most) {
    if (isRankedBySums_) counts_.resize(tables_.sumMax + 1);
  }

  // Adds those rows of one group that are set in `passing`. `slot_of(row)` returns the slot of a row. A slot
  // for which `passes(slot)` is false is skipped.
  template <class SlotOf, class Passes>
  void add_group(size_t group, uint64_t passing, SlotOf slot_of, Passes passes) {
    const uint64_t found = codes_.sum(tables_, group, least_, sums_) & passing;
    for (uint64_t left = found; left != 0; left &= left - 1) {
      const auto row = static_cast<uint32_t>(std::countr_zero(left));
      const uint32_t slot = slot_of(row);
      if (passes(slot)) add(sums_[row], slot);
    }
  }

  // Appends the slots of the best `wanted` documents by their eight-bit codes to `found`, unordered.
  void narrow(size_t wanted, std::vector<uint32_t>& found, StopSignal& stop) {
    cut();
    // Sorted into memory order.
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.slot < b.slot; });
    BestDocuments best(wanted);
    const VectorKernels& kernels = vector_kernels();
    for (size_t index = 0; index < entries_.size() && !stop.after(1); ++index) {
      if (index + kAhead < entries_.size()) prefetch(entries_[index + kAhead].slot);
      const uint32_t slot = entries_[index].slot;
      const int32_t dot = kernels.dot_i8(query_.codes(), view_.codes(slot), view_.dims);
      best.add({query_.bounds(dot, view_.coded(slot)).rank, view_.identity(slot).docid, slot});
    }
    for (const VectorCandidate& candidate : best.cut()) found.push_back(candidate.slot);
  }

 private:
  static constexpr size_t kAhead = 4;

  struct Entry {
    float rank;
    uint32_t slot;
  };

  [[nodiscard]] float rank_of(uint16_t sum, uint32_t slot) const noexcept {
    const float norm = view_.coded(slot).norm;
    const RankFormula formula = query_.formula(norm);
    return static_cast<float>(formula.factor * double{norm} * double{tables_.offset + tables_.step * static_cast<float>(sum)} + formula.offset);
  }

  void add(uint16_t sum, uint32_t slot) {
    if (isRankedBySums_) {
      if (sum < least_) return;
      entries_.push_back({static_cast<float>(sum), slot});
      counts_[sum] += 1;
      counted_ += 1;
      // Enough entries exceed the least sum. Rows with that sum are no longer wanted.
      while (counted_ - counts_[least_] >= most_) counted_ -= counts_[least_++];
      return;
    }
    entries_.push_back({rank_of(sum, slot), slot});
    if (entries_.size() >= 2 * most_) cut();
  }

  void cut() {
    if (entries_.size() <= most_) return;
    std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(most_), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.rank != b.rank ? a.rank > b.rank : a.slot < b.slot; });
    entries_.resize(most_);
  }

  void prefetch(uint32_t slot) const noexcept {
    const int8_t* row = view_.codes(slot);
    for (size_t at = 0; at < view_.dims; at += 64) __builtin_prefetch(row + at);
  }

  const SetView& view_;
  const VectorQuery& query_;
  const TableCodes& codes_;
  QueryTables tables_;
  bool isRankedBySums_;  // vectors of equal length are in the order of their sums
  size_t most_;
  std::vector<uint32_t> counts_;  // number of entries by sum
  size_t counted_ = 0;            // number of entries with at least `least_`
  uint16_t least_ = 0;            // rows with a smaller sum are not wanted
  std::array<uint16_t, kGroupRows> sums_{};
  std::vector<Entry> entries_;
};

// Returns the query scaled to length 1 (or zeros), padded.
[[nodiscard]] inline FloatRows unit_query(const VectorQuery& query) {
  FloatRows unit{padded_dims(query.full().size()), {}};
  unit.values.resize(unit.dims);
  const float norm = query.coded().norm;
  for (size_t index = 0; index < query.full().size(); ++index) unit.values[index] = norm > 0 ? query.full()[index] / norm : 0;
  return unit;
}

}  // namespace mds
