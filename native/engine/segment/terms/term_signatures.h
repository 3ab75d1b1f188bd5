// One word per term of a section: the set of characters of the term, hashed to 27 bits, and its length in 5
// bits. Comparing words excludes most terms without reading them, at 0.5 ns each instead of 20 ns. An edit
// changes the length by at most one, removes at most one character and adds at most one. Computed in memory
// when a search first needs them, and kept as long as the segment: 4 bytes per term, an eighth of the
// dictionary's size. Any number of threads.
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
#include "segment/terms/term_scan.h"

namespace mds {

inline constexpr uint32_t kSignatureLetters = 27;
inline constexpr uint32_t kSignatureLengthMax = (1U << (32 - kSignatureLetters)) - 1;

// The bit of a code point.
[[nodiscard]] uint32_t signature_letter(uint32_t code) noexcept;
// For longer terms the length is kSignatureLengthMax.
[[nodiscard]] uint32_t signature_of(std::string_view term) noexcept;

// A filter: admits terms with these letters and a length within these bounds. Up to `edits` letters may be
// missing, and up to `edits` other letters may be present.
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
  // `scan`: of the section, before its first term. Null if `stop` is set before the signatures are complete.
  [[nodiscard]] Signatures of(const SectionEntry& section, TermScan scan, StopSignal& stop);
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Locked while signatures are computed: another thread that needs the same signatures waits for them.
  std::mutex mutex_;
  std::map<uint32_t, Signatures> sections_;  // by the section's first term
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mds
