// Compares many estimates with one threshold. Pure.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mds {

// Number of values per mask.
inline constexpr uint32_t kMaskValues = 32;

// Returns a mask in which bit i is set if values[i] >= `least`. Reads kMaskValues values.
[[nodiscard]] inline uint32_t at_least(const float* values, float least) noexcept {
  uint32_t bits = 0;
  for (uint32_t at = 0; at < kMaskValues; at += 4) {
#if defined(__SSE2__)
    bits |= static_cast<uint32_t>(_mm_movemask_ps(_mm_cmpge_ps(_mm_loadu_ps(values + at), _mm_set1_ps(least)))) << at;
#else
    for (uint32_t lane = 0; lane < 4; ++lane) bits |= (values[at + lane] >= least ? 1U : 0U) << (at + lane);
#endif
  }
  return bits;
}

}  // namespace mds
