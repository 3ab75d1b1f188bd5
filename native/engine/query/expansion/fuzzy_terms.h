// The terms of a dictionary within a given number of edits of a word (edit_automaton.h), over code points.
// The automaton traverses the ordered dictionary. The prefix that a term shares with the previous one is not
// read again. Terms that begin with a dead prefix are skipped, as are whole blocks up to the next possible
// prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/expansion/edit_automaton.h"
#include "query/expansion/term_candidates.h"
#include "segment/terms/term_scan.h"
#include "segment/terms/term_signatures.h"

namespace mds {

class FuzzyTerms {
 public:
  // The first `prefix` code points of `word` are not edited. `edits` is at most kFuzzyEditsMax. The new
  // object is positioned before the first term.
  FuzzyTerms(std::string_view word, uint32_t edits, uint32_t prefix, const TermScan& scan);

  // Moves to the next term within reach. Reads at most `steps` terms and lowers `steps` by the number read.
  // Returns false at the end or when no step is left.
  [[nodiscard]] bool next(uint32_t& steps);
  // The current term, its edits and its entry.
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  [[nodiscard]] uint32_t edits() const noexcept { return found_; }
  [[nodiscard]] const TermEntry& entry() noexcept { return scan_.entry(); }

 private:
  // The state after a character of `term_` that follows the prefix.
  struct Level {
    uint32_t code;
    size_t end;  // byte offset in `term_`
    EditAutomaton::State state;
  };

  FuzzyTerms(std::string prefix, std::string_view rest, uint32_t edits, const TermScan& scan);

  // Reads the scan's term. Returns false if it is out of reach.
  [[nodiscard]] bool read();
  [[nodiscard]] bool read_on(size_t at);
  // Whether the term begins with the prefix. If not, it is out of reach; all following terms may be, too.
  [[nodiscard]] bool has_prefix();
  [[nodiscard]] EditAutomaton::State step(size_t level, uint32_t code) const noexcept {
    return automaton_.step(level > 1 ? levels_[level - 2].state : start_, level > 0 ? levels_[level - 1].state : start_, level, code);
  }
  // Returns the smallest code point above `code` that can follow `level`.
  [[nodiscard]] std::optional<uint32_t> follower(size_t level, uint32_t code) const noexcept;
  // At a block border: skips the blocks whose terms all begin with the dead prefix.
  void pass_blocks();

  // Above the length of any term.
  static constexpr size_t kAlive = SIZE_MAX;

  std::string prefix_;
  EditAutomaton automaton_;
  EditAutomaton::State start_;
  uint32_t edits_;
  TermScan scan_;
  bool isBegun_ = false;
  bool isEnded_ = false;
  std::string term_;  // the last term read
  std::vector<Level> levels_;
  size_t dead_ = kAlive;   // number of leading bytes of `term_` with which no term within reach begins
  uint32_t deadCode_ = 0;  // the last character of these bytes
  uint32_t found_ = 0;
  std::string target_;
};

// The same over the terms whose signatures admit a match, anywhere in the dictionary. For large dictionaries,
// where a traversal would follow thousands of prefixes.
class FuzzyCandidates {
 public:
  // `begin`: index of the section's first term.
  FuzzyCandidates(std::string_view word, uint32_t edits, const TermScan& scan, Signatures signatures, uint32_t begin);

  [[nodiscard]] bool next(uint32_t& steps);
  [[nodiscard]] std::string_view term() const noexcept { return candidates_.term(); }
  [[nodiscard]] uint32_t edits() const noexcept { return found_; }
  [[nodiscard]] const TermEntry& entry() noexcept { return candidates_.entry(); }

 private:
  TermCandidates candidates_;
  EditAutomaton automaton_;
  uint32_t edits_;
  uint32_t found_ = 0;
};

}  // namespace mds
