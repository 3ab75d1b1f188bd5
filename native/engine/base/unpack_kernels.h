// Unpacking of full blocks (bit_packing.h, vertical layout) for each instruction set. One kernel per width,
// so that every shift is a constant. All kernels return equal results, which a test verifies. The best one
// for the processor is selected when the engine is loaded. Pure functions.
#pragma once

#include <array>
#include <cstdint>

namespace mds {

inline constexpr uint32_t kUnpackWidths = 33;
// Value i of a block is in lane i % 4 of the vertical layout.
inline constexpr uint32_t kPackedLanes = 4;

struct UnpackKernels {
  const char* isa;
  // By width. `in`: the packed values; reads at most the bytes up to the next multiple of 16. `out`:
  // kBlockPostings values.
  std::array<void (*)(const uint8_t* in, uint32_t* out) noexcept, kUnpackWidths> unpack;
  // unpack_ascending of bit_packing.h.
  std::array<void (*)(const uint8_t* in, uint32_t before, uint32_t* out) noexcept, kUnpackWidths> ascending;
};

// One value at a time: the reference for the others.
[[nodiscard]] UnpackKernels scalar_unpack_kernels() noexcept;
// Four lanes in the compiler's portable vectors: SSE or NEON if the target supports them.
[[nodiscard]] UnpackKernels vector_unpack_kernels() noexcept;
// Eight lanes. Null if the processor or the compiler's target does not support them.
[[nodiscard]] const UnpackKernels* avx2_unpack_kernels() noexcept;

[[nodiscard]] UnpackKernels best_unpack_kernels() noexcept;

}  // namespace mds
