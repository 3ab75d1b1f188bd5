// Numbers as JSON shows them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mds {

// Longest text of a number: sign, 17 digits, point, `e`, sign, 3 digits; or `0.`, 5 zeros, 17 digits.
inline constexpr size_t kNumberTextBytesMax = 26;

// Writes a finite number as JavaScript does (Number::toString, ECMA-262, 6.1.6.1.20): the shortest digits
// that read back as the same number. Returns the end of the text, at most kNumberTextBytesMax bytes later.
[[nodiscard]] uint8_t* append_number(uint8_t* at, double value) noexcept;

}  // namespace mds
