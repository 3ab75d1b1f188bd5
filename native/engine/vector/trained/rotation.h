// An orthogonal matrix that rotates vectors. Without a matrix the vectors are unchanged. Dimensions must be a
// multiple of 16. Pure.
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
  // Returns the rotation R for which the rotated rows of `from` are nearest to the rows of `to`: the
  // orthogonal part of from^T x to (Procrustes), computed by Newton-Schulz iteration.
  [[nodiscard]] static Rotation between(const FloatRows& from, const FloatRows& to, const std::atomic<bool>& stop);

  [[nodiscard]] FloatRows turn(FloatRows rows) const;
  [[nodiscard]] uint64_t bytes() const noexcept { return matrix_.size() * sizeof(float); }

 private:
  explicit Rotation(std::vector<float> matrix, size_t dims) noexcept : dims_(dims), matrix_(std::move(matrix)) {}

  size_t dims_ = 0;
  std::vector<float> matrix_;  // row-major; a vector is a row, multiplied from the left
};

}  // namespace mds
