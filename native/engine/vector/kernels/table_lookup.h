// Kernels for four-bit codes. They sum table entries for 64 rows at once, with the sixteen-byte tables in
// registers. There is one function for each instruction set (vector_kernels.cc). Pure.
//
// A group of rows is stored by pairs of parts, 64 bytes per pair. The lower half of a byte is the code of the
// first part; the upper half is the code of the second part. Byte 2 i belongs to row i, and byte 2 i + 1 to
// row 32 + i. With this layout the 16-bit sums are produced in row order.
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mds::lookup {

inline constexpr size_t kRows = 64;
inline constexpr size_t kEntries = 16;

// Writes `sums` and returns a bit mask of the rows whose sum is at least `least`. Sums must fit 16 bits. The
// sum of a pair must fit 8 bits.
inline uint64_t sum_tables_serial(const uint8_t* codes, const uint8_t* tables, size_t pairs, uint16_t least, uint16_t* sums) noexcept {
  for (size_t row = 0; row < kRows; ++row) sums[row] = 0;
  for (size_t pair = 0; pair < pairs; ++pair) {
    for (size_t at = 0; at < kRows; ++at) {
      const uint8_t code = codes[pair * kRows + at];
      const unsigned both = unsigned{tables[2 * pair * kEntries + (code & 15U)]} + unsigned{tables[(2 * pair + 1) * kEntries + (code >> 4U)]};
      uint16_t& sum = sums[at / 2 + (at & 1U) * (kRows / 2)];
      sum = static_cast<uint16_t>(sum + both);
    }
  }
  uint64_t found = 0;
  for (size_t row = 0; row < kRows; ++row) found |= uint64_t{sums[row] >= least} << row;
  return found;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) inline uint64_t sum_tables_avx2(const uint8_t* codes, const uint8_t* tables, size_t pairs, uint16_t least, uint16_t* sums) noexcept {
  const __m256i low = _mm256_set1_epi8(15);
  const __m256i lowByte = _mm256_set1_epi16(255);
  const __m256i bound = _mm256_set1_epi16(static_cast<int16_t>(least));
  uint64_t found = 0;
  for (size_t half = 0; half < 2; ++half) {
    __m256i even = _mm256_setzero_si256();
    __m256i odd = _mm256_setzero_si256();
    for (size_t pair = 0; pair < pairs; ++pair) {
      const __m256i code = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + pair * kRows + half * 32));
      const __m256i first = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + 2 * pair * kEntries)));
      const __m256i second = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + (2 * pair + 1) * kEntries)));
      const __m256i both =
          _mm256_add_epi8(_mm256_shuffle_epi8(first, _mm256_and_si256(code, low)), _mm256_shuffle_epi8(second, _mm256_and_si256(_mm256_srli_epi16(code, 4), low)));
      even = _mm256_add_epi16(even, _mm256_and_si256(both, lowByte));
      odd = _mm256_add_epi16(odd, _mm256_srli_epi16(both, 8));
    }
    for (size_t side = 0; side < 2; ++side) {
      const __m256i sum = side == 0 ? even : odd;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + side * 32 + half * 16), sum);
      const __m256i isAbove = _mm256_cmpeq_epi16(_mm256_max_epu16(sum, bound), sum);
      const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(isAbove), _mm256_extracti128_si256(isAbove, 1));
      found |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(bytes))} << (side * 32 + half * 16);
    }
  }
  return found;
}

__attribute__((target("avx512f,avx512bw"))) inline uint64_t sum_tables_avx512(const uint8_t* codes, const uint8_t* tables, size_t pairs, uint16_t least,
                                                                              uint16_t* sums) noexcept {
  const __m512i low = _mm512_set1_epi8(15);
  const __m512i lowByte = _mm512_set1_epi16(255);
  const __m512i bound = _mm512_set1_epi16(static_cast<int16_t>(least));
  __m512i even = _mm512_setzero_si512();
  __m512i odd = _mm512_setzero_si512();
  for (size_t pair = 0; pair < pairs; ++pair) {
    const __m512i code = _mm512_loadu_si512(codes + pair * kRows);
    const __m512i first = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + 2 * pair * kEntries)));
    const __m512i second = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + (2 * pair + 1) * kEntries)));
    const __m512i both =
        _mm512_add_epi8(_mm512_shuffle_epi8(first, _mm512_and_si512(code, low)), _mm512_shuffle_epi8(second, _mm512_and_si512(_mm512_srli_epi16(code, 4), low)));
    even = _mm512_add_epi16(even, _mm512_and_si512(both, lowByte));
    odd = _mm512_add_epi16(odd, _mm512_srli_epi16(both, 8));
  }
  _mm512_storeu_si512(sums, even);
  _mm512_storeu_si512(sums + 32, odd);
  return uint64_t{_mm512_cmpge_epu16_mask(even, bound)} | uint64_t{_mm512_cmpge_epu16_mask(odd, bound)} << 32;
}
#endif

// See dot_u4 in vector_kernels.h.
inline int32_t dot_u4_serial(const int8_t* low, const int8_t* high, const uint8_t* codes, size_t bytes) noexcept {
  int32_t sum = 0;
  for (size_t at = 0; at < bytes; ++at) sum += low[at] * static_cast<int32_t>(codes[at] & 15U) + high[at] * static_cast<int32_t>(codes[at] >> 4U);
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) inline int32_t dot_u4_avx2(const int8_t* low, const int8_t* high, const uint8_t* codes, size_t bytes) noexcept {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums = _mm256_setzero_si256();
  for (size_t at = 0; at < bytes; at += 32) {
    const __m256i code = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + at));
    // Sums of four products stay within 15 x 127 x 4.
    const __m256i pairs =
        _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_and_si256(code, mask), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + at))),
                         _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(code, 4), mask), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + at))));
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
  }
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return _mm_cvtsi128_si32(sum);
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) inline int32_t dot_u4_avx512(const int8_t* low, const int8_t* high, const uint8_t* codes, size_t bytes) noexcept {
  const __m512i mask = _mm512_set1_epi8(15);
  __m512i lows = _mm512_setzero_si512();
  __m512i highs = _mm512_setzero_si512();
  for (size_t at = 0; at < bytes; at += 64) {
    const __m512i code = _mm512_loadu_si512(codes + at);
    lows = _mm512_dpbusd_epi32(lows, _mm512_and_si512(code, mask), _mm512_loadu_si512(low + at));
    highs = _mm512_dpbusd_epi32(highs, _mm512_and_si512(_mm512_srli_epi16(code, 4), mask), _mm512_loadu_si512(high + at));
  }
  return _mm512_reduce_add_epi32(_mm512_add_epi32(lows, highs));
}
#endif

}  // namespace mds::lookup
