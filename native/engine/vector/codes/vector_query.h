// A query vector prepared for one search, and the formulas of its metric. Scores: cosine; inner product; 1 /
// (1 + distance) for euclidean, so that larger is better with all three. Used by one search on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vector/codes/vector_block.h"
#include "vector/codes/vector_codes.h"

namespace mds {

enum class VectorMetric : uint32_t { kCosine = 0, kDotProduct = 1, kEuclidean = 2 };

// A score is a growing function of `factor` x inner product + `offset`, its rank. Ranks of one query compare
// as its scores do.
struct RankFormula {
  double factor;
  double offset;
};

class VectorQuery {
 public:
  // Borrows `vector`, whose elements are usable (vector_codes.h).
  VectorQuery(VectorMetric metric, std::span<const float> vector);

  [[nodiscard]] VectorMetric metric() const noexcept { return metric_; }
  [[nodiscard]] std::span<const float> full() const noexcept { return full_; }
  [[nodiscard]] const int8_t* codes() const noexcept { return codes_.get(); }
  [[nodiscard]] const CodedVector& coded() const noexcept { return coded_; }

  [[nodiscard]] RankFormula formula(float norm) const noexcept;
  struct Scored {
    double score;
    double rank;
  };
  // Score of the vector in the row; summed in doubles.
  [[nodiscard]] Scored score(const float* vector, float norm) const noexcept;

  struct Bounds {
    double rank;   // by the codes
    double error;  // upper bound of the error, either way
  };
  // Bounds for a row with this inner product of codes. Cauchy-Schwarz: q.x = q'.x' + q'.(x - x') + (q - q').x
  // where q', x' are the vectors that the codes represent.
  [[nodiscard]] Bounds bounds(int32_t dot, const CodedVector& row) const noexcept {
    const RankFormula formula = this->formula(row.norm);
    const double product = double{coded_.scale} * double{row.scale} * static_cast<double>(dot);
    const double error =
        codedNorm_ * double{row.residual} + double{coded_.residual} * double{row.norm} + kFloatError * double{row.norm} * (double{coded_.norm} + double{row.norm});
    return {formula.factor * product + formula.offset, formula.factor * error};
  }

 private:
  // Lengths, scales and residuals are floats: some roundings of 2^-24 each.
  static constexpr double kFloatError = 1e-6;

  VectorMetric metric_;
  std::span<const float> full_;
  std::unique_ptr<int8_t[], FreeMemory> codes_;
  CodedVector coded_;
  double codedNorm_;  // length of the vector that the codes represent
  double perNorm_;    // 1 / length; 0 for a vector of zeros
};

}  // namespace mds
