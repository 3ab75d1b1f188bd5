// Eight-bit codes of vectors: scans and graphs read them instead of the f32 vectors, at a quarter of the
// bytes. A vector is about `scale` times its codes; `residual` is the length of the difference, so that
// bounds of a score follow from the codes alone. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace mds {

struct CodedVector {
  float scale;     // 0: all elements are zero
  float residual;  // length of vector minus scale x codes, rounded up
  float norm;      // length of the vector
};

static_assert(sizeof(CodedVector) == 12);  // stored as it is

// Writes vector.size() codes of -127 to 127. All elements are finite.
[[nodiscard]] CodedVector encode_vector(std::span<const float> vector, int8_t* codes) noexcept;

[[nodiscard]] inline float code_weight(const CodedVector& coded) noexcept { return coded.norm > 0 ? coded.scale / coded.norm : 0; }

// Bytes of the codes of one vector, padded so that each row begins at a cache line.
[[nodiscard]] constexpr size_t code_stride(size_t dims) noexcept { return (dims + 63) / 64 * 64; }

// Whether all elements are finite and so small that no sum of products overflows.
[[nodiscard]] bool is_usable(std::span<const float> vector) noexcept;

}  // namespace mds
