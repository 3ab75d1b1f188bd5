// Decodes UTF-8, one code point at a time. Terms come from the analyzer and are well-formed. A byte that is
// not well-formed is treated as a separate character, above all code points. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mds {

inline constexpr uint32_t kCodePointLast = 0x10FFFF;

// Returns the code point at `at`, which must be inside the text, and advances `at` past it.
[[nodiscard]] inline uint32_t take_code_point(std::string_view text, size_t& at) noexcept {
  const auto byte = [text](size_t index) { return static_cast<uint8_t>(text[index]); };
  const uint32_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const uint32_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC0 || lead >= 0xF8 || text.size() - at < more) return kCodePointLast + 1 + lead;
  uint32_t code = lead & (0x3FU >> more);
  for (uint32_t index = 0; index < more; ++index) {
    if ((byte(at + index) & 0xC0) != 0x80) return kCodePointLast + 1 + lead;
    code = code << 6 | (byte(at + index) & 0x3FU);
  }
  at += more;
  return code;
}

[[nodiscard]] inline std::vector<uint32_t> code_points_of(std::string_view text) {
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < text.size();) codes.push_back(take_code_point(text, at));
  return codes;
}

// The inverse of take_code_point.
inline void append_code_point(std::string& out, uint32_t code) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code > kCodePointLast) {
    put(code - kCodePointLast - 1);
  } else if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace mds
