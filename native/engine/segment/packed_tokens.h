// The tokens of one analysed text, read in place. Layout: docs/formats/packed-tokens.md. A view that
// `read_packed_tokens` returned is fully validated, except that its terms are distinct: the segment builder
// checks this while it hashes them.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

// Borrows the record's bytes.
class PackedTokens {
 public:
  [[nodiscard]] uint32_t length() const noexcept { return length_; }
  [[nodiscard]] uint32_t term_count() const noexcept { return termCount_; }
  [[nodiscard]] uint32_t tf(uint32_t term) const noexcept { return load_u32(tfs_ + size_t{term} * 4); }
  // Positions grouped by term. The caller maintains the running sum of `tf` as the index.
  [[nodiscard]] uint32_t position(uint32_t index) const noexcept { return load_u32(positions_ + size_t{index} * 4); }
  [[nodiscard]] uint32_t term_end(uint32_t term) const noexcept { return load_u32(termEnds_ + size_t{term} * 4); }
  [[nodiscard]] std::string_view term(uint32_t begin, uint32_t end) const noexcept { return {reinterpret_cast<const char*>(terms_) + begin, size_t{end} - begin}; }

 private:
  friend Result<PackedTokens> read_packed_tokens(Bytes record);

  uint32_t length_ = 0;
  uint32_t termCount_ = 0;
  const uint8_t* termEnds_ = nullptr;
  const uint8_t* tfs_ = nullptr;
  const uint8_t* positions_ = nullptr;
  const uint8_t* terms_ = nullptr;
};

// `record` is the whole record, including padding. Reads and validates every byte.
[[nodiscard]] Result<PackedTokens> read_packed_tokens(Bytes record);

}  // namespace mds
