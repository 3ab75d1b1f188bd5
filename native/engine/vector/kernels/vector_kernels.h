// SIMD distance kernels: those of NumKong (part of the npm package usearch) and some of the engine's own. The
// best ones for the processor are chosen when the engine is loaded. Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vector/kernels/matrix_product.h"

namespace mds {

struct VectorKernels {
  const char* isa;  // of dot_i8, which takes most of the time
  // Inner product of two vectors of `dims` codes.
  int32_t (*dot_i8)(const int8_t* a, const int8_t* b, size_t dims) noexcept;
  // Inner products of `query` with each of `count` rows at a distance of `stride` bytes. Writes them to
  // `dots`.
  void (*dot_i8_rows)(const int8_t* query, const int8_t* rows, size_t stride, size_t dims, uint32_t count, int32_t* dots) noexcept;
  // The same for rows at arbitrary addresses.
  void (*dot_i8_list)(const int8_t* query, const int8_t* const* rows, size_t dims, uint32_t count, int32_t* dots) noexcept;
  // Each of the `bytes` bytes (a multiple of 64) contains two codes of 0 to 15. Returns the sum of the codes
  // in the lower halves multiplied by `low` and those in the upper halves multiplied by `high`.
  int32_t (*dot_u4)(const int8_t* low, const int8_t* high, const uint8_t* codes, size_t bytes) noexcept;
  // Summed in doubles. Used for scores.
  double (*dot_f32)(const float* a, const float* b, size_t dims) noexcept;
  // See matrix_product.h, table_lookup.h.
  void (*multiply)(MatrixRows left, size_t rows, size_t inner, MatrixRows right, size_t columns, float* out) noexcept;
  uint64_t (*sum_tables)(const uint8_t* codes, const uint8_t* tables, size_t pairs, uint16_t least, uint16_t* sums) noexcept;
};

[[nodiscard]] const VectorKernels& vector_kernels() noexcept;
// Plain C. The reference kernels: a test compares the other kernels with them.
[[nodiscard]] const VectorKernels& serial_vector_kernels() noexcept;

}  // namespace mds
