// One word per term of a section: which characters the term has, hashed to 27 bits, and its length, in 5.
// Comparing words excludes most terms without reading them, at 0.5 ns each instead of 20: an edit changes the
// length by at most one, removes at most one character and adds at most one. Made in memory when a search
// first needs them and kept as long as the segment: 4 bytes a term, an eighth of the dictionary's size. Any
// number of threads.
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

// A filter: terms with these letters and a length within these bounds. Up to `edits` letters may be missing,
// and up to `edits` others present.
struct SignatureFilter {
  uint32_t letters = 0;
  uint32_t lengthMin = 0;
  uint32_t lengthMax = kSignatureLengthMax;
  // At most kFuzzyEditsMax. `isAnyAdded`: any number of other letters may be present.
  uint32_t edits = 0;
  bool isAnyAdded = false;
};

// Appends begin + i for each signatures[i] that passes.
void add_passing(std::span<const uint32_t> signatures, const SignatureFilter& filter, uint32_t begin, std::vector<uint32_t>& out);

using Signatures = std::shared_ptr<const std::vector<uint32_t>>;

// The signatures of a segment's sections.
class SignatureCache {
 public:
  // `scan`: of the section, before its first term. Null when `stop` is set before they are made.
  [[nodiscard]] Signatures of(const SectionEntry& section, TermScan scan, StopSignal& stop);
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Locked while signatures are made: another thread that needs the same ones waits for them.
  std::mutex mutex_;
  std::map<uint32_t, Signatures> sections_;  // by their first term
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mds
