// The contribution of one posting to the score of its leaf, in float: estimates that determine whether the
// exact score must be computed, and upper bounds from the impacts of a block. An estimate differs from the
// exact value by less than a few units in the last place. The threshold of a comparison is lowered by
// kEstimateSlack for each addition (estimate_threshold). Formulas: scoring.h. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "query/plan/scoring.h"
#include "segment/impacts.h"

namespace mds {

// 4 units in the last place of a float: three roundings of a formula in float, one of the addition, and a
// margin.
inline constexpr float kEstimateSlack = 1.0F / (1 << 21);

enum class EstimateKind : uint8_t { kTfidf, kBm25, kFieldTf, kFieldsWhole, kOccurrences };

class ScoreEstimate {
 public:
  // For the only list of its leaf in its segment: an estimate is the leaf's score.
  [[nodiscard]] static ScoreEstimate whole(const LeafScorer& scorer, size_t field) noexcept;
  // For one of several lists of a bm25f leaf: an estimate is the field's part of tf~. `finish` computes the
  // score from their sum.
  [[nodiscard]] static ScoreEstimate part(const LeafScorer& scorer, size_t field) noexcept;
  // For a phrase that is scored by its number of occurrences.
  [[nodiscard]] static ScoreEstimate occurrences() noexcept { return {EstimateKind::kOccurrences, 1, 0, 0, 0, 0}; }

  // Never below the estimate of any posting that the impacts cover.
  [[nodiscard]] float bound(const Impacts& impacts) const noexcept;
  // `tfs`, `lengths`, `out`: `count` values each, with space for a multiple of four; the padding is computed
  // as well.
  void estimate(const uint32_t* tfs, const uint32_t* lengths, uint32_t count, float* out) const noexcept;
  // Returns the score of a bm25f leaf from the sum of its parts.
  [[nodiscard]] float finish(float tfSum) const noexcept { return tfSum > 0 ? factor_ * tfSum / (k1_ + tfSum) : 0; }
  [[nodiscard]] bool needs_lengths() const noexcept { return kind_ != EstimateKind::kOccurrences; }
  // Whether the values stay within float's range. Values that may underflow or overflow must not be
  // estimated.
  [[nodiscard]] bool is_safe() const noexcept;

 private:
  ScoreEstimate(EstimateKind kind, float factor, float weight, float k1, float base, float slope) noexcept
      : kind_(kind), factor_(factor), weight_(weight), k1_(k1), base_(base), slope_(slope) {}
  [[nodiscard]] static ScoreEstimate make(EstimateKind kind, const LeafScorer& scorer, size_t field) noexcept;

  EstimateKind kind_;
  float factor_;
  float weight_;
  float k1_;
  float base_;
  float slope_;
};

// Returns the threshold for an estimate that is the sum of `terms` estimates. If the estimate is below the
// threshold, the exact score is below `floor`. Minus infinity if nothing may be skipped, so that every
// positive estimate passes.
[[nodiscard]] inline float estimate_threshold(double floor, size_t terms) noexcept {
  if (!(floor > 0)) return -std::numeric_limits<float>::infinity();
  const double lowered = floor * (1 - static_cast<double>(kEstimateSlack) * static_cast<double>(terms + 2));
  return static_cast<float>(lowered);
}

}  // namespace mds
