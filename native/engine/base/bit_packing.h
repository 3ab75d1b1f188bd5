// Bit packing of unsigned 32-bit values, in two layouts. A block of 128 values is packed in four vertical
// lanes (value i in lane i % 4) and unpacked four values per instruction. Any other number of values is
// packed horizontally, lowest bits first, which also allows reading one value by its index. Pure functions.
// Readers load up to 8 bytes at a value, so every packed column ends with kPackedPadding zero bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/limits.h"

namespace mds {

// Number of bits needed for `value`: 0 to 32.
[[nodiscard]] inline uint32_t bit_width_of(uint32_t value) noexcept { return static_cast<uint32_t>(std::bit_width(value)); }

[[nodiscard]] inline uint64_t packed_bytes(uint64_t count, uint32_t width) noexcept { return (count * width + 7) / 8; }

// Appends packed_bytes(values.size(), width) bytes. Every value must fit in `width` bits. 128 values use the
// vertical layout, any other number the horizontal one.
void pack(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out);

// Reads `count` values of `width` (at most 32) bits, in the layout that `pack` uses for this count. The
// caller must have checked that packed_bytes(count, width) bytes are readable at `in`, followed by
// kPackedPadding bytes.
void unpack(const uint8_t* in, uint32_t count, uint32_t width, uint32_t* out) noexcept;

// The same for deltas of ascending values: out[i] = out[i - 1] + 1 + delta i, where out[-1] is `before`.
// Overflow wraps around.
void unpack_ascending(const uint8_t* in, uint32_t count, uint32_t width, uint32_t before, uint32_t* out) noexcept;

// Returns value `index` of a horizontal run.
[[nodiscard]] inline uint32_t read_packed(const uint8_t* in, uint64_t index, uint32_t width) noexcept {
  const uint64_t bit = index * width;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  return static_cast<uint32_t>((load_u64(in + bit / 8) >> (bit % 8)) & mask);
}

// Uses the horizontal layout for any count: for positions, which are read by index.
void pack_horizontal(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out);

}  // namespace mds
