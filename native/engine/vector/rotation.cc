// See rotation.h.
#include "vector/rotation.h"

#include <algorithm>
#include <cmath>

#include "vector/vector_limits.h"

namespace mds {
namespace {

// out += a x b, all dims x dims and row-major: row by row, so that the inner loop runs along memory.
void multiply(const std::vector<float>& a, const std::vector<float>& b, size_t dims, std::vector<float>& out) {
  std::fill(out.begin(), out.end(), 0.0F);
  for (size_t row = 0; row < dims; ++row) {
    float* to = out.data() + row * dims;
    for (size_t inner = 0; inner < dims; ++inner) {
      const float factor = a[row * dims + inner];
      const float* from = b.data() + inner * dims;
      for (size_t column = 0; column < dims; ++column) to[column] += factor * from[column];
    }
  }
}

std::vector<float> transposed(const std::vector<float>& matrix, size_t dims) {
  std::vector<float> out(matrix.size());
  for (size_t row = 0; row < dims; ++row) {
    for (size_t column = 0; column < dims; ++column) out[column * dims + row] = matrix[row * dims + column];
  }
  return out;
}

// from^T x to, scaled to Frobenius norm 1, which bounds the singular values.
std::vector<float> correlation(const FloatRows& from, const FloatRows& to) {
  const size_t dims = from.dims;
  std::vector<float> matrix(dims * dims);
  for (size_t row = 0; row < from.count(); ++row) {
    for (size_t left = 0; left < dims; ++left) {
      const float factor = from.row(row)[left];
      float* out = matrix.data() + left * dims;
      for (size_t right = 0; right < dims; ++right) out[right] += factor * to.row(row)[right];
    }
  }
  double squares = 0;
  for (const float element : matrix) squares += double{element} * double{element};
  for (float& element : matrix) element = squares > 0 ? element / static_cast<float>(std::sqrt(squares)) : 0;
  return matrix;
}

}  // namespace

Rotation Rotation::identity(size_t dims) {
  std::vector<float> matrix(dims * dims);
  for (size_t index = 0; index < dims; ++index) matrix[index * dims + index] = 1;
  return Rotation(std::move(matrix), dims);
}

Rotation Rotation::between(const FloatRows& from, const FloatRows& to, const std::atomic<bool>& stop) {
  const size_t dims = from.dims;
  std::vector<float> matrix = correlation(from, to);
  // A direction in which there is nothing has no orthogonal part: a little of each axis.
  for (size_t index = 0; index < dims; ++index) matrix[index * dims + index] += kRotationFloor;
  std::vector<float> square(matrix.size());
  std::vector<float> cube(matrix.size());
  // X <- (3 X - X X^T X) / 2 grows each singular value by up to 3/2 until it is 1.
  for (uint32_t iteration = 0; iteration < kPolarIterations && !stop.load(std::memory_order_relaxed); ++iteration) {
    multiply(matrix, transposed(matrix, dims), dims, square);
    multiply(square, matrix, dims, cube);
    for (size_t index = 0; index < matrix.size(); ++index) matrix[index] = 1.5F * matrix[index] - 0.5F * cube[index];
  }
  return Rotation(std::move(matrix), dims);
}

std::vector<float> Rotation::turn(const std::vector<float>& vector) const {
  if (matrix_.empty()) return vector;
  std::vector<float> turned(dims_);
  for (size_t row = 0; row < dims_; ++row) {
    const float factor = vector[row];
    for (size_t column = 0; column < dims_; ++column) turned[column] += factor * matrix_[row * dims_ + column];
  }
  return turned;
}

FloatRows Rotation::turn(const FloatRows& rows) const {
  if (matrix_.empty()) return rows;
  FloatRows turned{dims_, {}};
  for (size_t row = 0; row < rows.count(); ++row) {
    const std::vector<float> one = turn(std::vector<float>(rows.row(row), rows.row(row) + dims_));
    turned.values.insert(turned.values.end(), one.begin(), one.end());
  }
  return turned;
}

}  // namespace mds
