// Bounds of the scores of one block of postings: at most eight pairs (term frequency, field length). For
// every posting of the block there is a pair whose frequency is not lower and whose length is not higher. Any
// score that increases with the frequency and decreases with the length is therefore bounded by the maximum
// score of the pairs, for any weights, k1 and b of a request. Pure functions. Layout:
// docs/formats/segment.md.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace mds {

// Measured on md50k: a search for one common term reads 27 blocks with eight pairs, 42 with four. The pairs
// take 0.6 % of the columns.
inline constexpr uint32_t kImpacts = 8;

// One pair: the upper half is the frequency, rounded up; the lower half is the length, rounded down. Each is
// the upper half of a float (8 significant bits, so a bound is at most 0.8 % too high). The first pair has
// the highest frequency. Unused pairs repeat the last one.
using Impacts = std::array<uint32_t, kImpacts>;

[[nodiscard]] inline float impact_tf(uint32_t impact) noexcept { return std::bit_cast<float>(impact & 0xFFFF0000); }
[[nodiscard]] inline float impact_length(uint32_t impact) noexcept { return std::bit_cast<float>(impact << 16); }

// `tfs` and `lengths`: of the postings of one block, at least one. `averageLength`: of the field; determines
// which pairs are merged if there are more than eight.
[[nodiscard]] Impacts make_impacts(std::span<const uint32_t> tfs, std::span<const uint32_t> lengths, double averageLength) noexcept;

}  // namespace mds
