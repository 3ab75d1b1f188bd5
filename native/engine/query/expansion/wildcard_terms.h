// The terms of a dictionary that a pattern matches as a whole: `*` stands for any run of characters, also none, `?` for one character. Characters are code points. The
// scan goes to what the pattern begins with and reads all terms that begin so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/expansion/term_candidates.h"
#include "segment/term_scan.h"

namespace mds {

class WildcardPattern {
 public:
  explicit WildcardPattern(std::string_view text);

  // What every term that the pattern matches passes.
  [[nodiscard]] SignatureFilter filter() const noexcept;
  // What stands before the first `*` or `?`.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  // `term` begins with the prefix. O(pattern x term) at worst.
  [[nodiscard]] bool matches(std::string_view term) const noexcept;

 private:
  // What stands between two `*`.
  struct Piece {
    std::string text;
    bool isLiteral;  // without `?`

    // Where the piece ends that begins at `at`; npos where it does not.
    [[nodiscard]] size_t end_at(std::string_view term, size_t at) const noexcept;
    // The end of the first such place from `at` on; npos where there is none.
    [[nodiscard]] size_t find(std::string_view term, size_t at) const noexcept;
    // Whether there is such a place from `at` on that ends with the term.
    [[nodiscard]] bool ends(std::string_view term, size_t at) const noexcept;
  };

  std::string prefix_;
  // The first one follows the prefix, the last one ends the term, the others stand between, each behind the one before. One alone does both.
  std::vector<Piece> pieces_;
};

class WildcardTerms {
 public:
  // Stands before the first term.
  WildcardTerms(WildcardPattern pattern, const TermScan& scan) : scan_(scan), pattern_(std::move(pattern)) { scan_.pass_below(pattern_.prefix()); }

  // Moves to the next term that the pattern matches; at most `steps` terms are looked at, and that number falls by those that were. False at the end or when no step is
  // left.
  [[nodiscard]] bool next(uint32_t& steps);
  // The present term and its entry.
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  [[nodiscard]] const TermEntry& entry() noexcept { return scan_.entry(); }

 private:
  TermScan scan_;
  WildcardPattern pattern_;
  std::string term_;
  bool hasPrefix_ = pattern_.prefix().empty();
  bool isEnded_ = false;
};

// The same from the terms whose signatures say that they may match: for patterns that begin with `*` or `?`, which may match terms anywhere.
class WildcardCandidates {
 public:
  // `begin`: the section's first term.
  WildcardCandidates(WildcardPattern pattern, const TermScan& scan, Signatures signatures, uint32_t begin)
      : candidates_(scan, std::move(signatures), begin, pattern.filter()), pattern_(std::move(pattern)) {}

  [[nodiscard]] bool next(uint32_t& steps);
  [[nodiscard]] std::string_view term() const noexcept { return candidates_.term(); }
  [[nodiscard]] const TermEntry& entry() noexcept { return candidates_.entry(); }

 private:
  TermCandidates candidates_;
  WildcardPattern pattern_;
};

}  // namespace mds
