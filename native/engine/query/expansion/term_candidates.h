// The terms of a section that pass a filter of signatures (term_signatures.h), in order: candidates for a
// word or a pattern, still to be compared. Used by one search on one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "segment/term_scan.h"
#include "segment/term_signatures.h"

namespace mds {

class TermCandidates {
 public:
  // `scan` and `signatures`: of one section, whose first term is `begin`. Positioned before the first
  // candidate.
  TermCandidates(const TermScan& scan, Signatures signatures, uint32_t begin, const SignatureFilter& filter);

  // Moves to the next candidate; `steps` falls by the cost. False at the end or when no step is left.
  [[nodiscard]] bool next(uint32_t& steps);
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  [[nodiscard]] const TermEntry& entry() noexcept { return scan_.entry(); }

 private:
  TermScan scan_;
  Signatures signatures_;
  uint32_t begin_;
  SignatureFilter filter_;
  size_t filtered_ = 0;           // number of signatures filtered
  std::vector<uint32_t> passed_;  // candidates of the last batch
  size_t at_ = 0;
  std::string term_;
};

}  // namespace mds
