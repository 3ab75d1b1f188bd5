// k-means, and a search for the nearest centres of many rows at once. The same rows always produce the same
// centres. Pure.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "vector/kernels/matrix_product.h"
#include "vector/set/training_sample.h"

namespace mds {

// Centres prepared for products with many rows.
class CentreTable {
 public:
  CentreTable() = default;
  explicit CentreTable(const FloatRows& centres);

  [[nodiscard]] size_t count() const noexcept { return count_; }
  // Finds the nearest centre of each row; of equal ones the first.
  void nearest(MatrixRows rows, size_t count, uint32_t* nearest) const;
  // Computes the inner products of one row with all centres. `products` is resized to at least the number of
  // centres.
  void products(const float* row, std::vector<float>& products) const;
  // Computes the closeness of each centre. A larger value means that the centre is nearer to the row.
  void closeness(const float* row, std::vector<float>& closeness) const;
  [[nodiscard]] uint64_t bytes() const noexcept { return (columns_.size() + halves_.size()) * sizeof(float); }

 private:
  size_t dims_ = 0;
  size_t count_ = 0;
  size_t width_ = 0;            // count, padded
  std::vector<float> columns_;  // dims x width: the transposed centres
  // Half the squared length of each centre. The padding has a value so large that it is never nearest.
  std::vector<float> halves_;
};

// Computes at most `k` centres of the columns [columnBegin, columnBegin + columns) of the rows. Returns fewer
// if there are fewer rows, but at least one. Less accurate if `stop` is set.
[[nodiscard]] FloatRows kmeans(const FloatRows& rows, size_t columnBegin, size_t columns, size_t k, uint32_t iterations, const std::atomic<bool>& stop);

}  // namespace mds
