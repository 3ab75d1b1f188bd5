// An orthogonal matrix that rotates vectors; without a matrix they stay unchanged. Dimensions are a multiple
// of 16. Pure.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "vector/set/training_sample.h"

namespace mds {

class Rotation {
 public:
  Rotation() = default;
  [[nodiscard]] static Rotation identity(size_t dims);
  // The rotation R for which the rotated rows of `from` are nearest to those of `to`: the orthogonal part of
  // from^T x to (Procrustes), found by Newton-Schulz.
  [[nodiscard]] static Rotation between(const FloatRows& from, const FloatRows& to, const std::atomic<bool>& stop);

  [[nodiscard]] FloatRows turn(FloatRows rows) const;
  [[nodiscard]] uint64_t bytes() const noexcept { return matrix_.size() * sizeof(float); }

 private:
  explicit Rotation(std::vector<float> matrix, size_t dims) noexcept : dims_(dims), matrix_(std::move(matrix)) {}

  size_t dims_ = 0;
  std::vector<float> matrix_;  // row-major: a vector is a row, multiplied from the left
};

}  // namespace mds
