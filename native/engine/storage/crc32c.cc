// See crc32c.h. The instruction processes 8 bytes with a latency of 3 cycles. Three interleaved streams would
// be three times as fast, but one stream already reads 6 GB/s.
#include "storage/crc32c.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#else
#include <array>
#endif

namespace mds {

#if defined(__SSE4_2__)

uint32_t crc32c(Bytes bytes, uint32_t before) noexcept {
  uint64_t crc = ~before;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) crc = _mm_crc32_u64(crc, load_u64(bytes.data() + at));
  auto tail = static_cast<uint32_t>(crc);
  for (; at < bytes.size(); ++at) tail = _mm_crc32_u8(tail, bytes[at]);
  return ~tail;
}

#else

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected

constexpr std::array<uint32_t, 256> make_table() noexcept {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (uint32_t bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t crc32c(Bytes bytes, uint32_t before) noexcept {
  uint32_t crc = ~before;
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xFF];
  return ~crc;
}

#endif

}  // namespace mds
