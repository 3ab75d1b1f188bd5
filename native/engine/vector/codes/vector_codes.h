// Eight-bit codes of vectors. Scans and graphs read them instead of the f32 vectors, which take four times as
// many bytes. A vector is approximately `scale` times its codes. `residual` is the length of the difference,
// so bounds of a score can be computed from the codes alone. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace mds {

struct CodedVector {
  float scale;     // 0: all elements are zero
  float residual;  // length of (vector - scale x codes), rounded up
  float norm;      // length of the vector
};

static_assert(sizeof(CodedVector) == 12);  // stored in this layout

// Writes vector.size() codes in the range -127 to 127. All elements must be finite.
[[nodiscard]] CodedVector encode_vector(std::span<const float> vector, int8_t* codes) noexcept;

[[nodiscard]] inline float code_weight(const CodedVector& coded) noexcept { return coded.norm > 0 ? coded.scale / coded.norm : 0; }

// Size in bytes of the codes of one vector. Padded so that each row begins at a cache line.
[[nodiscard]] constexpr size_t code_stride(size_t dims) noexcept { return (dims + 63) / 64 * 64; }

// Returns whether all elements are finite and small enough that no sum of products overflows.
[[nodiscard]] bool is_usable(std::span<const float> vector) noexcept;

}  // namespace mds
