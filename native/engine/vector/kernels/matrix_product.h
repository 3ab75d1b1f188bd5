// Product of two float matrices, computed in blocks that stay in registers. Compiled once for each
// instruction set (vector_kernels.cc). Pure.
#pragma once

#include <cstddef>
#include <cstring>

namespace mds {

// Rows with a distance of `stride` floats.
struct MatrixRows {
  const float* values;
  size_t stride;
};

namespace matrix {

// A vector type that the compiler maps to one register, or to two or four smaller registers.
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
inline constexpr size_t kLaneColumns = 16;
inline constexpr size_t kBlockRows = 4;

template <size_t kRows, size_t kLanes>
[[gnu::always_inline]] inline void multiply_block(MatrixRows left, size_t inner, MatrixRows right, float* out, size_t outStride) noexcept {
  Lanes sums[kRows][kLanes] = {};
  for (size_t at = 0; at < inner; ++at) {
    const auto* from = reinterpret_cast<const Lanes*>(right.values + at * right.stride);
    for (size_t row = 0; row < kRows; ++row) {
      const float factor = left.values[row * left.stride + at];
      for (size_t lane = 0; lane < kLanes; ++lane) sums[row][lane] += from[lane] * factor;
    }
  }
  for (size_t row = 0; row < kRows; ++row) std::memcpy(out + row * outStride, &sums[row], sizeof sums[row]);
}

template <size_t kLanes>
[[gnu::always_inline]] inline void multiply_columns(MatrixRows left, size_t rows, size_t inner, MatrixRows right, float* out, size_t outStride) noexcept {
  size_t row = 0;
  for (; row + kBlockRows <= rows; row += kBlockRows) {
    multiply_block<kBlockRows, kLanes>({left.values + row * left.stride, left.stride}, inner, right, out + row * outStride, outStride);
  }
  for (; row < rows; ++row) multiply_block<1, kLanes>({left.values + row * left.stride, left.stride}, inner, right, out + row * outStride, outStride);
}

// Computes out (rows x columns, row-major) = left (rows x inner) x right (inner x columns). `columns` must be
// a multiple of 16.
[[gnu::always_inline]] inline void multiply(MatrixRows left, size_t rows, size_t inner, MatrixRows right, size_t columns, float* out) noexcept {
  size_t column = 0;
  for (; column + 2 * kLaneColumns <= columns; column += 2 * kLaneColumns) {
    multiply_columns<2>(left, rows, inner, {right.values + column, right.stride}, out + column, columns);
  }
  if (column < columns) multiply_columns<1>(left, rows, inner, {right.values + column, right.stride}, out + column, columns);
}

}  // namespace matrix
}  // namespace mds
