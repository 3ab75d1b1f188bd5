// See rotation.h.
#include "vector/trained/rotation.h"

#include <algorithm>
#include <cmath>

#include "vector/kernels/vector_kernels.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

// Number of rows whose correlation is summed at a time. With 384 dimensions both blocks fit in the
// second-level cache.
constexpr size_t kRowsPerRotation = 512;

void multiply(const std::vector<float>& a, const std::vector<float>& b, size_t dims, std::vector<float>& out) {
  vector_kernels().multiply({a.data(), dims}, dims, dims, {b.data(), dims}, dims, out.data());
}

std::vector<float> transposed(const float* matrix, size_t rows, size_t columns) {
  std::vector<float> out(rows * columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) out[column * rows + row] = matrix[row * columns + column];
  }
  return out;
}

// Computes from^T x to, scaled to Frobenius norm 1. This bounds the singular values.
std::vector<float> correlation(const FloatRows& from, const FloatRows& to) {
  const size_t dims = from.dims;
  std::vector<float> matrix(dims * dims);
  std::vector<float> part(dims * dims);
  for (size_t begin = 0; begin < from.count(); begin += kRowsPerRotation) {
    const size_t rows = std::min(kRowsPerRotation, from.count() - begin);
    vector_kernels().multiply({transposed(from.row(begin), rows, dims).data(), rows}, dims, rows, {to.row(begin), dims}, dims, part.data());
    for (size_t index = 0; index < matrix.size(); ++index) matrix[index] += part[index];
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
  // A direction without data has no orthogonal part. A small multiple of the identity is added.
  for (size_t index = 0; index < dims; ++index) matrix[index * dims + index] += kRotationFloor;
  std::vector<float> square(matrix.size());
  std::vector<float> cube(matrix.size());
  // X <- (3 X - X X^T X) / 2 increases each singular value by a factor of up to 3/2 until it is 1.
  for (uint32_t iteration = 0; iteration < kPolarIterations && !stop.load(std::memory_order_relaxed); ++iteration) {
    multiply(matrix, transposed(matrix.data(), dims, dims), dims, square);
    multiply(square, matrix, dims, cube);
    for (size_t index = 0; index < matrix.size(); ++index) matrix[index] = 1.5F * matrix[index] - 0.5F * cube[index];
  }
  return Rotation(std::move(matrix), dims);
}

FloatRows Rotation::turn(FloatRows rows) const {
  if (matrix_.empty()) return rows;
  FloatRows turned{dims_, std::vector<float>(rows.values.size())};
  vector_kernels().multiply({rows.values.data(), dims_}, rows.count(), dims_, {matrix_.data(), dims_}, dims_, turned.values.data());
  return turned;
}

}  // namespace mds
