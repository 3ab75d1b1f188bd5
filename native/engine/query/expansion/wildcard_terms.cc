// See wildcard_terms.h.
#include "query/expansion/wildcard_terms.h"

#include <algorithm>

#include "base/code_points.h"

namespace mds {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

WildcardPattern::WildcardPattern(std::string_view text) {
  size_t at = std::min(text.find_first_of("*?"), text.size());
  prefix_ = text.substr(0, at);
  for (size_t end = at; end != kNone; at = end + 1) {
    end = text.find('*', at);
    const std::string_view piece = text.substr(at, end == kNone ? kNone : end - at);
    // Adjacent `*` are equivalent to one.
    if (piece.empty() && !pieces_.empty() && end != kNone) continue;
    pieces_.push_back({std::string(piece), piece.find('?') == kNone});
    if (end == kNone) break;
  }
}

size_t WildcardPattern::Piece::end_at(std::string_view term, size_t at) const noexcept {
  if (isLiteral) return term.substr(at).starts_with(text) ? at + text.size() : kNone;
  for (const char wanted : text) {
    if (at == term.size() || (wanted != '?' && wanted != term[at])) return kNone;
    if (wanted == '?') {
      (void)take_code_point(term, at);
    } else {
      ++at;
    }
  }
  return at;
}

size_t WildcardPattern::Piece::find(std::string_view term, size_t at) const noexcept {
  if (isLiteral) {
    const size_t found = term.find(text, at);
    return found == kNone ? kNone : found + text.size();
  }
  while (true) {
    const size_t end = end_at(term, at);
    if (end != kNone || at == term.size()) return end;
    (void)take_code_point(term, at);
  }
}

bool WildcardPattern::Piece::ends(std::string_view term, size_t at) const noexcept {
  if (isLiteral) return term.substr(at).ends_with(text);
  while (true) {
    if (end_at(term, at) == term.size()) return true;
    if (at == term.size()) return false;
    (void)take_code_point(term, at);
  }
}

bool WildcardPattern::matches(std::string_view term) const noexcept {
  size_t at = pieces_.front().end_at(term, prefix_.size());
  if (pieces_.size() == 1) return at == term.size();
  for (size_t piece = 1; piece + 1 < pieces_.size() && at != kNone; ++piece) at = pieces_[piece].find(term, at);
  return at != kNone && pieces_.back().ends(term, at);
}

SignatureFilter WildcardPattern::filter() const noexcept {
  SignatureFilter filter;
  filter.isAnyAdded = true;
  const auto add = [&filter](std::string_view text, bool isLiteral) {
    for (size_t at = 0; at < text.size(); ++filter.lengthMin) {
      const bool isAny = !isLiteral && text[at] == '?';
      const uint32_t letter = signature_letter(take_code_point(text, at));
      filter.letters |= isAny ? 0 : letter;
    }
  };
  add(prefix_, true);
  for (const Piece& piece : pieces_) add(piece.text, piece.isLiteral);
  filter.lengthMin = std::min(filter.lengthMin, kSignatureLengthMax);
  if (pieces_.size() == 1) filter.lengthMax = filter.lengthMin;
  return filter;
}

bool WildcardCandidates::next(uint32_t& steps) {
  while (candidates_.next(steps)) {
    if (!candidates_.term().starts_with(pattern_.prefix())) continue;
    if (pattern_.matches(candidates_.term())) return true;
  }
  return false;
}

bool WildcardTerms::next(uint32_t& steps) {
  const std::string& prefix = pattern_.prefix();
  while (steps > 0 && !isEnded_ && scan_.next()) {
    --steps;
    term_.resize(scan_.shared());
    term_ += scan_.suffix();
    if (scan_.shared() < prefix.size()) hasPrefix_ = term_.starts_with(prefix);
    if (hasPrefix_ && pattern_.matches(term_)) return true;
    isEnded_ = !hasPrefix_ && term_ > prefix;
  }
  return false;
}

}  // namespace mds
