// The terms of a dictionary within so many edits of a word: an insertion, a deletion, a substitution, or an exchange of two neighbours, none of which is edited again
// (the optimal string alignment distance), over code points. A Levenshtein automaton, kept as rows of the distance matrix, walks the ordered dictionary: the rows of what
// a term shares with the one before are kept, and where no term can go on, the walk seeks the next one that can. Sources: Damerau, CACM 1964; Schulz & Mihov, "Fast
// String Correction with Levenshtein-Automata", 2002 (the automaton beside a dictionary).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "query/prefix_walk.h"

namespace mds {

// A row of the matrix beside its diagonal: cell k of row i is the distance between the first i characters of a term and the first i + k - kFuzzyEditsMax of the word.
using FuzzyRow = std::array<uint8_t, 2 * kFuzzyEditsMax + 1>;

class FuzzyTerms {
 public:
  // The first `prefix` code points of `word` are not edited. `edits` is at most kFuzzyEditsMax. The walk has not begun.
  FuzzyTerms(std::string_view word, uint32_t edits, uint32_t prefix, const DictionaryWalk& walk);

  // Moves to the next term within reach; at most `steps` terms are looked at, and that number falls by those that were. False at the end or when no step is left.
  [[nodiscard]] bool next(uint32_t& steps);
  [[nodiscard]] const PrefixWalk& walk() const noexcept { return walk_; }
  // Of the present term.
  [[nodiscard]] uint32_t edits() const noexcept { return found_; }

 private:
  // What of the present term has been read.
  struct Level {
    uint32_t code;
    size_t end;  // in bytes
    FuzzyRow row;
  };

  [[nodiscard]] const FuzzyRow& row_at(size_t level) const noexcept { return level == 0 ? start_ : levels_[level - 1].row; }
  // The row behind `level` when `code` follows.
  [[nodiscard]] FuzzyRow step(size_t level, uint32_t code) const noexcept;
  [[nodiscard]] uint32_t least(const FuzzyRow& row) const noexcept;
  // The smallest code point above `code` that can follow `level`.
  [[nodiscard]] std::optional<uint32_t> follower(size_t level, uint32_t code) const noexcept;
  // Reads the walk's term. False where it can't be reached; `code` is what could not follow then.
  [[nodiscard]] bool read(uint32_t& code);
  // All of the present term has been read: is it within reach?
  [[nodiscard]] bool is_within_reach() noexcept;
  // To the first term that can be reached behind one where `code` could not follow.
  void leap(uint32_t code);

  PrefixWalk walk_;
  uint32_t edits_;
  uint32_t found_ = 0;
  std::vector<uint32_t> rest_;  // code points of the word behind what is not edited
  FuzzyRow start_;
  std::string read_;  // the term that the levels describe
  std::vector<Level> levels_;
  std::string target_;
};

}  // namespace mds
