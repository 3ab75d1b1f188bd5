// The layout of the hits record (docs/formats/search-plan.md), and its reader. A record is written by the
// engine and comes back from JavaScript, so every length is checked before it is used. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace mds {

inline constexpr uint32_t kHitsMagic = 0x3152534D;
inline constexpr size_t kHitsHeaderBytes = 32;
inline constexpr size_t kHitBytes = 24;

// Bytes of one hit in a record whose masks have this many words.
[[nodiscard]] constexpr size_t hit_stride(size_t maskWords) noexcept { return (kHitBytes + maskWords * 4 + 7) & ~size_t{7}; }

struct RecordedHit {
  uint32_t docid;
  double score;
  // Of the document's index entry.
  uint64_t lsn;
  // Little-endian words: bit t says that the document has term t.
  Bytes mask;
};

// The hits of a plan without expanded leaves.
class HitsRecord {
 public:
  // Empty for a record that is not consistent, and for one whose masks name expansions.
  [[nodiscard]] static std::optional<HitsRecord> read(Bytes record) noexcept {
    if (record.size() < kHitsHeaderBytes + sizeof(uint32_t) || load_u32(record.data()) != kHitsMagic) return std::nullopt;
    const uint64_t count = load_u32(record.data() + 8);
    const uint64_t maskWords = load_u32(record.data() + 12);
    if (maskWords > record.size()) return std::nullopt;
    const uint64_t stride = hit_stride(maskWords);
    if (count > record.size() / stride) return std::nullopt;
    const uint64_t end = kHitsHeaderBytes + count * stride;
    if (end + sizeof(uint32_t) > record.size() || load_u32(record.data() + end) != 0) return std::nullopt;
    return HitsRecord(record.subspan(kHitsHeaderBytes, static_cast<size_t>(count * stride)), static_cast<size_t>(stride), static_cast<size_t>(maskWords) * 4);
  }

  [[nodiscard]] size_t size() const noexcept { return hits_.size() / stride_; }

  [[nodiscard]] RecordedHit at(size_t index) const noexcept {
    const uint8_t* hit = hits_.data() + index * stride_;
    return {.docid = load_u32(hit), .score = std::bit_cast<double>(load_u64(hit + 8)), .lsn = load_u64(hit + 16), .mask = Bytes(hit + kHitBytes, maskBytes_)};
  }

 private:
  HitsRecord(Bytes hits, size_t stride, size_t maskBytes) noexcept : hits_(hits), stride_(stride), maskBytes_(maskBytes) {}

  Bytes hits_;
  size_t stride_;
  size_t maskBytes_;
};

}  // namespace mds
