// See fuzzy_terms.h.
#include "query/fuzzy_terms.h"

#include <algorithm>

#include "query/code_points.h"

namespace mds {
namespace {

// Of a cell outside of the band, and of one that is out of reach: adding to it does not matter.
constexpr uint8_t kFar = kFuzzyEditsMax + 1;
constexpr size_t kBand = 2 * kFuzzyEditsMax + 1;

// No text has a code point in between.
constexpr uint32_t kSurrogateFirst = 0xD800;
constexpr uint32_t kSurrogateLast = 0xDFFF;

std::string first_code_points(std::string_view word, uint32_t count) {
  size_t at = 0;
  for (; count > 0 && at < word.size(); --count) (void)take_code_point(word, at);
  return std::string(word.substr(0, at));
}

}  // namespace

FuzzyTerms::FuzzyTerms(std::string_view word, uint32_t edits, uint32_t prefix, const DictionaryWalk& walk)
    : walk_(first_code_points(word, prefix), walk), edits_(std::min(edits, kFuzzyEditsMax)) {
  for (size_t at = walk_.prefix().size(); at < word.size();) rest_.push_back(take_code_point(word, at));
  for (size_t k = 0; k < kBand; ++k) {
    start_[k] = k < kFuzzyEditsMax || k - kFuzzyEditsMax > rest_.size() ? kFar : static_cast<uint8_t>(k - kFuzzyEditsMax);
  }
  read_ = walk_.prefix();
}

FuzzyRow FuzzyTerms::step(size_t level, uint32_t code) const noexcept {
  const FuzzyRow& before = row_at(level);
  FuzzyRow row;
  uint8_t left = kFar;
  for (size_t k = 0; k < kBand; ++k) {
    // Cell k stands for the first `column` characters of the word.
    const size_t shifted = level + 1 + k;
    uint32_t best = kFar;
    if (shifted >= kFuzzyEditsMax && shifted - kFuzzyEditsMax <= rest_.size()) {
      const size_t column = shifted - kFuzzyEditsMax;
      if (column > 0) best = before[k] + (rest_[column - 1] == code ? 0U : 1U);
      if (k + 1 < kBand) best = std::min(best, before[k + 1] + 1U);
      best = std::min(best, left + 1U);
      if (column > 1 && level > 0 && rest_[column - 2] == code && rest_[column - 1] == levels_[level - 1].code) {
        best = std::min(best, row_at(level - 1)[k] + 1U);
      }
    }
    left = static_cast<uint8_t>(std::min<uint32_t>(best, kFar));
    row[k] = left;
  }
  return row;
}

uint32_t FuzzyTerms::least(const FuzzyRow& row) const noexcept { return *std::min_element(row.begin(), row.end()); }

std::optional<uint32_t> FuzzyTerms::follower(size_t level, uint32_t code) const noexcept {
  // With an edit to spare anything can follow: as an insertion.
  if (least(row_at(level)) < edits_) {
    if (code >= kCodePointLast) return std::nullopt;
    return code + 1 >= kSurrogateFirst && code + 1 <= kSurrogateLast ? kSurrogateLast + 1 : code + 1;
  }
  std::optional<uint32_t> next;
  const size_t begin = level > kFuzzyEditsMax ? level - kFuzzyEditsMax : 0;
  const size_t end = std::min(rest_.size(), level + kFuzzyEditsMax + 1);
  for (size_t index = begin; index < end; ++index) {
    const uint32_t candidate = rest_[index];
    if (candidate <= code || (next && candidate >= *next)) continue;
    if (least(step(level, candidate)) <= edits_) next = candidate;
  }
  return next;
}

bool FuzzyTerms::read(uint32_t& code) {
  const std::string_view term = walk_.term();
  const size_t common =
      static_cast<size_t>(std::mismatch(term.begin(), term.begin() + static_cast<ptrdiff_t>(std::min(term.size(), read_.size())), read_.begin()).first - term.begin());
  while (!levels_.empty() && levels_.back().end > common) levels_.pop_back();
  size_t at = levels_.empty() ? walk_.prefix().size() : levels_.back().end;
  read_.resize(at);
  while (at < term.size()) {
    const size_t begin = at;
    code = take_code_point(term, at);
    const FuzzyRow row = step(levels_.size(), code);
    if (least(row) > edits_) return false;
    read_.append(term.substr(begin, at - begin));
    levels_.push_back({code, at, row});
  }
  return true;
}

void FuzzyTerms::leap(uint32_t code) {
  while (true) {
    const std::optional<uint32_t> next = follower(levels_.size(), code);
    if (next) {
      target_ = read_;
      append_code_point(target_, *next);
      return walk_.seek(target_);
    }
    if (levels_.empty()) return walk_.end();
    code = levels_.back().code;
    levels_.pop_back();
    read_.resize(levels_.empty() ? walk_.prefix().size() : levels_.back().end);
  }
}

bool FuzzyTerms::next(uint32_t& steps) {
  for (; steps > 0 && walk_.ready(); --steps) {
    uint32_t code = 0;
    if (!read(code)) {
      leap(code);
      continue;
    }
    walk_.mark_looked_at();
    if (is_within_reach()) {
      --steps;
      return true;
    }
  }
  return false;
}

bool FuzzyTerms::is_within_reach() noexcept {
  // The cell of the whole word, if it lies beside the diagonal.
  const size_t shifted = rest_.size() + kFuzzyEditsMax;
  if (shifted < levels_.size() || shifted - levels_.size() >= kBand) return false;
  found_ = row_at(levels_.size())[shifted - levels_.size()];
  return found_ <= edits_;
}

}  // namespace mds
