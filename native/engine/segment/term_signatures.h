// One word per term of a section: which characters the term has, hashed to 27 bits, and how long it is, in 5. Comparing words tells most terms apart from what is looked
// for without reading them, 0.5 ns each instead of 20: an edit changes the length by one at most, takes away one character at most and adds one at most. Made in memory
// when a search first wants them and kept as long as the segment: 4 bytes a term, an eighth of what the dictionary takes. Any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "base/stop_signal.h"
#include "segment/segment_columns.h"
#include "segment/term_scan.h"

namespace mds {

inline constexpr uint32_t kSignatureLetters = 27;
inline constexpr uint32_t kSignatureLengthMax = (1U << (32 - kSignatureLetters)) - 1;

// Bit of a code point.
[[nodiscard]] uint32_t signature_letter(uint32_t code) noexcept;
// Longer terms have kSignatureLengthMax.
[[nodiscard]] uint32_t signature_of(std::string_view term) noexcept;

// What is looked for: terms of a length, with the letters, of which so many may be missing; and so many may be there besides.
struct SignatureFilter {
  uint32_t letters = 0;
  uint32_t lengthMin = 0;
  uint32_t lengthMax = kSignatureLengthMax;
  // Both numbers of letters: kFuzzyEditsMax at most. Without: none may be missing, any may be there.
  uint32_t edits = 0;
  bool isAnyAdded = false;
};

// Appends begin + i for each signatures[i] that passes.
void add_passing(std::span<const uint32_t> signatures, const SignatureFilter& filter, uint32_t begin, std::vector<uint32_t>& out);

using Signatures = std::shared_ptr<const std::vector<uint32_t>>;

// Those of a segment's sections.
class SignatureCache {
 public:
  // `scan`: of the section, before its first term. Null when `stop` is set before they are made.
  [[nodiscard]] Signatures of(const SectionEntry& section, TermScan scan, StopSignal& stop);
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;                         // held while some are made: who wants the same would make them, too
  std::map<uint32_t, Signatures> sections_;  // by their first term
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mds
