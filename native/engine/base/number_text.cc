#include "base/number_text.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace mds {
namespace {

// Largest numbers that are written without an exponent have 21 digits before the point, the smallest ones 5
// zeros behind it.
constexpr int kDigitsBeforePointMax = 21;
constexpr int kZerosBehindPointMax = 5;

uint8_t* append(uint8_t* at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

uint8_t* append_zeros(uint8_t* at, int count) noexcept {
  std::memset(at, '0', static_cast<size_t>(count));
  return at + count;
}

}  // namespace

uint8_t* append_number(uint8_t* at, double value) noexcept {
  if (value == 0) return append(at, "0");
  if (value < 0) {
    *at++ = '-';
    value = -value;
  }
  // d.ddde+xx, with the shortest digits
  std::array<char, 32> space;
  const char* const end = std::to_chars(space.data(), space.data() + space.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(space.data(), static_cast<size_t>(end - space.data()));
  const size_t exponentAt = text.find('e');
  int exponent = 0;
  (void)std::from_chars(text.data() + exponentAt + (text[exponentAt + 1] == '+' ? 2 : 1), end, exponent);
  std::array<char, 20> digits;
  digits[0] = text[0];
  const size_t count = exponentAt == 1 ? 1 : exponentAt - 1;
  if (count > 1) std::memcpy(digits.data() + 1, text.data() + 2, count - 1);
  const std::string_view all(digits.data(), count);
  const int before = exponent + 1;
  if (before > kDigitsBeforePointMax || before < -kZerosBehindPointMax) {
    at = append(at, all.substr(0, 1));
    if (count > 1) at = append(append(at, "."), all.substr(1));
    at = append(at, exponent < 0 ? "e-" : "e+");
    return reinterpret_cast<uint8_t*>(std::to_chars(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + 3, exponent < 0 ? -exponent : exponent).ptr);
  }
  if (before <= 0) return append(append_zeros(append(at, "0."), -before), all);
  const auto whole = static_cast<size_t>(before);
  if (whole >= count) return append_zeros(append(at, all), before - static_cast<int>(count));
  return append(append(append(at, all.substr(0, whole)), "."), all.substr(whole));
}

}  // namespace mds
