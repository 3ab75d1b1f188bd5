// The terms of a dictionary that match a pattern as a whole. `*` matches any sequence of characters,
// including an empty one; `?` matches one character. Characters are code points. The scan moves to the
// literal prefix of the pattern and reads all terms with that prefix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/expansion/term_candidates.h"
#include "segment/terms/term_scan.h"

namespace mds {

class WildcardPattern {
 public:
  explicit WildcardPattern(std::string_view text);

  // Returns a filter that every matching term passes.
  [[nodiscard]] SignatureFilter filter() const noexcept;
  // The literal text before the first `*` or `?`.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  // Requires that `term` begins with the prefix. O(pattern x term) in the worst case.
  [[nodiscard]] bool matches(std::string_view term) const noexcept;

 private:
  // The part of the pattern between two `*`.
  struct Piece {
    std::string text;
    bool isLiteral;  // without `?`

    // Returns where a match of the piece at `at` ends; npos if it does not match.
    [[nodiscard]] size_t end_at(std::string_view term, size_t at) const noexcept;
    // Returns the end of the first match from `at` on; npos if there is none.
    [[nodiscard]] size_t find(std::string_view term, size_t at) const noexcept;
    // Whether a match from `at` on ends with the term.
    [[nodiscard]] bool ends(std::string_view term, size_t at) const noexcept;
  };

  std::string prefix_;
  // The first piece follows the prefix, the last one ends the term, and the others match in between, in
  // order. If there is a single piece, it both follows the prefix and ends the term.
  std::vector<Piece> pieces_;
};

class WildcardTerms {
 public:
  // The new object is positioned before the first term.
  WildcardTerms(WildcardPattern pattern, const TermScan& scan) : scan_(scan), pattern_(std::move(pattern)) { scan_.pass_below(pattern_.prefix()); }

  // Moves to the next matching term. Reads at most `steps` terms and lowers `steps` by the number read.
  // Returns false at the end or when no step is left.
  [[nodiscard]] bool next(uint32_t& steps);
  // The current term and its entry.
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  [[nodiscard]] const TermEntry& entry() noexcept { return scan_.entry(); }

 private:
  TermScan scan_;
  WildcardPattern pattern_;
  std::string term_;
  bool hasPrefix_ = pattern_.prefix().empty();
  bool isEnded_ = false;
};

// The same over the terms whose signatures admit a match. For patterns that begin with `*` or `?`, which may
// match terms anywhere in the dictionary.
class WildcardCandidates {
 public:
  // `begin`: index of the section's first term.
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
