// A query vector prepared for one search, and the formulas of its metric. The score is the cosine, the inner
// product, or 1 / (1 + distance) for euclidean. A larger score is better with all three. Used by one search
// on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vector/codes/vector_block.h"
#include "vector/codes/vector_codes.h"

namespace mds {

enum class VectorMetric : uint32_t { kCosine = 0, kDotProduct = 1, kEuclidean = 2 };

// The rank of a vector is `factor` x inner product + `offset`. The score is an increasing function of the
// rank, so the ranks of one query have the order of its scores.
struct RankFormula {
  double factor;
  double offset;
};

class VectorQuery {
 public:
  // Borrows `vector`. Its elements must be usable (vector_codes.h).
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
  // Scores the vector of a row. Sums are computed in doubles.
  [[nodiscard]] Scored score(const float* vector, float norm) const noexcept;

  struct Bounds {
    double rank;   // computed from the codes
    double error;  // upper bound of the error in both directions
  };
  // Bounds of the rank of a row, given the inner product of its codes. Cauchy-Schwarz: q.x = q'.x' + q'.(x -
  // x') + (q - q').x where q' and x' are the vectors that the codes represent.
  [[nodiscard]] Bounds bounds(int32_t dot, const CodedVector& row) const noexcept {
    const RankFormula formula = this->formula(row.norm);
    const double product = double{coded_.scale} * double{row.scale} * static_cast<double>(dot);
    const double error =
        codedNorm_ * double{row.residual} + double{coded_.residual} * double{row.norm} + kFloatError * double{row.norm} * (double{coded_.norm} + double{row.norm});
    return {formula.factor * product + formula.offset, formula.factor * error};
  }

 private:
  // Lengths, scales and residuals are floats. Each contributes a few roundings of 2^-24.
  static constexpr double kFloatError = 1e-6;

  VectorMetric metric_;
  std::span<const float> full_;
  std::unique_ptr<int8_t[], FreeMemory> codes_;
  CodedVector coded_;
  double codedNorm_;  // length of the vector that the codes represent
  double perNorm_;    // 1 / length; 0 for a vector of zeros
};

}  // namespace mds
