// See packed_tokens.h.
#include "segment/packed_tokens.h"

namespace mds {
namespace {

constexpr uint32_t kPackedTokensMagic = 0x314B544D;
constexpr uint64_t kTokensHeaderBytes = 20;
constexpr uint32_t kTermBytesMax = 255;

}  // namespace

Result<PackedTokens> read_packed_tokens(Bytes record) {
  ByteReader reader(record);
  const uint32_t magic = reader.u32();
  const uint32_t positionCount = reader.u32();
  const uint32_t length = reader.u32();
  const uint32_t termCount = reader.u32();
  const uint32_t termBytes = reader.u32();
  if (!reader.ok() || magic != kPackedTokensMagic) return Status::malformed("packed tokens: no header");
  const uint64_t expected = pad4(kTokensHeaderBytes + uint64_t{termCount} * 8 + uint64_t{length} * 4 + termBytes);
  if (record.size() != expected) {
    return Status::malformed("packed tokens: " + std::to_string(record.size()) + " bytes where the header says " + std::to_string(expected));
  }

  PackedTokens tokens;
  tokens.length_ = length;
  tokens.termCount_ = termCount;
  tokens.termEnds_ = record.data() + kTokensHeaderBytes;
  tokens.tfs_ = tokens.termEnds_ + size_t{termCount} * 4;
  tokens.positions_ = tokens.tfs_ + size_t{termCount} * 4;
  tokens.terms_ = tokens.positions_ + size_t{length} * 4;

  uint32_t termBegin = 0;
  uint64_t positionIndex = 0;
  for (uint32_t term = 0; term < termCount; ++term) {
    const uint32_t termEnd = tokens.term_end(term);
    if (termEnd <= termBegin || termEnd - termBegin > kTermBytesMax || termEnd > termBytes) {
      return Status::malformed("packed tokens: end of term " + std::to_string(term) + " out of place");
    }
    termBegin = termEnd;
    const uint32_t tf = tokens.tf(term);
    if (tf == 0 || tf > length - positionIndex) return Status::malformed("packed tokens: tf of term " + std::to_string(term) + " out of range");
    uint64_t smallestAllowed = 0;
    for (const uint64_t end = positionIndex + tf; positionIndex < end; ++positionIndex) {
      const uint32_t position = tokens.position(static_cast<uint32_t>(positionIndex));
      if (position < smallestAllowed || position >= positionCount) {
        return Status::malformed("packed tokens: position of term " + std::to_string(term) + " out of order or range");
      }
      smallestAllowed = uint64_t{position} + 1;
    }
  }
  if (termBegin != termBytes || positionIndex != length) return Status::malformed("packed tokens: sums do not match the header");
  return tokens;
}

}  // namespace mds
