// See fuzzy_terms.h.
#include "query/expansion/fuzzy_terms.h"

#include <algorithm>
#include <utility>

#include "base/code_points.h"

namespace mds {
namespace {

// The surrogate range: valid text contains no code point in it.
constexpr uint32_t kSurrogateFirst = 0xD800;
constexpr uint32_t kSurrogateLast = 0xDFFF;

std::string first_code_points(std::string_view word, uint32_t count) {
  size_t at = 0;
  for (; count > 0 && at < word.size(); --count) (void)take_code_point(word, at);
  return std::string(word.substr(0, at));
}

// Returns a filter that the signature of every term within reach of the word passes.
SignatureFilter filter_of(std::string_view word, uint32_t edits) {
  const uint32_t signature = signature_of(word);
  const uint32_t length = signature >> kSignatureLetters;
  SignatureFilter filter;
  filter.letters = signature & ((1U << kSignatureLetters) - 1);
  filter.lengthMin = length - std::min(length, edits);
  filter.lengthMax = std::min(length + edits, kSignatureLengthMax);
  filter.edits = edits;
  return filter;
}

size_t common_prefix(std::string_view a, std::string_view b) noexcept {
  const size_t most = std::min(a.size(), b.size());
  size_t at = 0;
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

FuzzyTerms::FuzzyTerms(std::string_view word, uint32_t edits, uint32_t prefix, const TermScan& scan)
    : FuzzyTerms(first_code_points(word, prefix), word.substr(first_code_points(word, prefix).size()), edits, scan) {}

FuzzyTerms::FuzzyTerms(std::string prefix, std::string_view rest, uint32_t edits, const TermScan& scan)
    : prefix_(std::move(prefix)), automaton_(code_points_of(rest), edits), start_(automaton_.start()), edits_(std::min(edits, kFuzzyEditsMax)), scan_(scan) {}

bool FuzzyTerms::next(uint32_t& steps) {
  if (!isBegun_) {
    scan_.pass_below(prefix_);
    isBegun_ = true;
  }
  while (steps > 0 && !isEnded_) {
    if (scan_.is_at_border() && dead_ != kAlive) pass_blocks();
    isEnded_ = isEnded_ || !scan_.next();
    // Skipped: the term begins with the dead prefix. At most one block of such terms in a row.
    if (isEnded_ || scan_.shared() >= dead_) continue;
    --steps;
    if (!read()) continue;
    found_ = automaton_.distance(levels_.empty() ? start_ : levels_.back().state, levels_.size());
    if (found_ <= edits_) return true;
  }
  return false;
}

bool FuzzyTerms::read() {
  // The first term of a block is stored uncompressed.
  const size_t shared = scan_.shared() == 0 ? common_prefix(term_, scan_.suffix()) : scan_.shared();
  if (shared >= dead_) return false;
  term_.resize(scan_.shared());
  term_ += scan_.suffix();
  while (!levels_.empty() && levels_.back().end > shared) levels_.pop_back();
  if (shared < prefix_.size() && !has_prefix()) return false;
  return read_on(levels_.empty() ? prefix_.size() : levels_.back().end);
}

bool FuzzyTerms::has_prefix() {
  const size_t common = common_prefix(term_, prefix_);
  if (common == prefix_.size()) return true;
  dead_ = common < term_.size() ? common + 1 : kAlive;
  isEnded_ = common < term_.size() && static_cast<uint8_t>(term_[common]) > static_cast<uint8_t>(prefix_[common]);
  return false;
}

bool FuzzyTerms::read_on(size_t at) {
  while (at < term_.size()) {
    const uint32_t code = take_code_point(term_, at);
    const EditAutomaton::State state = step(levels_.size(), code);
    if (!automaton_.is_alive(state)) {
      dead_ = at;
      deadCode_ = code;
      return false;
    }
    levels_.push_back({code, at, state});
  }
  dead_ = kAlive;
  return true;
}

std::optional<uint32_t> FuzzyTerms::follower(size_t level, uint32_t code) const noexcept {
  if (automaton_.has_edit_left(level > 0 ? levels_[level - 1].state : start_)) {
    if (code >= kCodePointLast) return std::nullopt;
    return code + 1 >= kSurrogateFirst && code + 1 <= kSurrogateLast ? kSurrogateLast + 1 : code + 1;
  }
  const std::vector<uint32_t>& word = automaton_.word();
  std::optional<uint32_t> next;
  const size_t begin = level > kFuzzyEditsMax ? level - kFuzzyEditsMax : 0;
  const size_t end = std::min(word.size(), level + kFuzzyEditsMax + 1);
  for (size_t at = begin; at < end; ++at) {
    const uint32_t candidate = word[at];
    if (candidate <= code || (next && candidate >= *next)) continue;
    if (automaton_.is_alive(step(level, candidate))) next = candidate;
  }
  return next;
}

void FuzzyTerms::pass_blocks() {
  // If the next block also begins with the dead prefix, so does every term of this block.
  if (!scan_.first_ahead(1).starts_with(std::string_view(term_).substr(0, dead_))) return;
  uint32_t code = deadCode_;
  for (size_t level = levels_.size();; --level) {
    if (const std::optional<uint32_t> next = follower(level, code)) {
      target_.assign(term_, 0, level > 0 ? levels_[level - 1].end : prefix_.size());
      append_code_point(target_, *next);
      return scan_.pass_below(target_);
    }
    if (level == 0) break;
    code = levels_[level - 1].code;
  }
  isEnded_ = true;
}

FuzzyCandidates::FuzzyCandidates(std::string_view word, uint32_t edits, const TermScan& scan, Signatures signatures, uint32_t begin)
    : candidates_(scan, std::move(signatures), begin, filter_of(word, std::min(edits, kFuzzyEditsMax))),
      automaton_(code_points_of(word), edits),
      edits_(std::min(edits, kFuzzyEditsMax)) {}

bool FuzzyCandidates::next(uint32_t& steps) {
  while (candidates_.next(steps)) {
    found_ = automaton_.distance_to(candidates_.term());
    if (found_ <= edits_) return true;
  }
  return false;
}

}  // namespace mds
