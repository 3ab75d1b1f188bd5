// The optimal string alignment distance between a word and a term that is read one character at a time. Edits
// are insertions, deletions, substitutions, and transpositions of two adjacent characters; transposed
// characters are not edited again. Implemented as a nondeterministic Levenshtein automaton in bit-parallel
// form: a row of the distance matrix, around its diagonal, is one bit per cell and number of edits, and a
// character updates all of them at once. Pure. Sources: Damerau, CACM 1964; Wu & Manber, "Fast Text Searching
// Allowing Errors", CACM 1992 (the bits); Schulz & Mihov, "Fast String Correction with Levenshtein-Automata",
// 2002 (the window around the diagonal).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace mds {

class EditAutomaton {
 public:
  // The state after i characters. Bit k of within[d]: these characters are within d edits of the word's first
  // i + k - kFuzzyEditsMax characters.
  struct State {
    std::array<uint8_t, kFuzzyEditsMax + 1> within{};
    uint8_t matches = 0;  // of the last character: see matches()
  };

  // `edits` is at most kFuzzyEditsMax.
  EditAutomaton(std::vector<uint32_t> word, uint32_t edits);

  [[nodiscard]] State start() const noexcept;
  // Returns the state after `code`. `state`: the state after `read` characters; `before`: the state before
  // the last of them, any value if `read` is 0.
  [[nodiscard]] State step(const State& before, const State& state, size_t read, uint32_t code) const noexcept {
    const uint32_t here = matches(read, code);
    const uint32_t equal = here >> 1;
    const uint32_t exchanged = here & (uint32_t{state.matches} >> 2);
    const uint32_t inside = cells(read + 1);
    State next;
    next.matches = static_cast<uint8_t>(here);
    next.within[0] = static_cast<uint8_t>(state.within[0] & equal & inside);
    for (uint32_t d = 1; d <= kFuzzyEditsMax; ++d) {
      const uint32_t fewer = state.within[d - 1];
      const uint32_t bits = (state.within[d] & equal) | fewer | fewer >> 1 | uint32_t{next.within[d - 1]} << 1 | (before.within[d - 1] & exchanged);
      next.within[d] = static_cast<uint8_t>(bits & inside);
    }
    return next;
  }
  // Whether some term within reach begins with the characters read.
  [[nodiscard]] bool is_alive(const State& state) const noexcept { return state.within[edits_] != 0; }
  // Whether an edit is left: any character can then follow, as an insertion.
  [[nodiscard]] bool has_edit_left(const State& state) const noexcept { return edits_ > 0 && state.within[edits_ - 1] != 0; }
  // Distance between the characters read and the whole word; above `edits` if out of reach.
  [[nodiscard]] uint32_t distance(const State& state, size_t read) const noexcept;
  // Distance of a whole term; above `edits` if out of reach.
  [[nodiscard]] uint32_t distance_to(std::string_view term) const noexcept;
  [[nodiscard]] const std::vector<uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr uint32_t kCells = 2 * kFuzzyEditsMax + 1;
  // matches() looks up characters below this code in a table.
  static constexpr uint32_t kTableCodes = 128;
  static constexpr uint32_t kTableBits = 64;
  static constexpr uint32_t kTableWord = kTableBits - kFuzzyEditsMax - 1;

  // Cells of row `read` whose column is within the word.
  [[nodiscard]] uint32_t cells(size_t read) const noexcept {
    const size_t count = word_.size() + kFuzzyEditsMax + 1;
    return read >= count ? 0 : count - read >= kCells ? (1U << kCells) - 1 : (1U << (count - read)) - 1;
  }
  // Bit m: `code` is the word's character read + m - kFuzzyEditsMax - 1.
  [[nodiscard]] uint32_t matches(size_t read, uint32_t code) const noexcept {
    if (!hasTable_ || code >= kTableCodes) return matches_by_search(read, code);
    return read >= kTableBits ? 0 : static_cast<uint32_t>(table_[code] >> read) & kMatches;
  }
  [[nodiscard]] uint32_t matches_by_search(size_t read, uint32_t code) const noexcept;

  static constexpr uint32_t kMatches = (1U << (kCells + 2)) - 1;

  std::vector<uint32_t> word_;
  uint32_t edits_;
  bool hasTable_;
  std::array<uint64_t, kTableCodes> table_{};  // bit p + kFuzzyEditsMax + 1: the word's character p
};

}  // namespace mds
