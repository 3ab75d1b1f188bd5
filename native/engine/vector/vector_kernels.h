// Distances by SIMD: NumKong's kernels (they come with the npm package usearch), the best of the processor chosen when the engine is loaded. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mds {

struct VectorKernels {
  const char* isa;  // of dot_i8, on which most time goes
  // Inner product of two vectors of `dims` codes.
  int32_t (*dot_i8)(const int8_t* a, const int8_t* b, size_t dims) noexcept;
  // The same of `query` with each of `count` rows, which lie `stride` bytes apart; into `dots`.
  void (*dot_i8_rows)(const int8_t* query, const int8_t* rows, size_t stride, size_t dims, uint32_t count, int32_t* dots) noexcept;
  // The same with rows anywhere.
  void (*dot_i8_list)(const int8_t* query, const int8_t* const* rows, size_t dims, uint32_t count, int32_t* dots) noexcept;
  // Two codes of -8 to 7 a byte; `dims` is even.
  int32_t (*dot_i4)(const uint8_t* a, const uint8_t* b, size_t dims) noexcept;
  // Summed in doubles: what scores are made of.
  double (*dot_f32)(const float* a, const float* b, size_t dims) noexcept;
  // Bits that differ; `bits` is a multiple of 8.
  uint32_t (*hamming)(const uint8_t* a, const uint8_t* b, size_t bits) noexcept;
};

[[nodiscard]] const VectorKernels& vector_kernels() noexcept;
// Plain C: what the others are compared with by a test.
[[nodiscard]] const VectorKernels& serial_vector_kernels() noexcept;

}  // namespace mds
