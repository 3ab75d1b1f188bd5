// See edit_automaton.h.
#include "query/expansion/edit_automaton.h"

#include <algorithm>
#include <utility>

#include "base/code_points.h"

namespace mds {

EditAutomaton::EditAutomaton(std::vector<uint32_t> word, uint32_t edits)
    : word_(std::move(word)), edits_(std::min(edits, kFuzzyEditsMax)), hasTable_(word_.size() <= kTableWord) {
  if (!hasTable_) return;
  for (size_t at = 0; at < word_.size(); ++at) {
    if (word_[at] < kTableCodes) table_[word_[at]] |= uint64_t{1} << (at + kFuzzyEditsMax + 1);
  }
}

EditAutomaton::State EditAutomaton::start() const noexcept {
  State state;
  for (uint32_t d = 0; d <= kFuzzyEditsMax; ++d) state.within[d] = static_cast<uint8_t>(((2U << d) - 1) << kFuzzyEditsMax & cells(0));
  return state;
}

uint32_t EditAutomaton::distance(const State& state, size_t read) const noexcept {
  const size_t shifted = word_.size() + kFuzzyEditsMax;
  if (shifted < read || shifted - read >= kCells) return kFuzzyEditsMax + 1;
  uint32_t edits = 0;
  while (edits <= kFuzzyEditsMax && (state.within[edits] >> (shifted - read) & 1) == 0) ++edits;
  return edits;
}

uint32_t EditAutomaton::distance_to(std::string_view term) const noexcept {
  State before = start();
  State state = before;
  size_t read = 0;
  for (size_t at = 0; at < term.size(); ++read) {
    const State next = step(before, state, read, take_code_point(term, at));
    if (!is_alive(next)) return kFuzzyEditsMax + 1;
    before = state;
    state = next;
  }
  return distance(state, read);
}

uint32_t EditAutomaton::matches_by_search(size_t read, uint32_t code) const noexcept {
  uint32_t bits = 0;
  for (uint32_t bit = 0; bit < kCells + 2; ++bit) {
    const size_t shifted = read + bit;
    if (shifted > kFuzzyEditsMax && shifted - kFuzzyEditsMax - 1 < word_.size() && word_[shifted - kFuzzyEditsMax - 1] == code) bits |= 1U << bit;
  }
  return bits;
}

}  // namespace mds
