// The three scoring formulas, in float64, and the statistics that they require. Every evaluation path calls
// the same functions in the same order of leaves, so that scores are equal bit for bit whichever path runs.
//
// Statistics are sums over the segments of the snapshot: dead documents count until a merge drops them.
//   N       documents of the collection
//   df      documents with the term in the field
//   dl      tokens of the field in the document
//   avgdl   sum of dl over the documents that have the field, divided by their number
// With bm25f, the df of a term is the largest df over the scored fields. The df of the union would require a
// pass over the postings. It is between the largest df and the sum of the dfs.
#pragma once

#include <cstdint>
#include <vector>

#include "query/plan/search_plan.h"

namespace mds {

// Slope of the length normalization of tfidf: docs/decisions/search/ranking.md.
inline constexpr double kTfidfSlope = 0.2;

[[nodiscard]] double inverse_document_frequency(Algorithm algorithm, uint64_t documents, uint64_t df) noexcept;

// 1 + ln(tf); tf is at least 1.
[[nodiscard]] double damped_tf(uint32_t tf) noexcept;

// Scores one leaf: a term, or a phrase whose tf is its number of occurrences.
//   tfidf:  weight * (1 + ln tf) * ln(1 + N/df) / (1 - s + s * dl/avgdl)
//   bm25:   weight * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl/avgdl)),
//           idf = ln((N - df + 0.5)/(df + 0.5) + 1)
//   bm25f:  weight * idf * tf~ / (k1 + tf~),   tf~ = sum over fields of w * tf/(1 - b + b * dl/avgdl)
// Source: algorithms.md section 2 of the contract; Robertson, Zaragoza & Taylor, "Simple BM25 Extension to
// Multiple Weighted Fields", CIKM 2004.
class LeafScorer {
 public:
  // Per scored field: dl is used as lengthBase + lengthSlope * dl.
  struct FieldNorm {
    double weight;
    double lengthBase;
    double lengthSlope;
  };

  // `averageLengths`: per scored field of the plan. `idf`: of the term, or the sum over the terms of a
  // phrase. `weight`: number of times that the query contains the term; for a term of an expansion,
  // multiplied by its edit weight.
  LeafScorer(const SearchPlan& plan, const std::vector<double>& averageLengths, double idf, double weight);

  // For tfidf and bm25.
  [[nodiscard]] double score(size_t field, uint32_t tf, uint32_t length) const noexcept {
    const double norm = fields_[field].lengthBase + fields_[field].lengthSlope * length;
    return algorithm_ == Algorithm::kTfidf ? factor_ * damped_tf(tf) / norm : factor_ * tf / (tf + norm);
  }

  // For bm25f: one field's part of tf~, and the score of the sum.
  [[nodiscard]] double field_tf(size_t field, uint32_t tf, uint32_t length) const noexcept {
    return fields_[field].weight * tf / (fields_[field].lengthBase + fields_[field].lengthSlope * length);
  }
  [[nodiscard]] double score_sum(double tfSum) const noexcept { return tfSum > 0 ? factor_ * tfSum / (k1_ + tfSum) : 0; }

  [[nodiscard]] Algorithm algorithm() const noexcept { return algorithm_; }
  // weight * idf; with bm25 also multiplied by k1 + 1.
  [[nodiscard]] double factor() const noexcept { return factor_; }
  [[nodiscard]] double k1() const noexcept { return k1_; }
  [[nodiscard]] const FieldNorm& field_norm(size_t field) const noexcept { return fields_[field]; }

 private:
  Algorithm algorithm_;
  double factor_;
  double k1_;
  std::vector<FieldNorm> fields_;
};

}  // namespace mds
