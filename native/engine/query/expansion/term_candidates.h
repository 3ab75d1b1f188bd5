// The terms of a section that pass a signature filter (term_signatures.h), in order. They are candidates for
// a word or a pattern and must still be compared with it. Used by one search on one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "segment/terms/term_scan.h"
#include "segment/terms/term_signatures.h"

namespace mds {

class TermCandidates {
 public:
  // `scan` and `signatures` belong to one section, whose first term is `begin`. The new object is positioned
  // before the first candidate.
  TermCandidates(const TermScan& scan, Signatures signatures, uint32_t begin, const SignatureFilter& filter);

  // Moves to the next candidate and lowers `steps` by the cost. Returns false at the end or when no step is
  // left.
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
