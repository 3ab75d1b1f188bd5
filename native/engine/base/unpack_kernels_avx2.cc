// See unpack_kernels.h: two rows of a block per instruction. Every function that uses AVX2 declares it
// individually. Nothing else is compiled for AVX2, so a processor without it can load the engine.
#include "base/unpack_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

#include "base/limits.h"

// Inlined into a kernel: lambdas and ordinary inline functions would not inherit the kernel's target.
#define MDS_AVX2 __attribute__((target("avx2")))
#define MDS_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace mds {
namespace {

constexpr uint32_t kPairs = kBlockPostings / 8;

MDS_AVX2_INLINE __m256i load_words(const uint8_t* in, uint32_t low, uint32_t high) noexcept {
  const auto at = [in](uint32_t word) { return reinterpret_cast<const __m128i*>(in + size_t{word} * sizeof(__m128i)); };
  return low == high ? _mm256_broadcastsi128_si256(_mm_loadu_si128(at(low)))
                     : _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at(low))), _mm_loadu_si128(at(high)), 1);
}

// Rows 2 * kPair and 2 * kPair + 1: eight values.
template <uint32_t kWidth, uint32_t kPair>
MDS_AVX2_INLINE __m256i load_pair(const uint8_t* in) noexcept {
  if constexpr (kWidth == 0) {
    return _mm256_setzero_si256();
  } else {
    constexpr uint32_t bitLow = kPair * 2 * kWidth;
    constexpr uint32_t bitHigh = bitLow + kWidth;
    constexpr int shiftLow = bitLow % 32;
    constexpr int shiftHigh = bitHigh % 32;
    constexpr uint32_t mask = kWidth == 32 ? UINT32_MAX : (uint32_t{1} << (kWidth % 32)) - 1;
    __m256i value = _mm256_srlv_epi32(load_words(in, bitLow / 32, bitHigh / 32),
                                      _mm256_setr_epi32(shiftLow, shiftLow, shiftLow, shiftLow, shiftHigh, shiftHigh, shiftHigh, shiftHigh));
    constexpr bool isSplitLow = shiftLow + kWidth > 32;
    constexpr bool isSplitHigh = shiftHigh + kWidth > 32;
    if constexpr (isSplitLow || isSplitHigh) {
      // A shift by 32 yields zero: a row that is not split uses nothing from the word that is loaded a second
      // time.
      constexpr int restLow = isSplitLow ? 32 - shiftLow : 32;
      constexpr int restHigh = isSplitHigh ? 32 - shiftHigh : 32;
      const __m256i next = load_words(in, bitLow / 32 + (isSplitLow ? 1 : 0), bitHigh / 32 + (isSplitHigh ? 1 : 0));
      value = _mm256_or_si256(value, _mm256_sllv_epi32(next, _mm256_setr_epi32(restLow, restLow, restLow, restLow, restHigh, restHigh, restHigh, restHigh)));
    }
    return _mm256_and_si256(value, _mm256_set1_epi32(static_cast<int>(mask)));
  }
}

MDS_AVX2_INLINE void store_pair(uint32_t* out, uint32_t pair, __m256i value) noexcept { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + size_t{pair} * 8), value); }

// Running sums of eight values after `last`, which is set to the last of them in all lanes.
MDS_AVX2_INLINE __m256i ascend(__m256i value, __m256i& last) noexcept {
  value = _mm256_add_epi32(value, _mm256_set1_epi32(1));
  value = _mm256_add_epi32(value, _mm256_slli_si256(value, 4));
  value = _mm256_add_epi32(value, _mm256_slli_si256(value, 8));
  // Adds the lower half's total to the upper half.
  value = _mm256_add_epi32(value, _mm256_shuffle_epi32(_mm256_permute2x128_si256(value, value, 0x08), 0xFF));
  value = _mm256_add_epi32(value, last);
  last = _mm256_permutevar8x32_epi32(value, _mm256_set1_epi32(7));
  return value;
}

template <uint32_t kWidth, size_t... kPairIndexes>
MDS_AVX2_INLINE void unpack_pairs(const uint8_t* in, uint32_t* out, std::index_sequence<kPairIndexes...>) noexcept {
  (store_pair(out, static_cast<uint32_t>(kPairIndexes), load_pair<kWidth, static_cast<uint32_t>(kPairIndexes)>(in)), ...);
}

template <uint32_t kWidth, size_t... kPairIndexes>
MDS_AVX2_INLINE void ascend_pairs(const uint8_t* in, uint32_t before, uint32_t* out, std::index_sequence<kPairIndexes...>) noexcept {
  __m256i last = _mm256_set1_epi32(static_cast<int>(before));
  (store_pair(out, static_cast<uint32_t>(kPairIndexes), ascend(load_pair<kWidth, static_cast<uint32_t>(kPairIndexes)>(in), last)), ...);
}

template <uint32_t kWidth>
MDS_AVX2 void unpack_avx2(const uint8_t* in, uint32_t* out) noexcept {
  unpack_pairs<kWidth>(in, out, std::make_index_sequence<kPairs>{});
}

template <uint32_t kWidth>
MDS_AVX2 void ascend_avx2(const uint8_t* in, uint32_t before, uint32_t* out) noexcept {
  ascend_pairs<kWidth>(in, before, out, std::make_index_sequence<kPairs>{});
}

template <size_t... kWidths>
UnpackKernels of_widths(std::index_sequence<kWidths...>) noexcept {
  return {"avx2", {&unpack_avx2<static_cast<uint32_t>(kWidths)>...}, {&ascend_avx2<static_cast<uint32_t>(kWidths)>...}};
}

}  // namespace

const UnpackKernels* avx2_unpack_kernels() noexcept {
  static const UnpackKernels kernels = of_widths(std::make_index_sequence<kUnpackWidths>{});
  return __builtin_cpu_supports("avx2") != 0 ? &kernels : nullptr;
}

}  // namespace mds

#else

namespace mds {

const UnpackKernels* avx2_unpack_kernels() noexcept { return nullptr; }

}  // namespace mds

#endif
